import { codeBlock, codeSpan, messageText, shorten } from '../model/escape-text.ts';
import type { Problem } from '../model/problem.ts';
import type { RunSource } from '../model/run-record.ts';
import { count, details, paragraphs } from './markdown.ts';
import type { RunView } from './run-view.ts';

/** Lines above and below the one that a frame is about. */
const context = 1;
const longestLine = 120;
/** Problems shown open; the others are folded. */
const shownOpen = 15;

/** The lines around a place, numbered, with a caret under it. */
export function codeFrame(text: string, line: number, column: number | undefined): string {
  const lines = text.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/);
  const first = Math.max(1, line - context);
  const last = Math.max(line, Math.min(lines.length, line + context));
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number++) {
    const source = (lines[number - 1] ?? '').replaceAll('\t', ' ');
    frame.push(
      `${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${shorten(source, longestLine)}`,
    );
    if (number === line && column !== undefined && column <= longestLine) {
      frame.push(`  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`);
    }
  }
  return codeBlock(frame.join('\n'), 'text');
}

/** Where a problem is, in words that lead a person there. */
function placeOf(problem: Problem, source: RunSource): string {
  if (problem.line === undefined) return '';
  const column = problem.column === undefined ? '' : `:${problem.column}`;
  const place = `${problem.line}${column}`;
  if (source.path !== null) return `Line ${place}`;
  return `Line ${place} (line ${source.firstLine - 1 + problem.line} of the description)`;
}

/** What is wrong and what would be right, in one or two sentences. */
export function describeProblem(problem: Problem): string {
  const { path, message, suggestion } = problem;
  const severity = problem.severity === 'warning' ? 'Warning: ' : '';
  // Many messages begin with the field's name; once is enough.
  const rest =
    path !== undefined && message.startsWith(`${path} `) ? message.slice(path.length + 1) : undefined;
  const said = rest === undefined ? messageText(message) : `${codeSpan(path!)} ${messageText(rest)}`;
  const field = path === undefined || rest !== undefined ? '' : `${codeSpan(path)}: `;
  return `${severity}${field}${said}${suggestion === undefined ? '' : ` ${messageText(suggestion)}`}`;
}

/** A field that isn't there has no line to show, only one that it belongs under. */
function isMissing(problem: Problem): boolean {
  return problem.code === 'missing-key' || problem.line === undefined;
}

function renderProblem(problem: Problem, text: string, source: RunSource): string {
  const head = `**${placeOf(problem, source)}**<br>${describeProblem(problem)}`;
  return paragraphs(head, codeFrame(text, problem.line!, problem.column));
}

function renderMissing(problems: readonly Problem[], source: RunSource): string {
  if (problems.length === 0) return '';
  const lines = problems.map((problem) => {
    const place = placeOf(problem, source);
    return `- ${place === '' ? '' : `${place}: `}${describeProblem(problem)}`;
  });
  return paragraphs('**To be added**', lines.join('\n'));
}

/** Every problem with its place and the lines around it; then what is not covered yet. */
export function renderProblems(view: RunView): string {
  const { problems } = view;
  if (problems === undefined) return '';
  const { source, state } = view.run;
  const placed = problems.problems
    .filter((problem) => !isMissing(problem))
    .map((problem) => renderProblem(problem, state.input.text, source));
  const rest = placed.slice(shownOpen);
  return paragraphs(
    ...placed.slice(0, shownOpen),
    rest.length > 0 && details(count(rest.length, 'more problem'), rest.join('\n\n')),
    renderMissing(problems.problems.filter(isMissing), source),
    renderNotCovered(problems.notCovered),
  );
}

/** What was understood and has no knowledge behind it. */
export function renderNotCovered(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return paragraphs(
    '**Understood, but not covered by knowledge yet:**',
    lines.map((line) => `- ${messageText(line)}`).join('\n'),
  );
}

/** What the person does about problems, where they asked. */
export function adviseOnProblems(source: RunSource): string {
  return source.path === null
    ? 'Nothing was started. Edit the description above and save it: the bot reads it again on its own.'
    : `Nothing was started. Push a corrected ${codeSpan(source.path)} to this pull request: the bot reads it again on its own.`;
}
