import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chooseContract } from '../../../src/local/agents/choose-contract.ts';
import type { OptimizationAttempt } from '../../../src/model/agent-work.ts';
import { Benchmark } from '../../../src/model/benchmark.ts';
import type { PhaseProfile } from '../../../src/verification/profile-engine.ts';

const file = join(process.cwd(), 'test/fixtures/reports/qwen3-0-6b.json');
const benchmark = Benchmark.parse(JSON.parse(readFileSync(file, 'utf8')).benchmark);

function phase(shares: Record<string, number>): PhaseProfile {
  const parts = Object.entries(shares).map(([contract, share]) => ({ contract, share, seconds: share }));
  return { tokensPerSecond: 1, cpuSeconds: 1, parts };
}

function choose(
  decode: Record<string, number>,
  prefill: Record<string, number>,
  options: {
    earlier?: OptimizationAttempt[];
    limits?: number;
    workload?: { prompt_tokens: number; output_tokens: number };
  } = {},
) {
  const limit = (what: 'decode' | 'prefill') => ({
    ...{ what, margin: 1.25, bound: 'flops' as const, working_set_bytes: null, rejected: false },
    measured_tokens_per_second: benchmark.engine[what].avg_ts,
    limit_tokens_per_second: benchmark.engine[what].avg_ts * (options.limits ?? 4),
  });
  return chooseContract({
    profile: { decode: phase(decode), prefill: phase(prefill) },
    benchmark: { ...benchmark, physics: [limit('decode'), limit('prefill')] },
    workload: { prompt_tokens: 64, output_tokens: 64, concurrency: 1, ...options.workload },
    writable: new Set(['linear.dense', 'attention.core', 'norm.rms', 'runtime.threading']),
    earlier: options.earlier ?? [],
  });
}

const inVain: OptimizationAttempt = {
  ...{ contract: 'linear.dense', number: 1, outcome: 'dropped', reason: 'gate unit' },
  ...{ ratio: null, spread: null, metric: 'decode_tokens_per_second' },
};

it('the contract with the largest share of a request is chosen, and improvement must show where that lies', () => {
  const linear = choose({ 'linear.dense': 0.6, 'attention.core': 0.2 }, { 'linear.dense': 0.5 });
  expect(linear).toMatchObject({ contract: 'linear.dense', metric: 'decode_tokens_per_second' });
  const long = { prompt_tokens: 100_000, output_tokens: 1 };
  const prefill = choose({ 'linear.dense': 0.6 }, { 'attention.core': 0.5 }, { workload: long });
  expect(prefill).toMatchObject({ contract: 'attention.core', metric: 'prefill_tokens_per_second' });
});

it('what was tried in vain gives way to the next', () => {
  const shares = { 'linear.dense': 0.5, 'attention.core': 0.3 };
  expect(choose(shares, shares, { earlier: [inVain] })?.contract).toBe('attention.core');
});

it('threads that wait for others are not taken for slow code', () => {
  const shares = { 'runtime.threading': 0.5, 'norm.rms': 0.2 };
  expect(choose(shares, shares)?.contract).toBe('norm.rms');
});

it('nothing is chosen at the physical limit, nor where only what nobody may write takes time', () => {
  expect(choose({ 'linear.dense': 0.9 }, { 'linear.dense': 0.9 }, { limits: 1.01 })).toBeUndefined();
  expect(choose({ 'kv.cache': 0.9 }, {})).toBeUndefined();
});
