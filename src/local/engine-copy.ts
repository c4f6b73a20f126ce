import { copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { hashEngineTree } from '../verification/engine-tree.ts';
import { makeScratch } from '../verification/scratch-folder.ts';

/**
 * Works on a private copy of an engine folder, below `below` and removed afterwards, so that whoever writes into the
 * folder meanwhile changes nothing that is judged.
 * @throws AppError ENGINE_INVALID where the folder is another one at the end: no verdict about the copy holds for it
 */
export async function withEngineCopy<Result>(
  folder: string,
  below: string,
  work: (copy: string) => Promise<Result>,
): Promise<Result> {
  const copy = makeScratch(below, 'engine');
  try {
    const before = await present(async () => hashEngineTree(folder));
    await present(() => copyEntries(folder, copy));
    if (before === undefined || hashEngineTree(copy) !== before) throw changedMeanwhile(folder, 'verified');
    const result = await work(copy);
    await requireSameTree(folder, before, 'verified');
    return result;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** @throws AppError ENGINE_INVALID where the folder is not, or no longer, the one with this hash */
export async function requireSameTree(
  folder: string,
  treeSha256: string,
  what: 'verified' | 'measured',
): Promise<void> {
  if ((await present(async () => hashEngineTree(folder))) !== treeSha256)
    throw changedMeanwhile(folder, what);
}

/** Undefined where a file, or the folder, went away while it was read. */
async function present<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** What is no plain file is told from one, and no more: it is no part of an engine, and a gate says so. */
async function copyEntries(folder: string, copy: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [from, to] = [join(folder, name), join(copy, name)];
    const entry = await lstat(from);
    if (entry.isFile()) await copyFile(from, to);
    else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else await mkdir(to);
  }
}

function changedMeanwhile(folder: string, what: string): AppError {
  return new AppError(
    'ENGINE_INVALID',
    `The engine in ${folder} was changed while it was ${what}, so nothing is known about it: run again.`,
  );
}
