import type { Benchmark, EngineBenchmark, GoalResult } from '../model/benchmark.ts';
import type { Constraints } from '../model/constraints.ts';
import { type MetricName, metricNames, metrics } from '../model/metrics.ts';

type Goal = Constraints['goals']['require'][number];

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

function notMeasured(goal: Goal, unit: string, reason: string): GoalResult {
  const { written, metric } = goal;
  return { written, metric, status: 'not measured', measured: null, required: null, unit, reason };
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

function requirement(goal: Goal, metric: MetricName, benchmark: Benchmark): number | string {
  if (goal.unit !== 'x') return goal.value;
  const { baseline, baseline_name, baseline_absent_because } = benchmark;
  if (baseline === null || baseline_name !== goal.baseline) {
    return `${goal.baseline} did not run: ${baseline_absent_because ?? 'no baseline was asked for'}`;
  }
  const value = metricValue(baseline, metric);
  if (baseline.integrity.length > 0)
    return `${goal.baseline} gave inconsistent results: ${baseline.integrity[0]}`;
  return value === null ? `${goal.baseline} has no ${metric}` : value * goal.value;
}

function evaluateGoal(goal: Goal, benchmark: Benchmark): GoalResult {
  const metric = metricNames.find((name) => name === goal.metric);
  if (metric === undefined) return notMeasured(goal, goal.unit, `nothing measures ${goal.metric}`);
  const { unit } = metrics[metric];
  const measured = metricValue(benchmark.engine, metric);
  if (measured === null) return notMeasured(goal, unit, `the workload has no ${metric} (one output token)`);
  const required = requirement(goal, metric, benchmark);
  if (typeof required === 'string') return notMeasured(goal, unit, required);
  const wrong = disqualification(benchmark);
  if (wrong !== undefined) return notMeasured(goal, unit, wrong);
  const status = holds(measured, goal.comparison, required) ? 'met' : 'missed';
  const relative =
    goal.unit === 'x' ? ` (${(measured / (required / goal.value)).toFixed(3)}x ${goal.baseline})` : '';
  const reason = `${show(measured)} ${unit}, required ${goal.comparison} ${show(required)} ${unit}${relative}`;
  return { written: goal.written, metric, status, measured, required, unit, reason };
}

/** One result per goal of the constraint file. Without a benchmark every goal is "not measured". */
export function evaluateGoals(goals: readonly Goal[], benchmark: Benchmark | null): GoalResult[] {
  return goals.map((goal) => {
    if (benchmark === null) return notMeasured(goal, goal.unit, 'no benchmark was run');
    return evaluateGoal(goal, benchmark);
  });
}
