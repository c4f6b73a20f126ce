import { randomInt } from 'node:crypto';
import { computeArithmetic, kvBytesRead, type SizeInputs } from '../model/arithmetic.ts';
import type { Benchmark, EngineBenchmark, MachineRates } from '../model/benchmark.ts';
import { AppError } from '../model/errors.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { peakMemoryBytes, watchConditions } from './bench-conditions.ts';
import {
  actAs,
  BaselineFailure,
  drawPrompts,
  type GpuWatch,
  roundRates,
  runRounds,
  type Series,
} from './bench-rounds.ts';
import { checkIntegrity, type Workload, warmUp } from './bench-run.ts';
import { pairedRatio, percentile, summariseServing, summariseSpeed } from './bench-statistics.ts';
import { nameThrottling } from './gpu-conditions.ts';
import { checkPhysics, shareOfRates, type UnavoidableWork } from './physics.ts';
import type { EngineClient } from './protocol-client.ts';

/** An engine that can be measured: `start` gives a process with its weights loaded. */
export interface Contender {
  readonly name: string;
  readonly start: () => Promise<EngineClient>;
}

export interface BenchmarkOptions {
  readonly engine: Contender;
  /** Absent with the reason, where no baseline was asked for or none can run this model. */
  readonly baseline: Contender | { readonly name: string; readonly absentBecause: string } | null;
  readonly facts: ModelFacts;
  readonly sizes: SizeInputs;
  readonly workload: Workload;
  readonly threads: number;
  /** Measures the machine for a working set; null where that cannot be done (then no physics and no shares). */
  readonly measureRates: ((workingSetBytes: number) => Promise<MachineRates>) | null;
  /** Where the engine runs on a GPU. */
  readonly gpu?: GpuWatch;
  /** For the timed rounds; one round is always run. */
  readonly budgetSeconds: number;
  readonly onProgress?: (text: string) => void;
}

const pick = (below: number) => randomInt(below);

/** For one request; a large model on a loaded machine is slow, not stuck. */
const engineTimeoutMs = 1_800_000;

/** What the tests cannot do without, from the facts alone. Decoding starts from an empty cache. */
export function benchmarkWork(facts: ModelFacts, sizes: SizeInputs, workload: Workload): UnavoidableWork {
  const fromEmpty = { ...sizes, workload: { prompt_tokens: 1, output_tokens: workload.output_tokens } };
  const decode = computeArithmetic(facts, fromEmpty);
  const kv = kvBytesRead(facts, sizes.numerics.kv_cache, Math.ceil(workload.output_tokens / 2));
  return {
    decodeBytes: decode.weightBytesPerStep + kv,
    decodeFlops: decode.flopsPerDecodedToken,
    workingSetBytes: decode.weightBytesPerStep + kv,
    prefillTokens: workload.prompt_tokens,
    prefillFlops: computeArithmetic(facts, { ...sizes, workload }).prefillFlops,
  };
}

/** The most that was in use on the engine's GPU; undefined of what runs on the host. */
function deviceMemory({ role }: Series, { gpu }: BenchmarkOptions): number | undefined {
  const used = role === 'engine' ? (gpu?.conditions ?? []).flatMap((one) => one.memory_used_bytes ?? []) : [];
  return used.length === 0 ? undefined : Math.max(...used);
}

function summarise(
  name: string,
  series: Series,
  integrity: readonly string[],
  work: UnavoidableWork,
  options: BenchmarkOptions,
  rates: readonly MachineRates[],
): EngineBenchmark {
  const { workload, threads } = options;
  const { runs } = series;
  const prefillShape = { n_prompt: workload.prompt_tokens, n_gen: 0, n_depth: 0 };
  const decodeShape = { n_prompt: 0, n_gen: workload.output_tokens, n_depth: 0 };
  const duration = runs.reduce((sum, run) => sum + run.durationSeconds, 0);
  const prefill = summariseSpeed(
    prefillShape,
    runs.map((run) => run.prefillSeconds),
  );
  const decode = summariseSpeed(
    decodeShape,
    runs.map((run) => run.decodeSeconds),
  );
  return {
    name,
    threads,
    prefill,
    decode,
    serving: summariseServing(
      runs.flatMap((run) => run.requests),
      duration,
      workload.concurrency,
    ),
    peak_memory_bytes: deviceMemory(series, options) ?? peakMemoryBytes(series.client.channel.pid),
    bytes_per_token: work.decodeBytes,
    prefill_flops: work.prefillFlops,
    ...shareOfRates({ prefill, decode }, work, rates),
    integrity: [...integrity],
  };
}

function compare(engine: Series, baseline: Series, workload: Workload): Benchmark['comparison'] {
  const tests = [
    ['prefill_tokens_per_second', 'prefillSeconds', workload.prompt_tokens],
    ['decode_tokens_per_second', 'decodeSeconds', workload.output_tokens],
  ] as const;
  return tests.map(([metric, seconds, tokens]) => {
    const ours = roundRates(engine, tokens, seconds);
    const median = (series: Series) =>
      percentile(
        series.runs.map((run) => run[seconds]),
        0.5,
      );
    const median_ratio = median(baseline) / median(engine);
    return {
      metric,
      ...pairedRatio(ours, roundRates(baseline, tokens, seconds)),
      median_ratio,
      rounds: ours.length,
    };
  });
}

/** Both engines spin while their threads wait for each other: a core taken away costs them far more than its share. */
function warningsOf(conditions: Benchmark['conditions'], engine: EngineBenchmark, threads: number): string[] {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const { foreign_cpu_share: foreign, steal_share: steal, cores } = conditions;
  const error = Math.max(engine.prefill.relative_error, engine.decode.relative_error);
  const throttled = nameThrottling(conditions.gpu ?? []);
  return [
    ...(foreign > 0.05 ? [`other processes used ${percent(foreign)} of the CPU`] : []),
    ...(steal > 0.02 ? [`the hypervisor took ${percent(steal)} of the CPU`] : []),
    ...(threads > cores ? [`${threads} threads on ${cores} cores`] : []),
    ...(throttled.length > 0 ? [`the GPU was slowed down: ${throttled.join(', ')}`] : []),
    ...(error > 0.05 ? [`the mean is known to ${percent(error)} only`] : []),
  ];
}

async function startBaseline(
  options: BenchmarkOptions,
): Promise<{ series: Series | null; absent: string | null }> {
  const { baseline } = options;
  if (baseline === null) return { series: null, absent: 'no baseline was asked for' };
  if ('absentBecause' in baseline) return { series: null, absent: baseline.absentBecause };
  try {
    // It takes turns with the engine: no single answer may eat up the time of the whole benchmark.
    const timeoutMs = 1000 * Math.max(60, options.budgetSeconds);
    const client = await baseline.start();
    return { series: { role: 'baseline', client, timeoutMs, runs: [], kept: [] }, absent: null };
  } catch (error) {
    if (error instanceof AppError && error.code === 'BASELINE_UNAVAILABLE') {
      return { series: null, absent: error.message };
    }
    throw error;
  }
}

/** A rejection for which only a busy machine is to blame must not stand: measures again, up to twice. */
async function settlePhysics(
  engine: EngineBenchmark,
  work: UnavoidableWork,
  rates: MachineRates[],
  options: BenchmarkOptions,
): Promise<Benchmark['physics']> {
  for (let again = 0; ; again++) {
    const checks = checkPhysics(engine, work, rates);
    const isRejected = checks.some((check) => check.rejected);
    if (!isRejected || options.measureRates === null || again === 2) return checks;
    options.onProgress?.('faster than the measured rates allow: measuring them again');
    rates.push(await options.measureRates(work.workingSetBytes));
  }
}

async function measureAll(
  engine: Series,
  baseline: Series | null,
  absent: string | null,
  options: BenchmarkOptions,
) {
  const { workload, facts, onProgress } = options;
  const work = benchmarkWork(facts, options.sizes, workload);
  const all = baseline === null ? [engine] : [engine, baseline];
  for (const one of all) {
    await actAs(one, () => warmUp(one, drawPrompts(workload, facts.vocabSize, pick)));
  }
  const rates: MachineRates[] = [];
  if (options.measureRates !== null) rates.push(await options.measureRates(work.workingSetBytes));
  const finish = watchConditions(all.map(({ client }) => client.channel.pid));
  const { rounds, stopped } = await runRounds({
    ...{ engine, baseline, workload, vocabSize: facts.vocabSize, budgetSeconds: options.budgetSeconds, pick },
    gpu: options.gpu,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  const gpu = options.gpu?.conditions ?? [];
  const conditions = { ...finish(), ...(gpu.length === 0 ? {} : { gpu }) };
  if (options.measureRates !== null) rates.push(await options.measureRates(work.workingSetBytes));
  const ours = await checkIntegrity(engine, engine.kept, true, pick);
  const theirs =
    baseline === null
      ? []
      : await actAs(baseline, () => checkIntegrity(baseline, baseline.kept, false, pick));
  const before = rates[0] ?? null;
  const measured = summarise(options.engine.name, engine, ours, work, options, rates);
  const physics = await settlePhysics(measured, work, rates, options);
  const name = options.baseline?.name ?? null;
  return {
    workload,
    mode: baseline === null ? ('alone' as const) : ('interleaved ABBA' as const),
    rounds,
    stopped_because: stopped,
    engine: measured,
    baseline: baseline === null ? null : summarise(name ?? '', baseline, theirs, work, options, rates),
    baseline_name: name,
    baseline_absent_because: absent,
    comparison: baseline === null ? [] : compare(engine, baseline, workload),
    conditions,
    rates_before: before,
    rates_after: rates.at(-1) ?? null,
    physics,
    warnings: warningsOf(conditions, measured, options.threads),
  };
}

/**
 * Measures an engine, beside a baseline where there is one: both stay loaded, take turns in one job and are given the
 * same token ids. Where the baseline fails half-way, the engine is measured again alone. Throws EngineFailure where the
 * engine does not answer.
 */
export async function runBenchmark(options: BenchmarkOptions): Promise<Benchmark> {
  const client = await options.engine.start();
  const fresh = (): Series => ({ role: 'engine', client, timeoutMs: engineTimeoutMs, runs: [], kept: [] });
  let baseline: Series | null = null;
  try {
    const started = await startBaseline(options);
    baseline = started.series;
    return await measureAll(fresh(), baseline, started.absent, options);
  } catch (error) {
    if (!(error instanceof BaselineFailure)) throw error;
    baseline?.client.kill();
    const absent = `${options.baseline?.name} failed during the benchmark: ${error.message}`;
    options.onProgress?.(absent);
    return await measureAll(fresh(), null, absent, options);
  } finally {
    await Promise.all([client.quit(), baseline?.client.quit()]);
  }
}
