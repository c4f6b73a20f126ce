import type { Problem } from '../../model/problem.ts';
import { Report } from '../../model/report.ts';
import { decideOutcome } from '../../model/verdict.ts';
import type { TreeFile } from '../read-tree.ts';

interface KeptReport {
  readonly report?: Report;
  readonly problems: readonly Problem[];
}

const read = new WeakMap<TreeFile, KeptReport>();

/** A file of knowledge/reports; only a pass that its own gates and goals bear out counts. */
export function readKeptReport(file: TreeFile): KeptReport {
  const known = read.get(file) ?? parseReport(file);
  read.set(file, known);
  return known;
}

function parseReport(file: TreeFile): KeptReport {
  const refuse = (code: string, message: string): KeptReport => ({
    problems: [{ severity: 'error', code, file: file.path, line: 1, message }],
  });
  const value = parseJson(file.text);
  const parsed = Report.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return refuse('report-unreadable', `no report: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  }
  const { data: report } = parsed;
  if (report.verdict !== 'passed')
    return refuse('report-not-passed', `the verdict is ${report.verdict}; only a passed run is evidence`);
  const outcome = decideOutcome(report.gates, report.goals);
  if (outcome !== 'passed')
    return refuse('report-contradicts-itself', `says "passed", but its gates and goals mean "${outcome}"`);
  return { report, problems: [] };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
