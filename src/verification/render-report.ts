import type { Finding, GateResult, GoalVerdict, Report } from '../model/report.ts';
import { toVerdict } from '../model/verdict.ts';
import { renderBenchmark } from './bench-render.ts';
import { localise } from './localise.ts';

const shownFindings = 10;
const marks: Readonly<Record<GateResult['status'], string>> = {
  passed: 'passed',
  failed: '**failed**',
  skipped: 'not run',
  'not-applicable': 'not applicable',
};

/** What an engine wrote must not become markup. */
function plain(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\`*[\]|~]|<(?=[a-z/!?])|(?<!\w)_|_(?!\w)/gi, '\\$&')
    .slice(0, 600);
}

function figure(value: string | number | boolean | null): string {
  if (typeof value !== 'number') return String(value);
  return Number.isInteger(value) || Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

function gateRow(gate: GateResult): string {
  const figures = Object.entries(gate.measurements)
    .map(([name, value]) => `${name} ${figure(value)}`)
    .join(', ');
  const detail = gate.reason ?? figures;
  return `| ${gate.gate} | ${marks[gate.status]} | ${gate.seconds.toFixed(1)} s | ${plain(detail)} |`;
}

function findingLine(finding: Finding): string {
  const place =
    finding.file === null ? '' : ` \`${finding.file}${finding.line === null ? '' : `:${finding.line}`}\``;
  return `- ${finding.gate}${finding.contract === null ? '' : ` · ${finding.contract}`}${place}: ${plain(finding.message)}`;
}

function goalRow(goal: GoalVerdict): string {
  const measured = goal.measured === null ? (goal.note ?? '-') : figure(goal.measured);
  return `| ${plain(goal.metric)} | ${plain(goal.written)} | ${plain(measured)} | ${goal.status} |`;
}

/** The report as a page for a person: verdict, gates, findings, goals, what was in force, how to repeat it. */
export function renderReport(report: Report): string {
  const { engine, inputs, environment } = report;
  const verdict = toVerdict(report);
  const findings = report.gates.flatMap((gate) => gate.findings);
  const lines = [
    `# ${plain(engine.name)}: ${report.verdict}`,
    '',
    ...verdict.reasons.map((reason) => `- ${plain(reason)}`),
    ...(verdict.reasons.length > 0 ? [''] : []),
    '| gate | outcome | time | figures |',
    '|---|---|---|---|',
    ...report.gates.map(gateRow),
    '',
  ];
  if (findings.length > 0) {
    const suspects = localise(report);
    lines.push('## Findings', '', ...findings.slice(0, shownFindings).map(findingLine));
    if (findings.length > shownFindings)
      lines.push(`- … and ${findings.length - shownFindings} more in report.json`);
    if (suspects[0] !== undefined) lines.push('', `First suspect: ${suspects[0].contract}.`);
    lines.push('');
  }
  if (report.goals.length > 0) {
    lines.push(
      '## Goals',
      '',
      '| metric | asked | measured | outcome |',
      '|---|---|---|---|',
      ...report.goals.map(goalRow),
      '',
    );
  }
  const speed = renderBenchmark(report.benchmark);
  if (speed !== '') lines.push(speed, '');
  const { protection } = environment;
  lines.push(
    '## How',
    '',
    `- engine: ${engine.lineCount} lines of C++, tree \`${engine.treeSha256.slice(0, 16)}\``,
    `- weights: ${plain(inputs.weights.source)}, \`${inputs.weights.sha256.slice(0, 16)}\` (${inputs.weights.method})`,
    `- machine: ${plain(environment.cpu)}, ${environment.cores} cores; ${plain(environment.compiler)} ${plain(environment.compilerFlags.join(' '))}`,
    `- sandbox: ${protection.sandbox} (${plain(protection.reason)}); ${plain(protection.limits.join(', '))}`,
    `- repeat: \`${report.repeat.replaceAll('`', '')}\``,
    '',
  );
  return lines.join('\n');
}

/** The few figures that an engine's own README shows. */
export function renderFigures(report: Report): string {
  const gates = report.gates.filter((gate) => gate.status === 'passed').map((gate) => gate.gate);
  const logits = report.gates.find((gate) => gate.gate === 'logits')?.measurements;
  const bench = report.gates.find((gate) => gate.gate === 'bench')?.measurements;
  const ratio = bench?.decode_tokens_per_second_ratio;
  return [
    `Verdict: **${report.verdict}**; gates passed: ${gates.join(', ')}.`,
    ...(logits?.max_abs === undefined
      ? []
      : [`Largest logit error ${figure(logits.max_abs)}, mean KLD ${figure(logits.mean_kld ?? null)}.`]),
    ...(bench === undefined
      ? []
      : [
          `Decode ${figure(bench.decode_tokens_per_second ?? null)} tokens/s${ratio === undefined ? '' : ` (${figure(ratio)}x the baseline)`}, prefill ${figure(bench.prefill_tokens_per_second ?? null)} tokens/s.`,
        ]),
    `${plain(report.environment.cpu)}, ${plain(report.environment.compiler)}. Repeat: \`${report.repeat.replaceAll('`', '')}\`.`,
  ].join('\n');
}
