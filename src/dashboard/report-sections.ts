import { Benchmark, type SpeedTest } from '../model/benchmark.ts';
import { goalRemark } from '../model/device-words.ts';
import { type Html, type HtmlValue, html } from '../model/html.ts';
import type { Finding, GateResult, GoalVerdict, Report } from '../model/report.ts';
import { grouped, short } from '../model/show-number.ts';
import { placeWords, verdictWords } from '../model/show-verdict.ts';
import type { GithubLinks } from './github-links.ts';
import { showLink, showTable } from './page-frame.ts';

const shownFindings = 100;

const words = {
  met: ['good', '✓ met'],
  missed: ['bad', '✗ missed'],
  'not-measured': ['wait', '? not measured'],
  passed: ['good', '✓ passed'],
  failed: ['bad', '✗ failed'],
  skipped: ['wait', '– not run'],
  'not-applicable': ['soft', '– not applicable'],
  'not-run': ['wait', '○ not run'],
} as const;

function showWord(status: keyof typeof words): Html {
  const [kind, word] = words[status];
  return html`<span class="state ${kind}">${word}</span>`;
}

/** Three significant digits; tiny ones as a power of ten. */
export function showFigure(value: number | null): string {
  if (value === null) return '–';
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(2);
  return Number.isInteger(value) ? grouped(value) : short(value);
}

export function showGoals(report: Report): Html | false {
  const { goals } = report;
  if (goals.length === 0) return false;
  const rows = goals.map((goal) => [
    html`<code>${goal.metric}</code>`,
    html`<code>${goal.written}</code>`,
    showFigure(goal.measured),
    showFigure(goal.baseline),
    html`${showWord(goal.status)}${showNote(goal, report)}`,
  ]);
  const columns = [
    { head: 'Goal' },
    { head: 'Wanted' },
    { head: 'Measured', isFigure: true },
    { head: 'Baseline', isFigure: true },
    { head: 'Verdict' },
  ];
  return html`<h2>Goals</h2>\n${showTable(columns, rows)}`;
}

function showNote(goal: GoalVerdict, report: Report): Html | false {
  const isForWantOfDevice = goal.status === 'not-measured' && report.verdict === 'not-run-on-device';
  const shown = isForWantOfDevice ? verdictWords[report.verdict] : (goalRemark(goal, report) ?? goal.note);
  return shown !== null && html`<br><span class="soft">${shown}</span>`;
}

/** The figures of the plots as text: tokens per second with their spread, and the share of the physical limit. */
export function showSpeed({ benchmark: value }: Report): Html | false {
  const parsed = Benchmark.safeParse(value);
  if (!parsed.success) return false;
  const { baseline, baseline_name, baseline_absent_because, warnings } = parsed.data;
  const columns = [
    { head: 'Tokens/s' },
    { head: 'Runs', isFigure: true },
    { head: 'Engine', isFigure: true },
    { head: baseline_name ?? 'Baseline', isFigure: true },
    { head: 'Ratio', isFigure: true },
    { head: 'Physical limit', isFigure: true },
    { head: 'Reached', isFigure: true },
  ];
  const rows = [speedRow('decode', parsed.data), speedRow('prefill', parsed.data)];
  return html`<h2>Speed</h2>
${baseline === null && html`<p class="soft">No baseline: ${baseline_absent_because ?? 'none was asked for'}.</p>`}
${showTable(columns, rows)}
${warnings.map((warning) => html`<p class="wait">Caution: ${warning}.</p>`)}`;
}

function speedRow(what: 'decode' | 'prefill', benchmark: Benchmark): readonly HtmlValue[] {
  const { engine, baseline, comparison, physics } = benchmark;
  const ratio = comparison.find(({ metric }) => metric === `${what}_tokens_per_second`)?.ratio;
  const limits = physics.filter((check) => check.what === what).map((check) => check.limit_tokens_per_second);
  const limit = Math.min(...limits);
  return [
    html`${what} <span class="soft">${engine[what].test}</span>`,
    String(engine[what].samples_ts.length),
    showSpread(engine[what]),
    baseline === null ? '–' : showSpread(baseline[what]),
    ratio === undefined ? '–' : `${ratio.toFixed(2)}x`,
    limits.length === 0 ? '–' : showFigure(limit),
    limits.length === 0 ? '–' : showShare(engine[what].avg_ts / limit),
  ];
}

function showShare(share: number): string {
  const percent = 100 * share;
  return `${percent >= 10 ? Math.round(percent) : percent.toPrecision(2)} %`;
}

/** Mean and standard deviation of all runs, in tokens per second. */
export function showSpread({ avg_ts, stddev_ts }: SpeedTest): string {
  return `${showFigure(avg_ts)} ± ${showFigure(stddev_ts)}`;
}

export function showGates({ gates }: Report): Html {
  const hasPlaces = gates.some(({ ranOn, status }) => ranOn !== undefined || status === 'not-run');
  const rows = gates.map((gate) => [
    gate.gate,
    showWord(gate.status),
    ...(hasPlaces ? [placeWords(gate)] : []),
    `${gate.seconds.toFixed(1)} s`,
    detailOf(gate),
  ]);
  const columns = [
    { head: 'Gate' },
    { head: 'Outcome' },
    ...(hasPlaces ? [{ head: 'Where' }] : []),
    { head: 'Time', isFigure: true },
    { head: 'Figures' },
  ];
  return html`<h2>Gates</h2>\n${showTable(columns, rows)}`;
}

function detailOf(gate: GateResult): Html {
  if (gate.reason !== null) return html`<span class="soft">${gate.reason}</span>`;
  const figures = Object.entries(gate.measurements).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? showFigure(value) : value}`,
  );
  return html`<span class="soft">${figures.join(', ')}</span>`;
}

export function showFindings({ gates }: Report, links: GithubLinks): Html | false {
  const findings = gates.flatMap((gate) => gate.findings);
  if (findings.length === 0) return false;
  const left = findings.length - shownFindings;
  return html`<h2>Findings</h2>
<ol class="plain">${findings.slice(0, shownFindings).map((finding) => showFinding(finding, links))}</ol>
${left > 0 && html`<p class="soft">${left} more are in report.json.</p>`}`;
}

function showFinding(finding: Finding, links: GithubLinks): Html {
  const { file, line } = finding;
  const place =
    file !== null &&
    html` · ${showLink(links.engineLine(file, line), html`<code>${line === null ? file : `${file}:${line}`}</code>`)}`;
  const evidence = Object.entries(finding.evidence).map(([name, value]) => `${name}: ${value}`);
  return html`<li><strong>${finding.gate}</strong>${finding.contract !== null && html` · ${finding.contract}`}${place}
<div class="text">${finding.message}</div>
${evidence.length > 0 && html`<div class="soft">${evidence.join(' · ')}</div>`}</li>
`;
}

/** What was in force while it was measured, and how to repeat it. */
export function showConditions(report: Report): Html {
  const { engine, environment, inputs } = report;
  const { protection } = environment;
  const rows = [
    [
      'Engine',
      html`${grouped(engine.lineCount)} lines of C++, tree <code>${engine.treeSha256.slice(0, 16)}</code>`,
    ],
    [
      'Weights',
      html`${inputs.weights.source}, <code>${inputs.weights.sha256.slice(0, 16)}</code> (${inputs.weights.method})`,
    ],
    ['Machine', `${environment.cpu}, ${environment.cores} cores, ${environment.kernel}`],
    ['Compiler', html`${environment.compiler} <code>${environment.compilerFlags.join(' ')}</code>`],
    ...deviceRows(environment),
    ['Sandbox', `${protection.sandbox}: ${protection.reason}`],
    ['Repeat', html`<code>${report.repeat}</code>`],
  ];
  return html`<h2>Conditions</h2>\n${showTable([{ head: 'What' }, { head: 'How' }], rows)}`;
}

function deviceRows({ cuda }: Report['environment']): readonly (readonly HtmlValue[])[] {
  if (cuda === undefined) return [];
  const { compiler, flags, device } = cuda;
  const gpu =
    device === null
      ? 'none on this runner'
      : `${device.name}, compute capability ${device.computeCapability}, driver ${device.driver}`;
  return [
    ['CUDA', html`${compiler} <code>${flags.join(' ')}</code>`],
    ['GPU', gpu],
  ];
}
