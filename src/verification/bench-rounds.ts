import type { Benchmark, GpuCondition } from '../model/benchmark.ts';
import { type Answer, type Runner, runTimed, type TimedRun, type Workload } from './bench-run.ts';
import { relativeError } from './bench-statistics.ts';
import { EngineFailure } from './engine-channel.ts';

/** The runs of one engine so far. */
export interface Series extends Runner {
  readonly role: 'engine' | 'baseline';
  readonly runs: TimedRun[];
  /** Answers of one run, each run being equally likely: known to be checked only after the last. */
  kept: readonly Answer[];
}

/** The baseline gave up: a reason to go on without it, not to blame the engine. */
export class BaselineFailure extends Error {}

/** Runs an action of one engine; what the baseline does wrong becomes a BaselineFailure. */
export async function actAs<T>(series: Series, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (series.role === 'baseline' && error instanceof EngineFailure)
      throw new BaselineFailure(error.message);
    throw error;
  }
}

export interface RoundsOptions {
  readonly engine: Series;
  readonly baseline: Series | null;
  readonly workload: Workload;
  readonly vocabSize: number;
  readonly budgetSeconds: number;
  /** Uniform integer in [0, below). */
  readonly pick: (below: number) => number;
  readonly onProgress?: (text: string) => void;
  /** Around each timed run of the engine. */
  readonly gpu?: GpuWatch | undefined;
}

/** A GPU that an engine is timed on. */
export interface GpuWatch {
  /** Leaves nothing of the run before in its second-level cache. */
  clearCache(): Promise<void>;
  /** How the device is now; undefined where nothing tells. */
  read(): Promise<GpuCondition | undefined>;
  readonly conditions: GpuCondition[];
}

/** Spread at which more runs would say nothing new. */
const wantedError = 0.01;
const minRounds = 3;
// Sixty samples know a mean of 5 % spread to below 1 %.
const maxRounds = 30;

export function drawPrompts(
  workload: Workload,
  vocabSize: number,
  pick: (below: number) => number,
): number[][] {
  const draw = () => Array.from({ length: workload.prompt_tokens }, () => pick(vocabSize));
  return Array.from({ length: workload.concurrency }, draw);
}

async function addRun(series: Series, prompts: readonly number[][], options: RoundsOptions): Promise<void> {
  const gpu = series.role === 'engine' ? options.gpu : undefined;
  await gpu?.clearCache();
  const run = await actAs(series, () => runTimed(series, prompts, options.workload));
  const condition = await gpu?.read();
  if (condition !== undefined) gpu?.conditions.push(condition);
  if (options.pick(series.runs.length + 1) === 0) series.kept = run.answers;
  // Logits of all runs together could fill the memory; only those of the kept one are needed.
  series.runs.push({ ...run, answers: [] });
}

function errorOf(series: Series): number {
  const prefill = relativeError(series.runs.map((run) => 1 / run.prefillSeconds));
  return Math.max(prefill, relativeError(series.runs.map((run) => 1 / run.decodeSeconds)));
}

/** A B B A: a machine that slows down or speeds up steadily does so for both alike. Two prompts, each read by both. */
async function runRound(options: RoundsOptions): Promise<void> {
  const { engine, baseline } = options;
  const [one, two] = [0, 1].map(() => drawPrompts(options.workload, options.vocabSize, options.pick));
  await addRun(engine, one!, options);
  if (baseline !== null) {
    await addRun(baseline, one!, options);
    await addRun(baseline, two!, options);
  }
  await addRun(engine, two!, options);
}

/** Rounds until the spread is known, or the time is up; at least one. */
export async function runRounds(
  options: RoundsOptions,
): Promise<{ rounds: number; stopped: Benchmark['stopped_because'] }> {
  const start = performance.now();
  const all = [options.engine, ...(options.baseline === null ? [] : [options.baseline])];
  for (let rounds = 1; ; rounds++) {
    await runRound(options);
    const elapsed = (performance.now() - start) / 1000;
    const error = Math.max(...all.map(errorOf));
    options.onProgress?.(
      `round ${rounds}: spread ${(100 * error).toFixed(1)} % after ${elapsed.toFixed(1)} s`,
    );
    if (rounds >= minRounds && error < wantedError) return { rounds, stopped: 'spread below 1 %' };
    if (rounds >= maxRounds) return { rounds, stopped: 'run limit' };
    // Another round would take about as long as the mean one so far.
    if (elapsed * (1 + 1 / rounds) > options.budgetSeconds) return { rounds, stopped: 'time limit' };
  }
}

/** Mean tokens per second of each round's two runs, to be paired with the other engine's. */
export function roundRates(
  series: Series,
  tokens: number,
  seconds: 'prefillSeconds' | 'decodeSeconds',
): number[] {
  const rates = series.runs.map((run) => tokens / run[seconds]);
  return Array.from({ length: rates.length / 2 }, (_, i) => (rates[2 * i]! + rates[2 * i + 1]!) / 2);
}
