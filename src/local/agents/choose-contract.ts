import type { OptimizationAttempt } from '../../model/agent-work.ts';
import type { Benchmark } from '../../model/benchmark.ts';
import type { Constraints } from '../../model/constraints.ts';
import type { EngineProfile, PhaseProfile } from '../../verification/profile-engine.ts';

export type SpeedMetric = 'decode_tokens_per_second' | 'prefill_tokens_per_second';

export interface Candidate {
  readonly contract: string;
  /** Share of a request's time that a text at the physical limit could save at most, less what was tried in vain. */
  readonly gain: number;
  /** The kind of work that most of the gain lies in: an improvement must show there. */
  readonly metric: SpeedMetric;
}

/** Threads that wait for one another spin in it: its share is mostly that of whoever keeps them waiting. */
const waitingContract = 'runtime.threading';
const shareOfWaiting = 0.25;
/** Below this nothing that can be found would stand out of the spread. */
const leastGain = 0.02;

interface Weighed {
  readonly metric: SpeedMetric;
  readonly profile: PhaseProfile;
  /** Share of a request's time, times what the physical limit leaves to be won. */
  readonly weight: number;
}

/** Tokens per second that the measured rates of the machine allow; null where none were measured. */
export function limitOf(benchmark: Benchmark, what: 'decode' | 'prefill'): number | null {
  const limits = benchmark.physics
    .filter((check) => check.what === what)
    .map((check) => check.limit_tokens_per_second);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** The contract whose improvement would save most of a request's time; undefined where nothing is worth a try. */
export function chooseContract(input: {
  readonly profile: EngineProfile;
  readonly benchmark: Benchmark;
  readonly workload: Constraints['workload'];
  /** Contracts that have a source of their own. */
  readonly writable: ReadonlySet<string>;
  readonly earlier: readonly OptimizationAttempt[];
}): Candidate | undefined {
  const phases = weighPhases(input);
  const candidates = [...input.writable]
    .map((contract) => rate(contract, phases, input.earlier))
    .filter(({ gain }) => gain >= leastGain)
    .sort((a, b) => b.gain - a.gain);
  return candidates[0];
}

function weighPhases({
  profile,
  benchmark,
  workload,
}: Pick<Parameters<typeof chooseContract>[0], 'profile' | 'benchmark' | 'workload'>): Weighed[] {
  const { decode, prefill } = benchmark.engine;
  const seconds = {
    decode: workload.output_tokens / decode.avg_ts,
    prefill: workload.prompt_tokens / prefill.avg_ts,
  };
  const total = seconds.decode + seconds.prefill;
  const headroom = (what: 'decode' | 'prefill'): number => {
    const limit = limitOf(benchmark, what);
    return limit === null ? 1 : Math.max(0, 1 - benchmark.engine[what].avg_ts / limit);
  };
  return (['decode', 'prefill'] as const).map((what) => ({
    metric: `${what}_tokens_per_second` as const,
    profile: profile[what],
    weight: (seconds[what] / total) * headroom(what),
  }));
}

function rate(
  contract: string,
  phases: readonly Weighed[],
  earlier: readonly OptimizationAttempt[],
): Candidate {
  const gains = phases.map(({ metric, profile, weight }) => ({
    metric,
    gain: weight * (profile.parts.find((part) => part.contract === contract)?.share ?? 0),
  }));
  const best = gains.reduce((a, b) => (b.gain > a.gain ? b : a));
  const sum = gains.reduce((total, { gain }) => total + gain, 0);
  const inVain = earlier.filter((attempt) => attempt.contract === contract && attempt.outcome === 'dropped');
  const share = contract === waitingContract ? shareOfWaiting : 1;
  return { contract, metric: best.metric, gain: (share * sum) / (1 + 2 * inVain.length) };
}
