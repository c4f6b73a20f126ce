export function engineFolder(name: string): string {
  return `engines/${name}`;
}

/** Plain names directly inside the engine's folder: no subfolder, no dot file, nothing that leads out of it. */
export function isEnginePath(folder: string, path: string): boolean {
  if (!path.startsWith(`${folder}/`)) return false;
  const name = path.slice(folder.length + 1);
  return /^(?:[A-Za-z0-9_][A-Za-z0-9._-]*|\.clang-format)$/.test(name) && !name.includes('..');
}
