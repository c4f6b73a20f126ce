import type { EngineBenchmark, MachineRates, PhysicsCheck } from '../model/benchmark.ts';
import { mean } from './bench-statistics.ts';

/** Faster than this many times what the machine was measured to do, and the result is not believed. */
export const physicsMargin = 1.25;

/** Work that a test cannot avoid. */
export interface UnavoidableWork {
  /** Bytes that must be read for one decoded token, all sequences of the step together. */
  readonly decodeBytes: number;
  readonly decodeFlops: number;
  /** Weights and KV that are touched again each step: what has to fit a cache to be faster than memory. */
  readonly workingSetBytes: number;
  readonly prefillTokens: number;
  readonly prefillFlops: number;
}

/**
 * Read bandwidth for a working set, between the two nearest measured sizes whichever is faster: a check must not reject
 * an honest engine for a cache edge. `pick` chooses the best or the mean pass.
 */
export function bandwidthFor(
  rates: MachineRates,
  workingSetBytes: number,
  pick: 'best' | 'mean',
): number | undefined {
  const sorted = [...rates.read].sort((a, b) => a.working_set_bytes - b.working_set_bytes);
  const below = sorted.filter((set) => set.working_set_bytes <= workingSetBytes).at(-1);
  const above = sorted.find((set) => set.working_set_bytes >= workingSetBytes);
  const rate = (set: MachineRates['read'][number]) =>
    pick === 'best' ? set.best_bytes_per_second : set.mean_bytes_per_second;
  const candidates = [below, above].filter((set) => set !== undefined).map(rate);
  return candidates.length === 0 ? undefined : Math.max(...candidates);
}

/** Rates before and after joined: the best of both for limits, the mean of both for shares. */
function combined(
  all: readonly MachineRates[],
  read: (rates: MachineRates) => number | undefined,
  join: (values: readonly number[]) => number,
): number | undefined {
  const values = all.map(read).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : join(values);
}

function check(
  what: 'decode' | 'prefill',
  bound: 'bandwidth' | 'flops',
  measured: number,
  limit: number | undefined,
  workingSet: number | null,
): PhysicsCheck[] {
  if (limit === undefined || !Number.isFinite(limit)) return [];
  return [
    {
      what,
      bound,
      measured_tokens_per_second: measured,
      limit_tokens_per_second: limit,
      margin: physicsMargin,
      working_set_bytes: workingSet,
      rejected: measured > physicsMargin * limit,
    },
  ];
}

/**
 * Holds the fastest sample of each test against the best rates that were measured before or after it. No rates, no
 * checks: the caller must treat an empty list as "not proven", not as passed.
 */
export function checkPhysics(
  engine: Pick<EngineBenchmark, 'prefill' | 'decode'>,
  work: UnavoidableWork,
  rates: readonly MachineRates[],
): PhysicsCheck[] {
  const most = (values: readonly number[]) => Math.max(...values);
  const read = combined(rates, (one) => bandwidthFor(one, work.workingSetBytes, 'best'), most);
  const flops = combined(rates, (one) => one.best_flops_per_second, most);
  const decode = most(engine.decode.samples_ts);
  const prefill = most(engine.prefill.samples_ts);
  const perSecond = (rate: number | undefined, cost: number) =>
    rate === undefined ? undefined : rate / cost;
  const prefillFlopsPerToken = work.prefillFlops / work.prefillTokens;
  return [
    ...check('decode', 'bandwidth', decode, perSecond(read, work.decodeBytes), work.workingSetBytes),
    ...check('decode', 'flops', decode, perSecond(flops, work.decodeFlops), null),
    ...check('prefill', 'flops', prefill, perSecond(flops, prefillFlopsPerToken), null),
  ];
}

/** Percent of the mean measured rates that the mean speed amounts to. */
export function shareOfRates(
  engine: Pick<EngineBenchmark, 'prefill' | 'decode'>,
  work: UnavoidableWork,
  rates: readonly MachineRates[],
): { pct_of_measured_bw: number | null; pct_of_measured_flops: number | null } {
  const read = combined(rates, (one) => bandwidthFor(one, work.workingSetBytes, 'mean'), mean);
  const flops = combined(rates, (one) => one.mean_flops_per_second, mean);
  const used = engine.decode.avg_ts * work.decodeBytes;
  const computed = (engine.prefill.avg_ts / work.prefillTokens) * work.prefillFlops;
  return {
    pct_of_measured_bw: read === undefined ? null : (100 * used) / read,
    pct_of_measured_flops: flops === undefined ? null : (100 * computed) / flops,
  };
}
