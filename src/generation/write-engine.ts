import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { EngineSources } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import { checkProvenance } from './check-provenance.ts';

/**
 * Writes the engine so that the folder is either complete or as it was before: into a neighbouring folder first,
 * then renamed. Throws OUTPUT_EXISTS where the folder holds anything that this program did not write.
 */
export async function writeEngine(sources: EngineSources, folder: string): Promise<void> {
  const target = resolve(folder);
  const isReplacement = await mayReplace(target);
  await mkdir(dirname(target), { recursive: true });
  const scratch = await mkdtemp(join(dirname(target), `.${basename(target)}-`));
  try {
    const fresh = join(scratch, 'new');
    for (const file of sources.files) {
      await mkdir(dirname(join(fresh, file.path)), { recursive: true });
      await writeFile(join(fresh, file.path), file.text);
    }
    if (isReplacement) await rename(target, join(scratch, 'old'));
    await rename(fresh, target).catch(async (error: unknown) => {
      if (isReplacement) await rename(join(scratch, 'old'), target);
      throw error;
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Whether something stands there that may be replaced; throws where it may not. */
async function mayReplace(target: string): Promise<boolean> {
  let names: string[];
  try {
    names = await readdir(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'ENOTDIR')
      throw new AppError('OUTPUT_EXISTS', `${target} is a file; name a folder that is empty or new.`);
    throw error;
  }
  if (names.length === 0) return true;
  const { provenance, added } = await checkProvenance(target);
  if (provenance === undefined) {
    throw new AppError(
      'OUTPUT_EXISTS',
      `${target} is not empty and was not written by this program; name another folder.`,
    );
  }
  if (added.length > 0) {
    const message = `${target} holds files that this program did not write: ${added.slice(0, 5).join(', ')}. Move them away or name another folder.`;
    throw new AppError('OUTPUT_EXISTS', message);
  }
  return true;
}
