import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../model/errors.ts';

/**
 * Makes the folder, and those above it, where they are missing.
 * @throws AppError of the machine, naming the folder and the setting, where this user cannot make it or write there
 */
export function openCacheFolder(folder: string, setting = 'METAINFER_CACHE'): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unusableFolder(folder, error, setting);
  }
}

/** What a failed write below the folder means: the machine's fault, not the program's. */
export function unusableFolder(folder: string, error: unknown, setting = 'METAINFER_CACHE'): AppError {
  const { code, message } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new AppError(
    isFull ? 'OUT_OF_MEMORY' : 'TOOL_MISSING',
    `The folder ${folder} cannot be used: ${faults[code ?? ''] ?? code ?? message}.\n` +
      `Set ${setting} to a folder that this user can make and write.`,
    { cause: error },
  );
}

const faults: Readonly<Record<string, string>> = {
  ENOTDIR: 'it is a file, or lies below one',
  ENOENT: 'no folder can be made there',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENAMETOOLONG: 'its name is too long',
};

/** Unlike `mkdirSync` with `recursive`, it tells EROFS from ENOENT, and it ends below /proc. */
function makeFolder(folder: string): void {
  if (isMade(folder)) return;
  makeFolder(dirname(folder));
  if (!isMade(folder)) throw Object.assign(new Error(`${folder} went away`), { code: 'ENOENT' });
}

/** Makes the folder where the one above it is there, which must be so for the topmost. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(folder) !== folder) return false;
    if (code !== 'EEXIST') throw error;
    if (statSync(folder).isDirectory()) return true;
    throw Object.assign(new Error(`${folder} is a file`), { code: 'ENOTDIR' });
  }
}
