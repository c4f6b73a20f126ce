import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { checkBenchmark } from '../../src/adapters/runner/check-benchmark.ts';
import { Benchmark, type MachineRates } from '../../src/model/benchmark.ts';
import { AppError } from '../../src/model/errors.ts';
import { evaluateGoals } from '../../src/model/judge-goals.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import {
  type BenchmarkOptions,
  benchmarkWork,
  type Contender,
  runBenchmark,
} from '../../src/verification/bench.ts';
import { renderBenchmark } from '../../src/verification/bench-render.ts';
import { startEngine } from '../../src/verification/protocol-client.ts';
import { probeSandbox } from '../../src/verification/sandbox.ts';

const script = join(import.meta.dirname, 'bench-engine.mjs');
const sandbox = probeSandbox('auto');
const facts: ModelFacts = {
  ...{
    family: 'llama',
    hiddenSize: 48,
    numLayers: 2,
    numHeads: 6,
    numKvHeads: 2,
    headDim: 20,
    intermediateSize: 72,
  },
  ...{ vocabSize: 17, tiedHead: false, rmsNormEps: 1e-5, ropeTheta: 10000, ropeScaling: { kind: 'none' } },
  ...{
    maxPositions: 64,
    qkvBias: false,
    qkNorm: false,
    layerWindows: [0, 0],
    bosTokenId: null,
    eosTokenIds: [],
  },
};
const plenty: MachineRates = {
  read: [{ working_set_bytes: 1e6, best_bytes_per_second: 2e10, mean_bytes_per_second: 1e10 }],
  best_flops_per_second: 2e11,
  mean_flops_per_second: 1e11,
};

function fake(promptMs: number, stepMs: number, manner: 'honest' | 'cheats' | 'dies' = 'honest'): Contender {
  return {
    name: 'fake',
    start: async () =>
      startEngine({
        sandbox,
        command: [process.execPath, script, String(promptMs), String(stepMs), manner],
        readOnlyPaths: [script, dirname(process.execPath)],
        timeoutMs: 20_000,
      }),
  };
}

function options(change: Partial<BenchmarkOptions>): BenchmarkOptions {
  const workload = { prompt_tokens: 8, output_tokens: 6, concurrency: 1, ...change.workload };
  return {
    engine: fake(1, 2),
    baseline: null,
    facts,
    sizes: {
      hardware: { platform: 'cpu-x86_64' },
      numerics: { weights: 'f32', kv_cache: 'f32' },
      serving: { max_context: 64, max_batch: 4, kv: 'contiguous' },
      workload,
    },
    threads: 1,
    measureRates: async () => plenty,
    budgetSeconds: 0.5,
    ...change,
    workload,
  };
}

/** What the app holds against itself must hold for every benchmark, as it is after a trip through JSON. */
async function measure(wanted: BenchmarkOptions): Promise<Benchmark> {
  const benchmark = await runBenchmark(wanted);
  checkBenchmark(Benchmark.parse(JSON.parse(JSON.stringify(benchmark))));
  return benchmark;
}

function goal(metric: string, comparison: '<=' | '>=', value: number, unit: string, baseline?: string) {
  return {
    metric,
    comparison,
    value,
    unit,
    written: `${comparison} ${value}`,
    ...(baseline === undefined ? {} : { baseline }),
  };
}

test('two engines of known speed are told apart, with vLLM’s and llama-bench’s figures for each', async () => {
  const baseline = { ...fake(1, 20), name: 'llama.cpp' };
  const result = Benchmark.parse(await measure(options({ baseline })));
  const decode = result.comparison.find(({ metric }) => metric === 'decode_tokens_per_second')!;
  // Ten in peace; a busy machine adds to both.
  expect(decode.ratio).toBeGreaterThan(2);
  expect(decode.ratio).toBeLessThan(12);
  expect(decode.median_ratio).toBeGreaterThan(2);
  expect(result.mode).toBe('interleaved ABBA');
  expect(result.engine.decode).toMatchObject({ test: 'tg6', n_prompt: 0, n_gen: 6 });
  expect(result.engine.prefill.test).toBe('pp8');
  expect(result.engine.decode.samples_ts).toHaveLength(2 * result.rounds);
  expect(result.engine.serving.mean_ttft_ms!).toBeGreaterThan(8);
  expect(result.engine.serving.mean_tpot_ms!).toBeGreaterThan(2);
  const { mean_e2el_ms, mean_ttft_ms, mean_tpot_ms } = result.engine.serving;
  expect(mean_e2el_ms!).toBeCloseTo(mean_ttft_ms! + 5 * mean_tpot_ms!, 6);
  expect(result.engine.serving.itls[0]).toHaveLength(5);
  expect(result.engine.peak_memory_bytes).toBeGreaterThan(10e6);
  expect([...result.engine.integrity, ...result.baseline!.integrity]).toEqual([]);
  const page = renderBenchmark(result);
  expect(page).toContain('| pp8, tokens/s |');
  expect(page).toMatch(/decode_tokens_per_second: \*\*\d+\.\d{3}x\*\* llama\.cpp/);
  expect(page).toContain('- before: 10.0 GB/s read, 100.0 GFLOP/s');
  expect(renderBenchmark(null)).toBe('');
  const goals = [
    goal('decode_tokens_per_second', '>=', 1.5, 'x', 'llama.cpp'),
    goal('decode_tokens_per_second', '>=', 20, 'x', 'llama.cpp'),
    goal('ttft_ms_p50', '<=', 1000, 'ms'),
  ];
  expect(evaluateGoals(goals, result).map(({ status }) => status)).toEqual(['met', 'missed', 'met']);
});

test('several requests are decoded side by side and each has its own latency', async () => {
  const workload = { prompt_tokens: 5, output_tokens: 4, concurrency: 3 };
  const { engine } = await measure(options({ workload, budgetSeconds: 0.1 }));
  expect(engine.integrity).toEqual([]);
  expect(engine.serving.max_concurrent_requests).toBe(3);
  expect(engine.serving.completed % 3).toBe(0);
  expect(engine.serving.output_lens.every((length) => length === 4)).toBe(true);
  // The third prompt is read after the first two.
  expect(engine.serving.ttfts[2]!).toBeGreaterThan(2 * engine.serving.ttfts[0]!);
});

test('one output token has a time to first token and no time per output token', async () => {
  const workload = { prompt_tokens: 5, output_tokens: 1, concurrency: 1 };
  const result = await measure(options({ workload, budgetSeconds: 0.1 }));
  expect(result.engine.serving).toMatchObject({ mean_tpot_ms: null, p99_itl_ms: null });
  expect(evaluateGoals([goal('tpot_ms_p50', '<=', 1, 'ms')], result)[0]).toMatchObject({
    status: 'not-measured',
  });
});

test('an engine that answers without computing is found out, and meets no goal', async () => {
  const result = await measure(options({ engine: fake(1, 0, 'cheats'), budgetSeconds: 0.1 }));
  expect(result.engine.integrity.join()).toContain('the timed run gave token 3');
  const [outcome] = evaluateGoals([goal('decode_tokens_per_second', '>=', 1, 'tokens/s')], result);
  expect(outcome).toMatchObject({
    status: 'not-measured',
    note: expect.stringContaining('the timed run gave'),
  });
});

test('faster than physics is rejected, but only after the rates were measured again', async () => {
  const slow: MachineRates = {
    ...plenty,
    read: [{ working_set_bytes: 1e6, best_bytes_per_second: 10, mean_bytes_per_second: 10 }],
  };
  let calls = 0;
  const always = await measure(
    options({
      budgetSeconds: 0.1,
      measureRates: async () => {
        calls++;
        return slow;
      },
    }),
  );
  expect(calls).toBe(4);
  expect(always.physics.find(({ rejected }) => rejected)).toMatchObject({
    what: 'decode',
    bound: 'bandwidth',
  });
  expect(evaluateGoals([goal('peak_memory', '<=', 1e12, 'bytes')], always)[0]!.status).toBe('not-measured');
  let first = 0;
  const busy = await measure(
    options({ budgetSeconds: 0.1, measureRates: async () => (first++ < 2 ? slow : plenty) }),
  );
  expect(busy.physics.filter(({ rejected }) => rejected)).toEqual([]);
});

test('a baseline that does not start leaves relative goals unmeasured, with the reason', async () => {
  const start = async () => {
    throw new AppError('BASELINE_UNAVAILABLE', 'llama.cpp is not installed');
  };
  const result = await measure(
    options({ baseline: { name: 'llama.cpp', start }, budgetSeconds: 0.1, threads: 4096 }),
  );
  expect(result.warnings.join()).toContain('4096 threads on');
  expect(result).toMatchObject({
    baseline: null,
    mode: 'alone',
    baseline_absent_because: 'llama.cpp is not installed',
  });
  const [outcome] = evaluateGoals([goal('decode_tokens_per_second', '>=', 0.001, 'x', 'llama.cpp')], result);
  expect(outcome).toMatchObject({ status: 'not-measured', measured: null });
});

test('a baseline that dies half-way costs the comparison, not the benchmark; an engine that dies costs all', async () => {
  const baseline = { ...fake(1, 1, 'dies'), name: 'llama.cpp' };
  const result = await measure(options({ baseline, budgetSeconds: 0.1 }));
  expect(result).toMatchObject({ baseline: null, mode: 'alone', comparison: [] });
  expect(result.baseline_absent_because).toContain(
    'llama.cpp failed during the benchmark: the engine process is gone',
  );
  expect(result.engine.decode.samples_ts).toHaveLength(2 * result.rounds);
  await expect(measure(options({ engine: fake(1, 1, 'dies') }))).rejects.toThrow(
    'the engine process is gone',
  );
});

test('the bytes of a decoded token are the weights that it multiplies and the keys it reads', () => {
  const work = benchmarkWork(facts, options({}).sizes, {
    prompt_tokens: 8,
    output_tokens: 6,
    concurrency: 1,
  });
  const attention = 48 * (120 + 40 + 40) + 120 * 48;
  const layer = attention + 3 * 48 * 72 + 2 * 48;
  const kv = 2 * 2 * 2 * 20 * 3;
  expect(work.decodeBytes).toBe(4 * (2 * layer + 17 * 48 + 48 + kv));
});
