/** Who owns a path by a CODEOWNERS file: the last line that matches wins. E-mail addresses can't be asked for review. */
export function reviewersOf(
  codeOwners: string,
  path: string,
): { readonly users: readonly string[]; readonly teams: readonly string[] } {
  let owners: readonly string[] = [];
  for (const line of codeOwners.split(/\r?\n/)) {
    const [pattern, ...found] = line
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
      .split(/\s+/);
    if (pattern !== undefined && pattern !== '' && matches(pattern, path)) owners = found;
  }
  const names = owners.filter((owner) => owner.startsWith('@')).map((owner) => owner.slice(1));
  return {
    users: names.filter((name) => !name.includes('/')),
    teams: names.filter((name) => name.includes('/')).map((name) => name.split('/')[1]!),
  };
}

/** gitignore patterns as CODEOWNERS takes them: no negation, no character ranges. */
function matches(pattern: string, path: string): boolean {
  if (/[!\\[\]]/.test(pattern)) return false;
  const isAnchored = pattern.slice(0, -1).includes('/');
  const bare = pattern.replace(/^\//, '').replace(/\/$/, '/**');
  const source = bare
    .split(/(\*\*\/|\/\*\*|\*\*|\*|\?)/)
    .map((part) => globParts[part] ?? part.replace(/[.+^${}()|]/g, '\\$&'))
    .join('');
  // `docs/*` owns the files of docs and not those of its folders; every other pattern owns what is below it.
  const tail = bare.endsWith('/*') ? '$' : '(?:/.*)?$';
  return new RegExp(`${isAnchored || pattern.startsWith('/') ? '^' : '(?:^|/)'}${source}${tail}`).test(path);
}

const globParts: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '/**': '/.*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};
