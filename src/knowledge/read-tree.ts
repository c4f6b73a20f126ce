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

const folders = ['contracts', 'failure-modes', 'models', 'platforms'];

/** Reads everything that the catalog is made of. A missing folder is an empty one. */
export async function readTree(root: string): Promise<Tree> {
  const paths = (await Promise.all(folders.map((folder) => listFiles(root, folder))))
    .flat()
    .sort(compareBytes);
  const files = await Promise.all(paths.map((path) => readTreeFile(root, path)));
  return new Map(files.map((file) => [file.path, file]));
}

async function readTreeFile(root: string, path: string): Promise<TreeFile> {
  const bytes = await readFile(join(root, path));
  return { path, text: bytes.toString('utf8'), sha256: sha256Of(bytes) };
}

async function listFiles(root: string, folder: string): Promise<string[]> {
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
      return entry.isDirectory() ? listFiles(root, path) : Promise.resolve(entry.isFile() ? [path] : []);
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
