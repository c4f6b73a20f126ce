import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { MachineRates } from '../model/benchmark.ts';
import { AppError } from '../model/errors.ts';
import { buildNativeProgram } from './bench-program.ts';

const run = promisify(execFile);

/** Cache-sized sets, so that a model which fits a cache is held against that cache's rate. */
const cacheSets = [256 * 1024, 2 * 2 ** 20, 16 * 2 ** 20, 64 * 2 ** 20];

/** Bytes that may be allocated without pushing anything out: half of what Linux calls available. */
function affordableBytes(): number {
  const line = /MemAvailable:\s+(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'));
  return (Number(line?.[1] ?? 0) * 1024) / 2;
}

/** The cache-sized sets around the working set, and the set itself (no larger than memory allows). */
export function workingSetsFor(workingSetBytes: number, affordable: number): number[] {
  const own = Math.max(64 * 1024, Math.min(workingSetBytes, affordable));
  return [...new Set([...cacheSets, Math.round(own)])]
    .filter((bytes) => bytes <= affordable)
    .sort((a, b) => a - b);
}

/** `flags` are the instruction-set flags that the engine is compiled with. */
export async function buildBandwidthProgram(cacheFolder: string, flags: readonly string[]): Promise<string> {
  return buildNativeProgram({
    cacheFolder,
    name: 'bandwidth',
    files: ['bandwidth.cpp'],
    flags: ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', ...flags, '-pthread'],
    link: [],
    code: 'TOOL_MISSING',
  });
}

/** Read bandwidth and multiply-add rate of this machine now; about 2 s. */
export async function measureRates(
  program: string,
  threads: number,
  workingSetBytes: number,
): Promise<MachineRates> {
  const sets = workingSetsFor(workingSetBytes, affordableBytes());
  try {
    const { stdout } = await run(program, [threads, 0.3, ...sets].map(String), { timeout: 120_000, env: {} });
    return MachineRates.parse(JSON.parse(stdout));
  } catch (cause) {
    throw new AppError('INTERNAL', 'the bandwidth measurement failed', { cause });
  }
}
