import { Benchmark } from '../model/benchmark.ts';
import { goalRemark } from '../model/device-words.ts';
import { codeSpan, inlineText } from '../model/escape-text.ts';
import { type Metric, type MetricName, metrics } from '../model/metrics.ts';
import type { GoalVerdict, Report } from '../model/report.ts';
import { showBytes } from '../model/show-bytes.ts';
import { short } from '../model/show-number.ts';
import { verdictWords as outcomeWords } from '../model/show-verdict.ts';
import { paragraphs, table } from './markdown.ts';

/** The benchmark of a report; null where none ran. */
export function benchmarkOf(report: Report): Benchmark | null {
  return Benchmark.safeParse(report.benchmark).data ?? null;
}

function metricOf(name: string): Metric | undefined {
  return Object.hasOwn(metrics, name) ? metrics[name as MetricName] : undefined;
}

/** Three significant digits; very small ones with an exponent. */
export function showFigure(value: number): string {
  if (value === 0 || (Math.abs(value) >= 0.001 && Math.abs(value) < 1e15)) {
    return Number.isInteger(value) && value < 1000 ? String(value) : short(value);
  }
  return value.toExponential(1);
}

export function showMeasured(goal: GoalVerdict): string {
  if (goal.measured === null) return '–';
  const unit = metricOf(goal.metric)?.unit;
  if (unit === 'bytes') return showBytes(Math.round(goal.measured));
  const figure = `${showFigure(goal.measured)}${unit === undefined ? '' : ` ${unit}`}`;
  if (goal.baseline === null || goal.baseline === 0) return figure;
  return `${figure}, ${(goal.measured / goal.baseline).toFixed(2)}x`;
}

/** How much single runs differ, where the goal's metric was sampled. */
function spreadOf(metric: string, benchmark: Benchmark | null): string {
  if (benchmark === null) return '–';
  const { decode, prefill, serving } = benchmark.engine;
  const test = { decode_tokens_per_second: decode, prefill_tokens_per_second: prefill }[metric];
  if (test !== undefined && test.avg_ts > 0) {
    return `± ${((100 * test.stddev_ts) / test.avg_ts).toFixed(1)} % (n = ${test.samples_ts.length})`;
  }
  const latency = /^(ttft|tpot|itl|e2el)_ms_/.exec(metric)?.[1];
  if (latency === undefined) return '–';
  const deviation = serving[`std_${latency}_ms` as 'std_ttft_ms'];
  return deviation === null ? '–' : `± ${showFigure(deviation)} ms (n = ${serving.completed})`;
}

/** Tokens per second that the rates measured in the same job allow; null where they were not measured. */
export function physicalLimit(what: 'decode' | 'prefill', benchmark: Benchmark): number | null {
  const limits = benchmark.physics
    .filter((check) => check.what === what)
    .map((check) => check.limit_tokens_per_second);
  return limits.length === 0 ? null : Math.min(...limits);
}

function shareOfLimit(metric: string, benchmark: Benchmark | null): string {
  const what = { decode_tokens_per_second: 'decode', prefill_tokens_per_second: 'prefill' }[metric];
  if (benchmark === null || (what !== 'decode' && what !== 'prefill')) return '–';
  const limit = physicalLimit(what, benchmark);
  return limit === null ? '–' : showShare(benchmark.engine[what].avg_ts, limit);
}

export function showShare(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return `${percent >= 10 ? Math.round(percent) : percent.toPrecision(2)} %`;
}

/** A mean with its deviation, to the digits that the mean is shown with. */
export function showSpread(mean: number, deviation: number): string {
  const digits = mean >= 100 ? 0 : mean >= 10 ? 1 : 2;
  const spread = deviation >= 100 ? short(deviation) : deviation.toFixed(digits);
  return `${short(mean)} ± ${spread}`;
}

const verdictWords: Readonly<Record<GoalVerdict['status'], string>> = {
  met: '✅ met',
  missed: '❌ missed',
  'not-measured': '⚠️ not measured',
};

function goalInWords(goal: GoalVerdict, report: Report): string {
  const { status, note } = goal;
  if (status !== 'not-measured') {
    const remark = goalRemark(goal, report);
    return remark === undefined ? verdictWords[status] : `${verdictWords[status]} (${remark})`;
  }
  const why = report.verdict === 'not-run-on-device' ? outcomeWords[report.verdict] : note;
  return why === null ? verdictWords[status] : `${verdictWords[status]}: ${inlineText(why, 160)}`;
}

/** Every goal of the constraint file with what was measured. */
export function renderGoals(report: Report): string {
  const benchmark = benchmarkOf(report);
  const rows = report.goals.map((goal) => [
    codeSpan(goal.metric, 'cell', 60),
    codeSpan(goal.written, 'cell', 60),
    showMeasured(goal),
    spreadOf(goal.metric, benchmark),
    shareOfLimit(goal.metric, benchmark),
    goalInWords(goal, report),
  ]);
  if (rows.length === 0) return 'The constraint file sets no goals.';
  const head = ['Goal', 'Wanted', 'Measured', 'Spread', 'Of the physical limit', 'Verdict'];
  return paragraphs(table(head, rows, [2]), renderWarnings(benchmark));
}

/** Beside the figures, not folded away: a busy machine measures its neighbours. */
function renderWarnings(benchmark: Benchmark | null): string {
  const warnings = benchmark?.warnings ?? [];
  return warnings.length === 0
    ? ''
    : `⚠️ These figures may be worth less than they look: ${warnings.map((warning) => inlineText(warning, 200)).join('; ')}.`;
}

/** The engine's speed beside its baseline, the numbers of the plot. */
export function renderSpeed(benchmark: Benchmark): string {
  const { engine, baseline } = benchmark;
  const row = (what: 'decode' | 'prefill') => {
    const limit = physicalLimit(what, benchmark);
    const show = (test: typeof engine.decode) => showSpread(test.avg_ts, test.stddev_ts);
    const comparison = benchmark.comparison.find(({ metric }) => metric === `${what}_tokens_per_second`);
    return [
      `${what === 'decode' ? 'Decode' : 'Prefill'} (${codeSpan(engine[what].test, 'cell', 20)})`,
      show(engine[what]),
      ...(baseline === null ? [] : [show(baseline[what]), showRatio(comparison)]),
      limit === null ? '–' : short(limit),
      limit === null ? '–' : showShare(engine[what].avg_ts, limit),
    ];
  };
  const versus = baseline === null ? [] : [inlineText(baseline.name, 40), 'Ratio'];
  const head = ['Tokens/s', 'This engine', ...versus, 'Physical limit', 'Reached'];
  return table(head, [row('decode'), row('prefill')], [1, 2, 3, 4, 5].slice(0, head.length - 1));
}

function showRatio(comparison: Benchmark['comparison'][number] | undefined): string {
  if (comparison === undefined) return '–';
  const { ratio, low, high } = comparison;
  const interval = low === null || high === null ? '' : ` (95 %: ${low.toFixed(2)} to ${high.toFixed(2)})`;
  return `**${ratio.toFixed(2)}x**${interval}`;
}

/** How the figures came about and what lessens their worth. */
export function renderConditions(benchmark: Benchmark): string {
  const { conditions, workload, engine } = benchmark;
  const rounds =
    benchmark.baseline === null ? 'alone' : `in turn with ${inlineText(benchmark.baseline.name, 40)}`;
  const how = `${workload.prompt_tokens} prompt and ${workload.output_tokens} output tokens, concurrency ${workload.concurrency}, ${engine.threads} threads on ${conditions.cores} cores of ${inlineText(conditions.cpu, 80)}; ${benchmark.rounds} rounds ${rounds}.`;
  const absent =
    benchmark.baseline === null && benchmark.baseline_absent_because !== null
      ? `No baseline: ${inlineText(benchmark.baseline_absent_because, 200)}.`
      : '';
  const limit =
    benchmark.physics.length === 0
      ? ''
      : 'The physical limit comes from the memory bandwidth and FLOP rate measured in the same job.';
  const warnings = benchmark.warnings.map((warning) => `\n- ⚠️ ${inlineText(warning, 200)}`).join('');
  return (
    [how, absent, limit].filter((part) => part !== '').join(' ') + (warnings === '' ? '' : `\n${warnings}`)
  );
}

/** `5,042 tokens/s decode (3.48x llama.cpp)`; empty without a benchmark. */
export function speedInWords(report: Report): string {
  const benchmark = benchmarkOf(report);
  if (benchmark === null) return '';
  const ratio = benchmark.comparison.find(({ metric }) => metric === 'decode_tokens_per_second')?.ratio;
  const versus =
    benchmark.baseline === null || ratio === undefined
      ? ''
      : ` (${ratio.toFixed(2)}x ${benchmark.baseline.name})`;
  return `${short(benchmark.engine.decode.avg_ts)} tokens/s decode${versus}`;
}
