import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MachineRates } from '../../src/model/benchmark.ts';
import { buildBandwidthProgram } from '../../src/verification/bandwidth.ts';
import {
  pairedRatio,
  percentile,
  relativeError,
  summariseServing,
  summariseSpeed,
} from '../../src/verification/bench-statistics.ts';

test('percentiles lie between ranks as numpy’s do', () => {
  expect(percentile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(percentile([10, 20, 30, 40, 50], 0.9)).toBeCloseTo(46, 10);
  expect(percentile([7], 0.99)).toBe(7);
});

test('a speed test has llama-bench’s figures', () => {
  const test = summariseSpeed({ n_prompt: 512, n_gen: 0, n_depth: 0 }, [1, 2, 4]);
  expect(test).toMatchObject({ test: 'pp512', min_ns: 1e9, median_ns: 2e9, samples_ts: [512, 256, 128] });
  expect(test.avg_ts).toBeCloseTo(896 / 3, 10);
  expect(test.stddev_ts).toBeCloseTo(Math.sqrt(76458.6666 / 2), 3);
  expect(relativeError([512, 256, 128])).toBeCloseTo(Math.sqrt(76458.6666 / 6) / (896 / 3), 6);
  expect(summariseSpeed({ n_prompt: 0, n_gen: 128, n_depth: 64 }, [1]).test).toBe('tg128 @ d64');
});

test('serving figures follow vLLM’s definitions', () => {
  const requests = [
    { inputTokens: 10, tokenTimes: [1, 1.5, 3] },
    { inputTokens: 20, tokenTimes: [2, 2.25, 2.5] },
  ];
  const serving = summariseServing(requests, 4, 2);
  expect(serving).toMatchObject({
    completed: 2,
    total_input_tokens: 30,
    total_output_tokens: 6,
    output_throughput: 1.5,
  });
  expect(serving.mean_ttft_ms).toBe(1500);
  expect(serving.mean_tpot_ms).toBe((1000 + 250) / 2);
  expect(serving.median_itl_ms).toBe(375);
  expect(serving.std_e2el_ms).toBe(250);
  expect(serving.itls).toEqual([
    [0.5, 1.5],
    [0.25, 0.25],
  ]);
});

test('the interval of a paired ratio is narrow where both move together, and holds the true ratio', () => {
  const machine = [1, 0.6, 0.9, 0.5, 0.8, 1.1, 0.7, 0.95];
  const together = pairedRatio(
    machine.map((speed) => 80 * speed),
    machine.map((speed) => 100 * speed),
  );
  expect(together.ratio).toBeCloseTo(0.8, 10);
  expect(together.high! - together.low!).toBeLessThan(1e-9);
  const apart = pairedRatio(
    machine.map((speed) => 80 * speed),
    [...machine].reverse().map((speed) => 100 * speed),
  );
  expect(apart.high! - apart.low!).toBeGreaterThan(0.05);
  expect(apart.low!).toBeLessThan(0.8);
  expect(apart.high!).toBeGreaterThan(0.8);
  expect(pairedRatio([1, 2], [1, 1])).toEqual({ ratio: 1.5, low: null, high: null });
});

test('the bandwidth program measures each size, and small sets no slower than memory', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'metainfer-bandwidth-'));
  try {
    const program = await buildBandwidthProgram(cache, ['-mavx2', '-mfma']);
    const output = execFileSync(program, ['2', '0.1', '65536', '200000000'], { encoding: 'utf8' });
    const rates = MachineRates.parse(JSON.parse(output));
    expect(rates.read.map((set) => set.working_set_bytes)).toEqual([65536, 200000000]);
    for (const set of rates.read) {
      expect(set.best_bytes_per_second).toBeGreaterThan(1e8);
      expect(set.best_bytes_per_second).toBeLessThan(5e12);
      expect(set.mean_bytes_per_second).toBeLessThanOrEqual(set.best_bytes_per_second);
    }
    expect(rates.read[0]!.best_bytes_per_second).toBeGreaterThan(rates.read[1]!.best_bytes_per_second);
    expect(rates.best_flops_per_second).toBeGreaterThan(1e9);
    expect(rates.best_flops_per_second).toBeLessThan(1e12);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});
