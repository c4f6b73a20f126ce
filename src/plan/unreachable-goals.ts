import type { Constraints } from '../model/constraints.ts';
import type { Arithmetic, Plan } from '../model/plan.ts';
import { showBytes } from '../model/show-bytes.ts';
import { short } from '../model/show-number.ts';

type Bounds = Omit<Plan['limit'], 'unreachable'>;

/** The best value of a metric that the bounds leave, in the metric's unit; null where they say nothing about it. */
function bestPossible(metric: string, bounds: Bounds, arithmetic: Arithmetic): number | null {
  // The smallest percentile is bounded by the fastest request, so every one of them is.
  if (metric.startsWith('ttft_ms_') || metric.startsWith('e2el_ms_')) return bounds.ttftMs;
  if (metric === 'decode_tokens_per_second' || metric === 'output_throughput') {
    // A benchmark at depth 0 reads almost no keys and values: the weights alone bound it.
    const { decodeTokensPerSecond, bytesPerStep } = bounds;
    return decodeTokensPerSecond === null
      ? null
      : (decodeTokensPerSecond * bytesPerStep) / arithmetic.weightBytesPerStep;
  }
  if (metric === 'prefill_tokens_per_second') return bounds.prefillTokensPerSecond;
  return metric === 'peak_memory' ? arithmetic.weightBytesPerStep : null;
}

/** Absolute goals that no engine can meet on this device. Relative ones depend on what the baseline reaches. */
export function findUnreachable(
  goals: Constraints['goals']['require'],
  bounds: Bounds,
  arithmetic: Arithmetic,
): string[] {
  return goals.flatMap((goal) => {
    const best = goal.unit === 'x' ? null : bestPossible(goal.metric, bounds, arithmetic);
    if (best === null) return [];
    const isUpper = goal.comparison === '<=' || goal.comparison === '<';
    if (isUpper ? best <= goal.value : best >= goal.value) return [];
    const shown = goal.unit === 'bytes' ? showBytes(best) : `${short(best)} ${goal.unit}`;
    return [
      `${goal.metric} ${goal.written}: the physical limit here is ${isUpper ? 'at least' : 'at most'} ${shown}.`,
    ];
  });
}
