import { expect, test } from 'vitest';
import type { EngineBenchmark, MachineRates } from '../../src/model/benchmark.ts';
import { workingSetsFor } from '../../src/verification/bandwidth.ts';
import { summariseSpeed } from '../../src/verification/bench-statistics.ts';
import {
  bandwidthFor,
  checkPhysics,
  shareOfRates,
  type UnavoidableWork,
} from '../../src/verification/physics.ts';

const megabyte = 1e6;

function rates(cache: number, memory: number, flops: number): MachineRates {
  const set = (bytes: number, rate: number) => {
    return { working_set_bytes: bytes, best_bytes_per_second: rate, mean_bytes_per_second: rate / 2 };
  };
  return {
    read: [set(megabyte, cache), set(1000 * megabyte, memory)],
    best_flops_per_second: flops,
    mean_flops_per_second: flops / 2,
  };
}

/** 1 GB of weights, or 0.5 MB; 2 FLOPs per weight of four bytes; prompt of 100 tokens. */
function work(bytes: number): UnavoidableWork {
  return {
    ...{ decodeBytes: bytes, workingSetBytes: bytes, decodeFlops: bytes / 2 },
    ...{ prefillTokens: 100, prefillFlops: (bytes / 2) * 100 },
  };
}

function speeds(decode: number, prefill: number): Pick<EngineBenchmark, 'prefill' | 'decode'> {
  return {
    decode: summariseSpeed({ n_prompt: 0, n_gen: 10, n_depth: 0 }, [10 / decode, 10 / decode]),
    prefill: summariseSpeed({ n_prompt: 100, n_gen: 0, n_depth: 0 }, [100 / prefill]),
  };
}

const rejected = (engine: ReturnType<typeof speeds>, bytes: number, all: MachineRates[]) =>
  checkPhysics(engine, work(bytes), all)
    .filter((check) => check.rejected)
    .map((check) => `${check.what} ${check.bound}`);

test('decoding faster than 1.25 times what memory allows is rejected, slower is not', () => {
  // 20 GB/s over 1 GB per token: 20 tokens/s at most.
  expect(rejected(speeds(24.9, 10), 1e9, [rates(100e9, 20e9, 1e12)])).toEqual([]);
  expect(rejected(speeds(25.1, 10), 1e9, [rates(100e9, 20e9, 1e12)])).toEqual(['decode bandwidth']);
});

test('a model that fits the cache is held against the cache, not against memory', () => {
  // 0.5 MB per token at 100 GB/s of cache: 200,000 tokens/s; memory would allow 40,000.
  expect(rejected(speeds(150_000, 10), 0.5e6, [rates(100e9, 20e9, 1e12)])).toEqual([]);
  expect(rejected(speeds(260_000, 10), 0.5e6, [rates(100e9, 20e9, 1e12)])).toEqual(['decode bandwidth']);
});

test('between two measured sizes the faster one is the limit', () => {
  expect(bandwidthFor(rates(100e9, 20e9, 1e12), 500 * megabyte, 'best')).toBe(100e9);
  expect(bandwidthFor(rates(100e9, 20e9, 1e12), 2000 * megabyte, 'best')).toBe(20e9);
  expect(bandwidthFor({ ...rates(1, 1, 1), read: [] }, megabyte, 'best')).toBeUndefined();
});

test('more arithmetic than the processor was measured to do is rejected for prefill and decoding', () => {
  // 0.5 GFLOP per token at 100 GFLOP/s: 200 tokens/s.
  expect(rejected(speeds(10, 240), 1e9, [rates(1e15, 1e15, 100e9)])).toEqual([]);
  expect(rejected(speeds(10, 260), 1e9, [rates(1e15, 1e15, 100e9)])).toEqual(['prefill flops']);
  expect(rejected(speeds(260, 10), 1e9, [rates(1e15, 1e15, 100e9)])).toEqual(['decode flops']);
});

test('the better of the rates before and after counts, and the fastest sample', () => {
  const slow = rates(100e9, 10e9, 1e12);
  expect(rejected(speeds(24, 10), 1e9, [slow])).toEqual(['decode bandwidth']);
  expect(rejected(speeds(24, 10), 1e9, [slow, rates(100e9, 20e9, 1e12)])).toEqual([]);
  const uneven = {
    ...speeds(10, 10),
    decode: summariseSpeed({ n_prompt: 0, n_gen: 10, n_depth: 0 }, [1, 1, 0.1]),
  };
  expect(rejected(uneven, 1e9, [rates(100e9, 20e9, 1e12)])).toEqual(['decode bandwidth']);
});

test('shares are of the mean rates, and absent without rates', () => {
  const engine = speeds(5, 50);
  expect(shareOfRates(engine, work(1e9), [rates(100e9, 20e9, 100e9)])).toEqual({
    pct_of_measured_bw: expect.closeTo(50, 6),
    pct_of_measured_flops: expect.closeTo(50, 6),
  });
  expect(shareOfRates(engine, work(1e9), [])).toEqual({
    pct_of_measured_bw: null,
    pct_of_measured_flops: null,
  });
  expect(checkPhysics(engine, work(1e9), [])).toEqual([]);
});

test('the sets that are measured hold the model’s own size, no more than half of the memory', () => {
  expect(workingSetsFor(1.2e9, 8e9)).toContain(1.2e9);
  expect(Math.max(...workingSetsFor(40e9, 8e9))).toBe(8e9);
  expect(workingSetsFor(10, 8e9)).toContain(64 * 1024);
});
