import type { Benchmark, EngineBenchmark } from '../../model/benchmark.ts';
import { ArtifactRefusal } from './artifact-refusal.ts';

// The same sums in another order differ in the last digits.
const tolerance = 1e-9;

function requireFigure(what: string, claimed: number, own: number): void {
  if (Math.abs(claimed - own) <= tolerance * Math.abs(own)) return;
  throw new ArtifactRefusal(
    `benchmark of report.json says ${what} ${claimed}, and its own figures say ${own}`,
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// Not spread into Math.max: a long list does not fit on the stack.
function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/**
 * Holds means against their samples, ratios against the means, and limits against the fastest sample: these are what
 * goals, figures and plots are taken from.
 * @throws ArtifactRefusal
 */
export function checkBenchmark(benchmark: Benchmark): void {
  const { engine, baseline } = benchmark;
  checkEngine('engine', engine);
  if (baseline !== null) checkEngine('baseline', baseline);
  for (const { metric, ratio } of benchmark.comparison) {
    if (baseline === null)
      throw new ArtifactRefusal(`benchmark of report.json compares ${metric} without a baseline`);
    const test = metric === 'decode_tokens_per_second' ? 'decode' : 'prefill';
    requireFigure(`ratio of ${metric}`, ratio, engine[test].avg_ts / baseline[test].avg_ts);
  }
  for (const check of benchmark.physics) {
    const { what, bound, measured_tokens_per_second: measured } = check;
    requireFigure(`fastest ${what}`, measured, largest(engine[what].samples_ts));
    if (check.rejected === measured > check.margin * check.limit_tokens_per_second) continue;
    throw new ArtifactRefusal(
      `benchmark of report.json says ${what} at ${measured} tokens/s is ${check.rejected ? 'more' : 'no more'} than ${check.margin} times the ${check.limit_tokens_per_second} of its ${bound}`,
    );
  }
}

function checkEngine(role: 'engine' | 'baseline', engine: EngineBenchmark): void {
  for (const test of ['prefill', 'decode'] as const)
    requireFigure(`avg_ts of ${test} of the ${role}`, engine[test].avg_ts, mean(engine[test].samples_ts));
  const { serving } = engine;
  const lists = { ttft: serving.ttfts, itl: serving.itls.flat(), e2el: serving.latencies };
  for (const [latency, seconds] of Object.entries(lists)) checkLatency(role, engine, latency, seconds);
}

const places = ['mean', 'median', 'p50', 'p90', 'p95', 'p99'] as const;

/** A mean or percentile lies within what was measured. */
function checkLatency(
  role: string,
  { serving }: EngineBenchmark,
  latency: string,
  seconds: readonly number[],
): void {
  const least = 1000 * seconds.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY);
  const most = 1000 * largest(seconds);
  for (const place of places) {
    const field = `${place}_${latency}_ms` as 'p50_ttft_ms';
    const value = serving[field];
    if (value === null) continue;
    if (value >= least * (1 - tolerance) && value <= most * (1 + tolerance)) continue;
    throw new ArtifactRefusal(
      `benchmark of report.json says ${field} ${value} of the ${role}, outside what it measured`,
    );
  }
}
