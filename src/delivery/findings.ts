import type { Benchmark } from '../model/benchmark.ts';
import { codeBlock, codeSpan, inlineText } from '../model/escape-text.ts';
import type { Finding, Report } from '../model/report.ts';
import { short } from '../model/show-number.ts';
import { gateMeaning } from './gate-meaning.ts';
import { benchmarkOf, physicalLimit, showFigure, showShare } from './goals.ts';
import { details, paragraphs, table } from './markdown.ts';
import type { RunView } from './run-view.ts';

export function findingsOf(report: Report): readonly Finding[] {
  return report.gates.flatMap((gate) => gate.findings);
}

/** The place of a finding in the repository; null where it has none. */
export function repositoryPath(view: RunView, finding: Pick<Finding, 'file'>): string | null {
  const folder = view.run.state.github?.enginePath;
  if (finding.file === null || folder === undefined) return null;
  // A report is a claim: a path that leaves the engine's folder names no file of ours.
  if (!/^[\w.-]+(?:\/[\w.-]+)*$/.test(finding.file) || finding.file.split('/').includes('..')) return null;
  return `${folder}/${finding.file}`;
}

/**
 * The line that a finding is shown at: its own, or, where running code of a contract gave a wrong result, the definition
 * of the function that the contract's header declares. Null where neither is known.
 */
export function lineOf({ engine }: RunView, { gate, contract, file, line }: Finding): number | null {
  const isOfText = gate === 'static' || gate === 'build' || contract === null;
  if (line !== null || file === null || engine === undefined || isOfText) return line;
  const textOf = (path: string) => engine.files.find((candidate) => candidate.path === path)?.text;
  const header = textOf(file.replace(/\.(?:cpp|cu)$/, '.h')) ?? '';
  const lines = (textOf(file) ?? '').split('\n');
  // What computes gives nothing back and writes into a view; where nothing is like that, the first function will do.
  for (const kind of [/^void (\w+)\(/gm, /^[a-z][^(;\n]{0,200}\b(\w+)\(/gm]) {
    const names = [...header.matchAll(kind)].map(([, name]) => `${name}(`);
    const index = lines.findIndex(
      (text) => /^(?!static )[a-z]/.test(text) && names.some((name) => text.includes(` ${name}`)),
    );
    if (index >= 0) return index + 1;
  }
  return null;
}

/** One finding as a comment on its line: what, the proof, whose it is, what to do. */
export function renderFinding(finding: Finding, isByModel = false): string {
  const who = finding.contract === null ? '' : ` · ${codeSpan(finding.contract, 'text', 60)}`;
  const head = `**Gate ${codeSpan(finding.gate)} failed**${who}. It checks that ${gateMeaning[finding.gate]}.`;
  const isCompiler = finding.gate === 'build';
  const what = isCompiler
    ? codeBlock(finding.message.slice(0, 3000), 'text')
    : inlineText(finding.message, 2000);
  return paragraphs(head, what, renderEvidence(finding), advise(finding, isByModel));
}

/** One line of a list. */
export function findingLine(finding: Finding): string {
  const place =
    finding.file === null
      ? ''
      : ` ${codeSpan(`${finding.file}${finding.line === null ? '' : `:${finding.line}`}`)}`;
  const who = finding.contract === null ? '' : ` · ${codeSpan(finding.contract, 'text', 60)}`;
  return `- ${codeSpan(finding.gate)}${who}${place}: ${inlineText(finding.message, 400)}`;
}

function renderEvidence(finding: Finding): string {
  const rows = Object.entries(finding.evidence)
    .slice(0, 20)
    .map(([name, value]) => [codeSpan(name, 'cell', 60), showEvidence(value)]);
  if (rows.length === 0) return '';
  return details('Evidence', table(['What', 'Value'], rows));
}

function showEvidence(value: string | number | boolean | null): string {
  if (typeof value === 'number') return showFigure(value);
  return value === null ? '–' : codeSpan(String(value), 'cell', 300);
}

function advise(finding: Finding, isByModel: boolean): string {
  if (finding.contract === null) return '';
  if (isByModel)
    return 'A model wrote this file. To tell it what to change, answer here with `/metainfer fix <what is wrong>` once the run has ended.';
  return `The code of ${codeSpan(finding.contract, 'text', 60)} comes from knowledge: correct its realization there, not in this copy of it.`;
}

/** A missed goal of speed as a finding on the code that decides it. */
export interface SlowPlace {
  readonly file: string;
  readonly line: number;
  readonly body: string;
}

const speedGoals = /^(?:decode_|prefill_|output_|total_token_|request_|ttft_|tpot_|itl_|e2el_)/;

/** Where the time of a missed goal is spent: the matrix products, which move nearly every byte and do nearly every FLOP. */
export function findSlowPlace(view: RunView): SlowPlace | undefined {
  const { report, engine } = view;
  if (report === undefined) return undefined;
  const missed = report.goals.filter((goal) => goal.status === 'missed' && speedGoals.test(goal.metric));
  const benchmark = benchmarkOf(report);
  const source = engine?.files.find(({ path }) => /^linear_dense\.(?:cpp|cu)$/.test(path));
  if (missed.length === 0 || benchmark === null || source === undefined) return undefined;
  const line = 1 + source.text.split('\n').findIndex((text) => /^void \w+\(/.test(text));
  const goals = missed.map(
    (goal) =>
      `- ${codeSpan(goal.metric, 'text', 60)}: measured ${goal.measured === null ? '–' : showFigure(goal.measured)}, wanted ${codeSpan(goal.written, 'text', 60)}`,
  );
  return {
    file: source.path,
    line: Math.max(1, line),
    body: paragraphs(
      '**Too slow for what was asked**, and here is where the time goes: the matrix products.',
      goals.join('\n'),
      reached(benchmark),
      'A faster realization of `linear.dense` for this hardware helps, or a goal, number format or machine within reach of it.',
    ),
  };
}

/** The figure that says how much faster this machine could be. */
function reached(benchmark: Benchmark): string {
  const parts = (['decode', 'prefill'] as const).flatMap((what) => {
    const limit = physicalLimit(what, benchmark);
    if (limit === null) return [];
    const { avg_ts: speed } = benchmark.engine[what];
    return [`${what} reaches ${showShare(speed, limit)} of ${short(limit)} tokens/s`];
  });
  if (parts.length === 0) return '';
  return `By the memory bandwidth and FLOP rate measured in the same job, this machine allows more: ${parts.join(', ')}.`;
}
