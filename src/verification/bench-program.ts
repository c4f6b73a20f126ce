import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AppError, type ErrorCode } from '../model/errors.ts';
import { openCacheFolder } from './cache-folder.ts';

/** A C++ program of the harness's own: trusted, so it is compiled outside the sandbox. */
export interface NativeProgram {
  readonly cacheFolder: string;
  readonly name: string;
  /** Beside this file; the first is compiled, the others are its headers. */
  readonly files: readonly string[];
  readonly flags: readonly string[];
  readonly link: readonly string[];
  /** Default g++; g++ is the host's compiler of any other. */
  readonly compiler?: string;
  /** What a failed compilation means to the caller. */
  readonly code: ErrorCode;
}

/** The C++ beside this file; `tsc` leaves it in src when it writes dist. */
function sourceFolder(file: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const candidates = [here, here.replace(/([/\\])dist[/\\]src[/\\]/, '$1src$1')];
  const found = candidates.find((folder) => existsSync(join(folder, file)));
  if (found === undefined) throw new AppError('INTERNAL', `${file} is not beside ${here}`);
  return found;
}

/** Compiles once per source and flags; later calls find the program in the cache folder. Returns its path. */
export async function buildNativeProgram(program: NativeProgram): Promise<string> {
  const main = program.files[0]!;
  const folder = sourceFolder(main);
  const compiler = program.compiler === undefined ? [] : [program.compiler];
  const hash = createHash('sha256').update(JSON.stringify([program.flags, program.link, ...compiler]));
  for (const file of program.files) hash.update(readFileSync(join(folder, file)));
  const path = join(program.cacheFolder, `${program.name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(path)) return path;
  openCacheFolder(program.cacheFolder);
  const partial = `${path}.${process.pid}`;
  try {
    const words = [...program.flags, join(folder, main), '-o', partial, ...program.link];
    await promisify(execFile)(program.compiler ?? 'g++', words);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n').slice(0, 3).join(' ') : '';
    throw new AppError(program.code, `${main} does not compile here: ${why}`, { cause });
  }
  renameSync(partial, path);
  return path;
}
