import type { Benchmark, EngineBenchmark } from './benchmark.ts';
import type { Constraints } from './constraints.ts';
import { notRunWords } from './device-words.ts';
import { type MetricName, metricNames, metrics } from './metrics.ts';
import type { GateResult, GoalVerdict } from './report.ts';

type Goal = Constraints['goals']['require'][number];
type Fidelity = Constraints['goals']['fidelity'];

const servingMetrics = ['request_throughput', 'output_throughput', 'total_token_throughput'] as const;

/** The figure that a metric of the constraint file names, or null where this benchmark has none. */
export function metricValue(engine: EngineBenchmark, metric: MetricName): number | null {
  if (metric === 'decode_tokens_per_second') return engine.decode.avg_ts;
  if (metric === 'prefill_tokens_per_second') return engine.prefill.avg_ts;
  if (metric === 'peak_memory') return engine.peak_memory_bytes;
  const throughput = servingMetrics.find((name) => name === metric);
  if (throughput !== undefined) return engine.serving[throughput];
  // ttft_ms_p50 in the constraint file is p50_ttft_ms in vLLM's report.
  const [latency, unit, statistic] = metric.split('_');
  return engine.serving[`${statistic}_${latency}_${unit}` as 'p50_ttft_ms'];
}

function holds(measured: number, comparison: Goal['comparison'], required: number): boolean {
  if (comparison === '<=') return measured <= required;
  if (comparison === '>=') return measured >= required;
  return comparison === '<' ? measured < required : measured > required;
}

function notMeasured(goal: Goal, note: string): GoalVerdict {
  const { written, metric } = goal;
  return { written, metric, status: 'not-measured', measured: null, baseline: null, note };
}

function show(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : value.toPrecision(4);
}

/** Why none of the figures may be used: a rejected or inconsistent measurement meets no goal. */
function disqualification(benchmark: Benchmark): string | undefined {
  const rejected = benchmark.physics.find((check) => check.rejected);
  if (rejected !== undefined) return `${rejected.what} is faster than the measured ${rejected.bound} allows`;
  return benchmark.engine.integrity[0];
}

/** The baseline's own figure, or why there is none. */
function baselineValue(goal: Goal, metric: MetricName, benchmark: Benchmark): number | string {
  const { baseline, baseline_name, baseline_absent_because } = benchmark;
  if (baseline === null || baseline_name !== goal.baseline) {
    return `${goal.baseline} did not run: ${baseline_absent_because ?? 'no baseline was asked for'}`;
  }
  if (baseline.integrity.length > 0)
    return `${goal.baseline} gave inconsistent results: ${baseline.integrity[0]}`;
  return metricValue(baseline, metric) ?? `${goal.baseline} has no ${metric}`;
}

function evaluateGoal(goal: Goal, benchmark: Benchmark): GoalVerdict {
  const metric = metricNames.find((name) => name === goal.metric);
  if (metric === undefined) return notMeasured(goal, `nothing measures ${goal.metric}`);
  const measured = metricValue(benchmark.engine, metric);
  if (measured === null) return notMeasured(goal, `the workload has no ${metric} (one output token)`);
  const isRelative = goal.unit === 'x';
  const baseline = isRelative ? baselineValue(goal, metric, benchmark) : null;
  if (typeof baseline === 'string') return notMeasured(goal, baseline);
  const wrong = disqualification(benchmark);
  if (wrong !== undefined) return notMeasured(goal, wrong);
  const required = baseline === null ? goal.value : goal.value * baseline;
  const status = holds(measured, goal.comparison, required) ? 'met' : 'missed';
  const { unit } = metrics[metric];
  const ratio = baseline === null ? '' : `, ${(measured / baseline).toFixed(3)}x ${goal.baseline}`;
  const doubts = benchmark.warnings.length === 0 ? '' : ` (${benchmark.warnings.join('; ')})`;
  const note = `${show(measured)} ${unit}${ratio}; required ${goal.comparison} ${show(required)} ${unit}${doubts}`;
  return { written: goal.written, metric, status, measured, baseline, note };
}

/** One verdict per goal of the constraint file. Without a benchmark every goal is "not measured", never met, and says why. */
export function evaluateGoals(
  goals: readonly Goal[],
  benchmark: Benchmark | null,
  absentBecause = 'no benchmark was run',
): GoalVerdict[] {
  return goals.map((goal) => {
    if (benchmark === null) return notMeasured(goal, absentBecause);
    return evaluateGoal(goal, benchmark);
  });
}

/** How close to the reference the person asked for, as goals with the figures of gate logits. */
export function judgeFidelity(asked: Fidelity, gates: readonly GateResult[]): GoalVerdict[] {
  const logits = gates.find(({ gate }) => gate === 'logits');
  const measured = logits?.measurements ?? {};
  const goals = [
    ['mean_kld', '<=', asked.mean_kld],
    ['top1_agreement', '>=', asked.top1_agreement],
  ] as const;
  return goals.map(([name, comparison, required]) => {
    const goal = { metric: `fidelity.${name}`, written: `${comparison} ${required}` };
    const value = measured[name];
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      const note = logits?.status === 'not-run' ? notRunWords : 'gate logits gave no figure';
      return { ...goal, status: 'not-measured', measured: null, baseline: null, note };
    }
    const status = holds(value, comparison, required) ? 'met' : 'missed';
    return { ...goal, status, measured: value, baseline: null, note: null };
  });
}
