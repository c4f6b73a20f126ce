import { deviceRemark, emulationWords, goalRemark, notRunWords } from '../model/device-words.ts';
import { codeSpan, inlineText } from '../model/escape-text.ts';
import type { Finding, GateResult, GoalVerdict, Measurements, Report } from '../model/report.ts';
import { verdictWords } from '../model/show-verdict.ts';
import { toVerdict } from '../model/verdict.ts';
import { renderBenchmark } from './bench-render.ts';
import { localise } from './localise.ts';

const shownFindings = 10;
const marks: Readonly<Record<GateResult['status'], string>> = {
  passed: 'passed',
  failed: '**failed**',
  skipped: 'not run',
  'not-applicable': 'not applicable',
  'not-run': notRunWords,
};

/** A number; text has no place among figures. */
function figure(value: Measurements[string] | undefined): string {
  if (typeof value !== 'number') return '–';
  return Number.isInteger(value) || Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

function measurement(value: Measurements[string]): string {
  return typeof value === 'number' ? figure(value) : String(value);
}

const repeatForm = /^npx metainfer verify (?!-)[\p{L}\p{N}_.+/-]{1,300} --seed (\d{1,16})$/u;

/** The command that repeats a report; undefined where it is another than this program writes. */
function repeatCommand({ repeat, inputs }: Report): string | undefined {
  return repeatForm.exec(repeat)?.[1] === String(inputs.runSeed) ? codeSpan(repeat, 'text', 400) : undefined;
}

function gateRow(gate: GateResult): string {
  const figures = Object.entries(gate.measurements)
    .map(([name, value]) => `${name} ${measurement(value)}`)
    .join(', ');
  const detail = gate.reason ?? figures;
  const remark = gate.status === 'not-run' ? undefined : deviceRemark(gate);
  const outcome = `${marks[gate.status]}${remark === undefined ? '' : ` (${remark})`}`;
  return `| ${gate.gate} | ${outcome} | ${gate.seconds.toFixed(1)} s | ${inlineText(detail)} |`;
}

function findingLine({ gate, contract, file, line, message }: Finding): string {
  const place = file === null ? '' : ` ${codeSpan(`${file}${line === null ? '' : `:${line}`}`)}`;
  return `- ${gate}${contract === null ? '' : ` · ${inlineText(contract)}`}${place}: ${inlineText(message)}`;
}

function goalRow(goal: GoalVerdict, report: Report): string {
  const remark = goalRemark(goal, report);
  const measured = goal.measured === null ? (goal.note ?? '-') : figure(goal.measured);
  return `| ${inlineText(goal.metric)} | ${codeSpan(goal.written, 'cell')} | ${inlineText(measured)} | ${goal.status}${remark === undefined ? '' : ` (${remark})`} |`;
}

/** What nothing was said about, and what little was said, for want of a GPU; empty where it was not wanting. */
function deviceLines({ gates }: Report): string[] {
  const named = (remark: string) =>
    gates.filter((gate) => deviceRemark(gate) === remark).map(({ gate }) => gate);
  const [left, emulated] = [named(notRunWords), named(emulationWords)];
  return [
    ...(left.length === 0 ? [] : [`Not run on a device: ${left.join(', ')}.`]),
    ...(emulated.length === 0 ? [] : [`In ${emulationWords}: ${emulated.join(', ')}.`]),
  ];
}

function cudaLines({ cuda }: Report['environment']): string[] {
  if (cuda === undefined) return [];
  const { compiler, flags, device } = cuda;
  const shown =
    device === null
      ? `none here (${notRunWords})`
      : `${device.name}, compute capability ${device.computeCapability}, ${(device.memoryBytes / 2 ** 30).toFixed(0)} GiB, driver ${device.driver}`;
  return [`- GPU: ${inlineText(shown)}; ${inlineText(compiler)} ${inlineText(flags.join(' '))}`];
}

/** The report as a page for a person: verdict, gates, findings, goals, what was in force, how to repeat it. */
export function renderReport(report: Report): string {
  const { engine, inputs, environment } = report;
  const verdict = toVerdict(report);
  const findings = report.gates.flatMap((gate) => gate.findings);
  const lines = [
    `# ${inlineText(engine.name)}: ${verdictWords[report.verdict]}`,
    '',
    ...verdict.reasons.map((reason) => `- ${inlineText(reason)}`),
    ...(verdict.reasons.length > 0 ? [''] : []),
    ...deviceLines(report).flatMap((line) => [line, '']),
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
    if (suspects[0] !== undefined) lines.push('', `First suspect: ${inlineText(suspects[0].contract)}.`);
    lines.push('');
  }
  if (report.goals.length > 0) {
    lines.push(
      '## Goals',
      '',
      '| metric | asked | measured | outcome |',
      '|---|---|---|---|',
      ...report.goals.map((goal) => goalRow(goal, report)),
      '',
    );
  }
  const speed = renderBenchmark(report.benchmark);
  if (speed !== '') lines.push(speed, '');
  const { protection } = environment;
  const repeat = repeatCommand(report);
  lines.push(
    '## How',
    '',
    `- engine: ${engine.lineCount} lines of C++, tree \`${engine.treeSha256.slice(0, 16)}\``,
    `- weights: ${inlineText(inputs.weights.source)}, \`${inputs.weights.sha256.slice(0, 16)}\` (${inputs.weights.method})`,
    `- machine: ${inlineText(environment.cpu)}, ${environment.cores} cores; ${inlineText(environment.compiler)} ${inlineText(environment.compilerFlags.join(' '))}`,
    ...cudaLines(environment),
    `- sandbox: ${protection.sandbox} (${inlineText(protection.reason)}); ${inlineText(protection.limits.join(', '))}`,
    ...(repeat === undefined ? [] : [`- repeat: ${repeat}`]),
    '',
  );
  return lines.join('\n');
}

/** The few figures that an engine's own README shows. */
export function renderFigures(report: Report): string {
  const gates = report.gates
    .filter(({ status }) => status === 'passed')
    .map((gate) => `${gate.gate}${gate.ranOn === 'emulation' ? ` (${emulationWords})` : ''}`);
  const logits = report.gates.find((gate) => gate.gate === 'logits')?.measurements;
  const bench = report.gates.find((gate) => gate.gate === 'bench')?.measurements;
  const ratio = bench?.decode_tokens_per_second_ratio;
  const { cpu, compiler } = report.environment;
  const repeat = repeatCommand(report);
  return [
    `Verdict: **${verdictWords[report.verdict]}**; gates passed: ${gates.join(', ')}.`,
    ...deviceLines(report).slice(0, report.verdict === 'not-run-on-device' ? 1 : 0),
    ...(logits?.max_abs === undefined
      ? []
      : [`Largest logit error ${figure(logits.max_abs)}, mean KLD ${figure(logits.mean_kld)}.`]),
    ...(bench === undefined
      ? []
      : [
          `Decode ${figure(bench.decode_tokens_per_second)} tokens/s${ratio === undefined ? '' : ` (${figure(ratio)}x the baseline)`}, prefill ${figure(bench.prefill_tokens_per_second)} tokens/s.`,
        ]),
    `${inlineText(cpu, 120)}, ${inlineText(compiler, 120)}.${repeat === undefined ? '' : ` Repeat: ${repeat}.`}`,
  ].join('\n');
}
