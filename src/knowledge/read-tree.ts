import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

export interface TreeFile {
  /** Relative to the knowledge root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

/** Files by path, in byte order of the paths. */
export type Tree = ReadonlyMap<string, TreeFile>;

const catalogFolders = ['contracts', 'failure-modes', 'models', 'platforms'];

/** Whether the catalog is made of the file. */
export function isCatalogFile(path: string): boolean {
  return catalogFolders.some((folder) => path.startsWith(`${folder}/`));
}

/** Whether the file is knowledge: of the catalog, or what only the checks of a change read. */
export function isTreeFile(path: string): boolean {
  return isCatalogFile(path) || path.startsWith('reports/') || /^sabotage(?:-[a-z0-9-]+)?\.yaml$/.test(path);
}

/** Reads the catalog's files, the reports that evidence names and the sabotage files. A missing folder is an empty one. */
export async function readTree(root: string): Promise<Tree> {
  const folders = await Promise.all([...catalogFolders, 'reports'].map((folder) => listFiles(root, folder)));
  const top = await listFiles(root, '.', false);
  const paths = [...folders.flat(), ...top].filter(isTreeFile).sort(compareBytes);
  const files = await Promise.all(paths.map((path) => readTreeFile(root, path)));
  return new Map(files.map((file) => [file.path, file]));
}

async function readTreeFile(root: string, path: string): Promise<TreeFile> {
  const bytes = await readFile(join(root, path));
  return { path, text: bytes.toString('utf8'), sha256: sha256Of(bytes) };
}

async function listFiles(root: string, folder: string, isDeep = true): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const nested = entries
    .filter((entry) => !entry.name.startsWith('.'))
    .map((entry) => {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) return isDeep ? listFiles(root, path) : [];
      return entry.isFile() ? [path] : [];
    });
  return (await Promise.all(nested)).flat();
}

export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Locale-free order, the same on every machine. */
export function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
