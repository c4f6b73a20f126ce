import { Benchmark } from '../model/benchmark.ts';
import type { Report } from '../model/report.ts';
import { showSpread } from './report-sections.ts';

export const plotNames = ['speed'] as const;
export type PlotName = (typeof plotNames)[number];

/** The plots that a report has figures for, each with its content in words: alternative text and caption. */
export function listPlots(report: Report): { readonly name: PlotName; readonly description: string }[] {
  const parsed = Benchmark.safeParse(report.benchmark);
  if (!parsed.success) return [];
  const { engine, baseline } = parsed.data;
  const engines = baseline === null ? [engine] : [engine, baseline];
  const tests = (['decode', 'prefill'] as const).map(
    (test) => `${test}: ${engines.map((entry) => `${entry.name} ${showSpread(entry[test])}`).join(', ')}`,
  );
  return [
    { name: 'speed', description: `Tokens per second, mean ± standard deviation. ${tests.join('; ')}.` },
  ];
}
