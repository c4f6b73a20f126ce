import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { GpuCondition } from '../../src/model/benchmark.ts';
import { type GpuWatch, runRounds, type Series } from '../../src/verification/bench-rounds.ts';
import {
  buildCeilingsProgram,
  measureDeviceRates,
  startCacheClearer,
} from '../../src/verification/cuda-ceilings.ts';
import { findCudaToolkit } from '../../src/verification/cuda-toolkit.ts';
import { nameThrottling, parseCondition, readGpuCondition } from '../../src/verification/gpu-conditions.ts';
import type { EngineClient } from '../../src/verification/protocol-client.ts';
import { isLacking } from '../fixtures/needed-tool.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-bench-gpu-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function script(name: string, body: string): string {
  const path = join(root, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const cool = '1980, 3201, 41, 312.55, 17523, 0x0000000000000000';
const condition: GpuCondition = {
  ...{ sm_mhz: 1980, memory_mhz: 3201, celsius: 41, watts: 312.55 },
  ...{ memory_used_bytes: 17_523 * 2 ** 20, throttle_reasons: 0 },
};

test('clocks, temperature, power and what holds the clocks down are read from the driver’s program', async () => {
  expect(parseCondition(cool)).toEqual(condition);
  expect(parseCondition('[N/A], 3201, 41, [Not Supported], 1, Active')).toEqual({
    ...{ sm_mhz: null, memory_mhz: 3201, celsius: 41, watts: null },
    ...{ memory_used_bytes: 2 ** 20, throttle_reasons: null },
  });
  expect(await readGpuCondition(script('smi', `echo "${cool}"`))).toEqual(condition);
  // Drivers before 535 know the last field by another name only.
  const old = `case "$*" in *event*) exit 2;; *throttle*) echo "${cool}";; esac`;
  expect(await readGpuCondition(script('old-smi', old))).toEqual(condition);
  expect(await readGpuCondition(script('broken-smi', 'exit 9'))).toBeUndefined();
  expect(await readGpuCondition(join(root, 'absent'))).toBeUndefined();
});

test('what slows a GPU down unasked is named; idleness is no fault', () => {
  const during = (throttle_reasons: number | null) => ({ ...condition, throttle_reasons });
  expect(nameThrottling([during(0), during(1), during(null)])).toEqual([]);
  expect(nameThrottling([during(0x1), during(0x4), during(0x40)])).toEqual([
    'power cap',
    'temperature (hardware)',
  ]);
});

/** Answers at once; what is asked of it is noted in `log`. */
function series(role: Series['role'], log: string[]): Series {
  const answer = { sentAt: 0, receivedAt: 1, argmax: 1, logits: new Float32Array(4) };
  const client = {
    prefill: async (_: number, ids: readonly number[]) => {
      log.push(`${role} ${ids.join(' ')}`);
      return answer;
    },
    decode: async (_slot: number, _first: number, steps: number) => ({
      ...answer,
      ...{ argmax: Array(steps).fill(1), stepTimes: Array.from({ length: steps }, (_, step) => step + 1) },
    }),
  } as unknown as EngineClient;
  return { role, client, timeoutMs: 1000, runs: [], kept: [] };
}

test('before each timed run of the engine the cache is cleared, after it the GPU is looked at, and no prompt comes twice', async () => {
  const log: string[] = [];
  const gpu: GpuWatch = {
    clearCache: async () => void log.push('clear'),
    read: async () => {
      log.push('read');
      return condition;
    },
    conditions: [],
  };
  let drawn = 0;
  const { rounds } = await runRounds({
    ...{ engine: series('engine', log), baseline: series('baseline', log), gpu },
    ...{ workload: { prompt_tokens: 3, output_tokens: 2, concurrency: 1 }, vocabSize: 100, budgetSeconds: 0 },
    pick: () => drawn++,
  });
  expect(rounds).toBe(1);
  const marks = log.map((entry) => entry.split(' ')[0]);
  const [ofEngine, ofBaseline] = [
    ['clear', 'engine', 'engine', 'read'],
    ['baseline', 'baseline'],
  ];
  expect(marks).toEqual([...ofEngine, ...ofBaseline, ...ofBaseline, ...ofEngine]);
  expect(gpu.conditions).toEqual([condition, condition]);
  // Each run reads one token for the decode test, then its prompt of three.
  const prompts = log.filter((entry) => /^engine( \d+){3}$/.test(entry));
  expect(new Set(prompts).size).toBe(2);
});

test('the program that clears the cache answers each request, and its end is told', async () => {
  const clearer = startCacheClearer(script('clears', 'while read line; do echo cleared; done'));
  await clearer.clear();
  await clearer.clear();
  clearer.close();
  await expect(startCacheClearer(script('ends', 'exit 1')).clear()).rejects.toThrow('ended');
  await expect(startCacheClearer(join(root, 'absent')).clear()).rejects.toThrow('ended');
});

test('the rates of a GPU are asked for at its cache’s size, at the memory’s, and at the model’s own', async () => {
  const rates = '{"working_set_bytes":1,"best_bytes_per_second":2,"mean_bytes_per_second":1}';
  const told = `echo "$*" > ${join(root, 'asked')}; echo '{"read":[${rates}],"copy_bytes_per_second":3,"best_flops_per_second":5,"mean_flops_per_second":4}'`;
  const program = script('ceilings', told);
  expect(await measureDeviceRates(program, 5e8)).toMatchObject({
    ...{ copy_bytes_per_second: 3, best_flops_per_second: 5 },
  });
  expect(readFileSync(join(root, 'asked'), 'utf8')).toBe(
    'rates 0.3 8388608 33554432 134217728 500000000 1073741824\n',
  );
  await expect(measureDeviceRates(script('no-gpu', 'exit 1'), 5e8)).rejects.toThrow('GPU failed');
});

describe.skipIf(isLacking('nvcc'))('the harness’s own CUDA program', () => {
  test('compiles without a warning for every architecture of the platform', async () => {
    const toolkit = await findCudaToolkit();
    const { compiler } = toolkit!;
    const program = await buildCeilingsProgram(join(root, 'programs'), {
      ...{ compiler, architectures: ['80', '90'] },
    });
    expect(existsSync(program)).toBe(true);
  });
});
