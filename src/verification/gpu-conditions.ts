import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { GpuCondition } from '../model/benchmark.ts';

const run = promisify(execFile);

const fields = ['clocks.sm', 'clocks.mem', 'temperature.gpu', 'power.draw', 'memory.used'] as const;
/** By the driver's age: what holds the clocks down, as a mask. */
const reasonFields = ['clocks_event_reasons.active', 'clocks_throttle_reasons.active'] as const;

/** What slows a GPU down without anybody having asked for it (nvml.h); idleness and set clocks are no fault. */
const faults: readonly (readonly [bit: number, name: string])[] = [
  [0x4, 'power cap'],
  [0x8, 'hardware slowdown'],
  [0x20, 'temperature (software)'],
  [0x40, 'temperature (hardware)'],
  [0x80, 'power brake'],
];

/** One line of nvidia-smi's table; null for what the device does not tell. */
export function parseCondition(line: string): GpuCondition {
  const cells = line.split(',').map((cell) => cell.trim());
  const number = (index: number) => {
    const value = Number.parseFloat(cells[index] ?? '');
    return Number.isFinite(value) && value >= 0 ? value : null;
  };
  const used = number(4);
  const mask = /^0x[0-9a-f]+$/i.exec(cells[5] ?? '')?.[0];
  return {
    ...{ sm_mhz: number(0), memory_mhz: number(1), celsius: number(2), watts: number(3) },
    memory_used_bytes: used === null ? null : used * 2 ** 20,
    throttle_reasons: mask === undefined ? null : Number(mask),
  };
}

/** The first GPU as its driver sees it now; undefined where nvidia-smi does not answer. */
export async function readGpuCondition(program = 'nvidia-smi'): Promise<GpuCondition | undefined> {
  for (const reasons of reasonFields) {
    const query = `--query-gpu=${[...fields, reasons].join(',')}`;
    try {
      const { stdout } = await run(program, [query, '--format=csv,noheader,nounits', '--id=0'], {
        timeout: 20_000,
      });
      return parseCondition(stdout.split('\n')[0] ?? '');
    } catch {
      // The other name, or no driver.
    }
  }
  return undefined;
}

/** What held the clocks down during some repeat, in words. */
export function nameThrottling(conditions: readonly GpuCondition[]): string[] {
  const mask = conditions.reduce((all, { throttle_reasons }) => all | (throttle_reasons ?? 0), 0);
  return faults.filter(([bit]) => (mask & bit) !== 0).map(([, name]) => name);
}
