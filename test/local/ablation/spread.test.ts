import { describe, expect, it } from 'vitest';
import { compareSeries, spreadOf } from '../../../src/local/ablation/spread.ts';

describe('a spread', () => {
  it('is the median and the range', () => {
    expect(spreadOf([3, 1, 2])).toMatchObject({ n: 3, median: 2, low: 1, high: 3 });
    expect(spreadOf([4, 1, 2, 3])).toMatchObject({ n: 4, median: 2.5, low: 1, high: 4 });
    expect(spreadOf([7])).toMatchObject({ n: 1, median: 7, low: 7, high: 7 });
  });

  it('does not exist without a value', () => {
    expect(spreadOf([])).toBeUndefined();
  });
});

describe('the ratio of two series', () => {
  it('is the median of all quotients', () => {
    expect(compareSeries([1, 2, 3], [1])).toEqual({ ratio: 2, interval: null });
    expect(compareSeries([10, 10, 10], [20, 20, 20])!.ratio).toBe(0.5);
  });

  it('has no interval of 95 % below four runs a side', () => {
    expect(compareSeries([1, 2, 3], [4, 5, 6])!.interval).toBeNull();
    expect(compareSeries([1, 2, 3, 4], [1, 1, 1, 1])!.interval).toEqual([1, 4]);
  });

  // Two-sided critical values at 5 % of the Mann-Whitney tables (U at most this many) by sizes of the samples.
  it.each([
    [4, 4, 0],
    [5, 5, 2],
    [6, 6, 5],
    [8, 8, 13],
    [10, 10, 23],
    [5, 8, 6],
  ])('cuts %i by %i runs where the tables of the test do: at %i', (n, m, critical) => {
    // Every quotient differs, so that the interval's ends tell how many lie outside.
    const above = Array.from({ length: n }, (_, i) => 1000 ** i);
    const below = Array.from({ length: m }, (_, i) => 1 / (1 + i / m));
    const all = above.flatMap((a) => below.map((b) => a / b)).sort((a, b) => a - b);
    expect(compareSeries(above, below)!.interval).toEqual([all[critical], all[all.length - 1 - critical]]);
  });

  it('holds the true factor about 95 times of a hundred', () => {
    let state = 12345;
    const random = (): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state / 2 ** 31;
    };
    const draw = (scale: number): number[] => Array.from({ length: 6 }, () => scale * Math.exp(random()));
    let held = 0;
    for (let trial = 0; trial < 2000; trial++) {
      const [low, high] = compareSeries(draw(3), draw(1))!.interval!;
      if (low <= 3 && 3 <= high) held++;
    }
    expect(held / 2000).toBeGreaterThan(0.94);
    expect(held / 2000).toBeLessThan(0.985);
  });

  it('does not exist against 0, and is 0 where nothing was needed', () => {
    expect(compareSeries([1], [0])).toBeUndefined();
    expect(compareSeries([], [1])).toBeUndefined();
    expect(compareSeries([0, 0], [4, 5])!.ratio).toBe(0);
  });
});
