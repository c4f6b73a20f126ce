import { Benchmark, type EngineBenchmark, type MachineRates } from '../model/benchmark.ts';
import { inlineText } from '../model/escape-text.ts';
import { bandwidthFor } from './physics.ts';

function show(value: number | null, digits = 1): string {
  return value === null ? '–' : value.toFixed(digits);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [row(head), row(head.map(() => '---')), ...rows.map(row)];
}

type Cell = (engine: EngineBenchmark) => string;

function speed(test: EngineBenchmark['decode']): string {
  return `${show(test.avg_ts)} ± ${show(test.stddev_ts)} (median ${show(test.median_ts)}, n = ${test.samples_ts.length})`;
}

function engineRows(benchmark: Benchmark): string[][] {
  const { prefill, decode } = benchmark.engine;
  const lines: readonly (readonly [string, Cell])[] = [
    [`${inlineText(prefill.test)}, tokens/s`, (engine) => speed(engine.prefill)],
    [`${inlineText(decode.test)}, tokens/s`, (engine) => speed(engine.decode)],
    ['TTFT p50 / p99, ms', ({ serving }) => `${show(serving.p50_ttft_ms)} / ${show(serving.p99_ttft_ms)}`],
    ['TPOT p50, ms', ({ serving }) => show(serving.p50_tpot_ms, 2)],
    ['ITL p99, ms', ({ serving }) => show(serving.p99_itl_ms, 2)],
    ['E2EL p50, ms', ({ serving }) => show(serving.p50_e2el_ms)],
    ['peak memory, MiB', (engine) => show(engine.peak_memory_bytes / 2 ** 20)],
    ['% of measured bandwidth (decoding)', (engine) => show(engine.pct_of_measured_bw)],
    ['% of measured FLOP rate (prefill)', (engine) => show(engine.pct_of_measured_flops)],
  ];
  const engines = benchmark.baseline === null ? [benchmark.engine] : [benchmark.engine, benchmark.baseline];
  return lines.map(([name, cell]) => [name, ...engines.map(cell)]);
}

function rateLine(when: string, rates: MachineRates | null, workingSet: number): string[] {
  if (rates === null) return [];
  const bandwidth = bandwidthFor(rates, workingSet, 'mean');
  const read = bandwidth === undefined ? '–' : `${(bandwidth / 1e9).toFixed(1)} GB/s`;
  const { copy_bytes_per_second: copy } = rates;
  const copied = copy === undefined ? '' : `, ${(copy / 1e9).toFixed(1)} GB/s copied`;
  return [`- ${when}: ${read} read${copied}, ${(rates.mean_flops_per_second / 1e9).toFixed(1)} GFLOP/s`];
}

/** From the lowest to the highest that was seen. */
function range(values: readonly (number | null)[], unit: string): string[] {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return [];
  const [low, high] = [Math.min(...known).toFixed(0), Math.max(...known).toFixed(0)];
  return [`${low === high ? low : `${low} to ${high}`} ${unit}`];
}

function gpuLine({ gpu = [] }: Benchmark['conditions']): string[] {
  if (gpu.length === 0) return [];
  const parts = [
    ...range(
      gpu.map(({ sm_mhz }) => sm_mhz),
      'MHz (multiprocessors)',
    ),
    ...range(
      gpu.map(({ memory_mhz }) => memory_mhz),
      'MHz (memory)',
    ),
    ...range(
      gpu.map(({ celsius }) => celsius),
      '°C',
    ),
    ...range(
      gpu.map(({ watts }) => watts),
      'W',
    ),
  ];
  return [`- GPU after each run: ${parts.join(', ')}`];
}

function comparisonLines(benchmark: Benchmark): string[] {
  if (benchmark.baseline === null)
    return [`No baseline: ${inlineText(benchmark.baseline_absent_because ?? 'no reason given')}.`];
  const baseline = inlineText(benchmark.baseline_name ?? benchmark.baseline.name);
  return benchmark.comparison.map(({ metric, ratio, median_ratio, low, high, rounds }) => {
    const interval =
      low === null || high === null ? '' : `, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}`;
    const runs = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
    return `- ${metric}: **${ratio.toFixed(3)}x** ${baseline} (medians ${median_ratio.toFixed(3)}x${interval}, ${runs})`;
  });
}

/** The benchmark of a report as Markdown; nothing where there is none. */
export function renderBenchmark(value: unknown): string {
  const parsed = Benchmark.safeParse(value);
  if (!parsed.success) return '';
  const benchmark = parsed.data;
  const { workload, conditions, engine, baseline, warnings } = benchmark;
  const names = [engine, ...(baseline === null ? [] : [baseline])].map(({ name }) => inlineText(name));
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return [
    '## Benchmark',
    '',
    `${workload.prompt_tokens} prompt tokens, ${workload.output_tokens} output tokens, concurrency ${workload.concurrency}; ${benchmark.mode}, ${benchmark.rounds} rounds (${benchmark.stopped_because}); ${engine.threads} threads on ${conditions.cores} cores of ${inlineText(conditions.cpu)}.`,
    '',
    ...table(['', ...names], engineRows(benchmark)),
    '',
    ...comparisonLines(benchmark),
    '',
    `Measured on this machine in the same job, at the working set of a decoding step (${(engine.bytes_per_token / 1e6).toFixed(1)} MB):`,
    ...rateLine('before', benchmark.rates_before, engine.bytes_per_token),
    ...rateLine('after', benchmark.rates_after, engine.bytes_per_token),
    `- load ${show(conditions.loadavg_before)} before, ${show(conditions.loadavg_after)} after; other processes ${percent(conditions.foreign_cpu_share)}, steal ${percent(conditions.steal_share)} of the CPU`,
    ...gpuLine(conditions),
    ...(warnings.length === 0
      ? []
      : ['', ...warnings.map((warning) => `> **Caution:** ${inlineText(warning)}.`)]),
    '',
  ].join('\n');
}
