import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it where they are missing. Unlike `mkdir` with `recursive`, which tries for ever below
 * /proc, it ends.
 * @throws NodeJS.ErrnoException ENOTDIR where the path is a file or below one, ENOENT where nothing can be made
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(folder, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return assertFolder(folder);
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder), mode);
    await mkdir(folder, mode).catch((late: NodeJS.ErrnoException) => {
      if (late.code !== 'EEXIST') throw late;
    });
  }
}

async function assertFolder(path: string): Promise<void> {
  if ((await stat(path)).isDirectory()) return;
  throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR' });
}

/** Half a sentence for a person: why a folder cannot be made or written. */
export function describeFolderFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTDIR') return 'it is a file, or lies below one';
  if (code === 'ENOENT') return 'no folder can be made there';
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not write there';
  if (code === 'EROFS') return 'the disk is read-only';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  if (code === 'ENAMETOOLONG') return 'its name is too long';
  return code ?? message;
}
