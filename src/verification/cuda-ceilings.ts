import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { MachineRates } from '../model/benchmark.ts';
import { AppError } from '../model/errors.ts';
import { buildNativeProgram } from './bench-program.ts';
import type { CudaToolchain } from './toolchain.ts';

const run = promisify(execFile);

/** From what a second-level cache holds to what it does not; a model that fits the cache is held against its rate. */
const fixedSets = [8 * 2 ** 20, 32 * 2 ** 20, 128 * 2 ** 20, 2 ** 30];
/** Above it the rate is that of the device's memory, whatever the size. */
const largestSet = 8 * 2 ** 30;

/** The harness's own program for a GPU, compiled for the architectures that engines are compiled for. */
export async function buildCeilingsProgram(
  cacheFolder: string,
  { compiler, architectures }: Pick<CudaToolchain, 'compiler' | 'architectures'>,
): Promise<string> {
  const targets = architectures.flatMap((name) => ['-gencode', `arch=compute_${name},code=sm_${name}`]);
  return buildNativeProgram({
    cacheFolder,
    ...{ name: 'cuda-ceilings', files: ['cuda-ceilings.cu'], compiler, link: [] },
    flags: ['-std=c++20', '-O2', '-Xcompiler=-Wall,-Wextra,-Werror', '-Werror=all-warnings', ...targets],
    code: 'TOOL_MISSING',
  });
}

/** Read and copy bandwidth and the bf16 tensor-core rate of the first GPU now; about 3 s. */
export async function measureDeviceRates(program: string, workingSetBytes: number): Promise<MachineRates> {
  const own = Math.max(2 ** 16, Math.min(Math.round(workingSetBytes), largestSet));
  const sets = [...new Set([...fixedSets, own])].sort((a, b) => a - b);
  try {
    const { stdout } = await run(program, ['rates', 0.3, ...sets].map(String), { timeout: 120_000 });
    return MachineRates.parse(JSON.parse(stdout));
  } catch (cause) {
    throw new AppError('INTERNAL', 'the measurement of the GPU failed', { cause });
  }
}

/** Empties the second-level cache of the GPU, which all processes share, before something is timed. */
export interface CacheClearer {
  clear(): Promise<void>;
  close(): void;
}

export function startCacheClearer(program: string): CacheClearer {
  const child = spawn(program, ['clear'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout });
  // Writing to a program that ended; its end is what is reported.
  child.stdin.on('error', () => {});
  child.on('error', () => lines.close());
  return {
    clear: () =>
      new Promise((resolve, reject) => {
        const fail = () => reject(new AppError('INTERNAL', 'the program that clears the GPU cache ended'));
        if (child.exitCode !== null || child.pid === undefined) return fail();
        lines.once('close', fail);
        lines.once('line', () => {
          lines.off('close', fail);
          resolve();
        });
        child.stdin.write('\n');
      }),
    close: () => child.stdin.end(),
  };
}
