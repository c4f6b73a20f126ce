import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CudaToolkit } from './toolchain.ts';

const run = promisify(execFile);

/** Where installers put it. Each may be the program, a link to it, or a script that calls it. */
export const usualCompilers = ['/usr/local/cuda/bin/nvcc', '/usr/local/bin/nvcc', '/usr/bin/nvcc'] as const;

/** Below the toolkit's folder, and where distributions put it. */
const runtimeFolders = ['lib64', 'targets/x86_64-linux/lib', 'lib', '/usr/lib/x86_64-linux-gnu'];

/** What can be said of a toolkit that may lack parts. */
export type FoundToolkit = Omit<CudaToolkit, 'runtimeLibrary'> & {
  readonly runtimeLibrary: string | undefined;
  readonly major: number;
};

/** The first of these compilers that runs; undefined where none does. */
export async function findCudaToolkit(
  candidates: readonly string[] = usualCompilers,
): Promise<FoundToolkit | undefined> {
  for (const candidate of candidates.filter((path) => existsSync(path))) {
    const folder = await findFolder(candidate);
    if (folder === undefined) continue;
    const compiler = join(folder, 'bin', 'nvcc');
    const version = await askVersion(compiler);
    if (version === undefined) continue;
    const runtime = runtimeFolders
      .map((place) => join(place.startsWith('/') ? place : join(folder, place), 'libcudart_static.a'))
      .find((path) => existsSync(path));
    return { compiler, folder, ...version, runtimeLibrary: runtime && realpathSync(runtime) };
  }
  return undefined;
}

/** nvcc tells the folder that it takes its parts from; the path of a script or link tells nothing. */
async function findFolder(compiler: string): Promise<string | undefined> {
  try {
    // Reads no file, and starts none of the commands that it prints.
    const { stderr, stdout } = await run(compiler, ['--dryrun', '-E', 'none.cu'], { timeout: 20_000 });
    const top = /^#\$ TOP=(.+)$/m.exec(stderr + stdout)?.[1];
    return top === undefined ? undefined : realpathSync(top.trim());
  } catch {
    return undefined;
  }
}

async function askVersion(
  compiler: string,
): Promise<{ readonly version: string; readonly major: number } | undefined> {
  try {
    const { stdout } = await run(compiler, ['--version'], { timeout: 20_000 });
    const found = /release (\d+)\.\d+, V([\d.]+)/.exec(stdout);
    if (found === null) return undefined;
    return { version: `nvcc ${found[2]}`, major: Number(found[1]) };
  } catch {
    return undefined;
  }
}
