import type { Constraints } from '../model/constraints.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { runBenchmark } from './bench.ts';
import { engineContender } from './bench-engine.ts';
import type { Sandbox } from './sandbox.ts';

/** Speed of the second engine against the first; > 1 is faster. */
export interface SpeedRatio {
  readonly ratio: number;
  /** Half the width of its 95 % interval; null where there were too few rounds to know it. */
  readonly spread: number | null;
}

export interface EngineComparison {
  readonly decode: SpeedRatio;
  readonly prefill: SpeedRatio;
  readonly rounds: number;
  /** Timed results of the second engine that differ from untimed ones: empty, or the figures mean nothing. */
  readonly integrity: readonly string[];
}

export interface ComparisonOptions {
  readonly binaries: { readonly before: string; readonly after: string };
  readonly checkpointFolder: string;
  readonly facts: ModelFacts;
  readonly constraints: Constraints;
  readonly sandbox: Sandbox;
  readonly budgetSeconds: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/**
 * Two engines for the same target, both loaded, taking turns A B B A on the same prompts.
 * @returns undefined where the first one fell silent: there is nothing to compare with then
 * @throws EngineFailure where the second one does not answer
 */
export async function compareEngines(options: ComparisonOptions): Promise<EngineComparison | undefined> {
  const { binaries, constraints, facts } = options;
  const contender = (binary: string, name: string) => engineContender({ ...options, binary }, name);
  const benchmark = await runBenchmark({
    engine: contender(binaries.after, 'after'),
    baseline: contender(binaries.before, 'before'),
    ...{ facts, sizes: constraints, workload: constraints.workload },
    ...{ threads: constraints.hardware.threads, measureRates: null, budgetSeconds: options.budgetSeconds },
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  const ratioOf = (metric: (typeof benchmark.comparison)[number]['metric']): SpeedRatio | undefined => {
    const found = benchmark.comparison.find((entry) => entry.metric === metric);
    if (found === undefined) return undefined;
    const { ratio, low, high } = found;
    return { ratio, spread: low === null || high === null ? null : (high - low) / 2 };
  };
  const decode = ratioOf('decode_tokens_per_second');
  const prefill = ratioOf('prefill_tokens_per_second');
  if (decode === undefined || prefill === undefined) return undefined;
  return { decode, prefill, rounds: benchmark.rounds, integrity: benchmark.engine.integrity };
}
