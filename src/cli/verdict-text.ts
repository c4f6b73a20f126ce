import type { Report } from '../model/report.ts';
import { listCoverage, verdictWords } from '../model/show-verdict.ts';
import { renderReport } from '../verification/render-report.ts';

/** The report for a terminal; where gates had no device, its end says what that leaves open. */
export function verdictText(report: Report): string {
  const page = renderReport(report);
  if (report.verdict !== 'not-run-on-device') return page;
  const open = report.goals
    .filter(({ status }) => status === 'not-measured')
    .map(({ metric, written }) => `${metric} ${written}`);
  return [
    page,
    `Verdict: ${verdictWords[report.verdict]}`,
    ...listCoverage(report).map((line) => `- ${line}`),
    ...(open.length === 0 ? [] : [`- Goals not measured: ${open.join('; ')}.`]),
  ].join('\n');
}
