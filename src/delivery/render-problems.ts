import type { Problem } from '../model/problem.ts';
import type { RunSource } from '../model/run-record.ts';
import { codeBlock, codeSpan, inlineText, messageText, shorten } from './escape-text.ts';
import { count, details, paragraphs } from './markdown.ts';
import type { RunView } from './run-view.ts';

/** Lines above and below the one that a frame is about. */
const context = 1;
const longestLine = 120;
/** Problems shown open; the others are folded. */
const shownOpen = 15;

/** The lines around a place, numbered, with a caret under it. */
export function codeFrame(text: string, line: number, column: number | undefined): string {
  const lines = text.split(/\r\n|\r|\n/);
  const first = Math.max(1, line - context);
  const last = Math.min(lines.length, line + context);
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

function renderProblem(problem: Problem, text: string, source: RunSource): string {
  const head = [placeOf(problem, source), problem.path === undefined ? '' : codeSpan(problem.path)]
    .filter((part) => part !== '')
    .join(' · ');
  const what = [
    messageText(problem.message),
    problem.suggestion === undefined ? '' : messageText(problem.suggestion),
  ]
    .filter((part) => part !== '')
    .join(' ');
  const severity = problem.severity === 'warning' ? 'Warning: ' : '';
  const frame = problem.line === undefined ? '' : codeFrame(text, problem.line, problem.column);
  return paragraphs(head === '' ? `${severity}${what}` : `**${head}**<br>${severity}${what}`, frame);
}

/** Every problem with its place and the lines around it; then what is not covered yet. */
export function renderProblems(view: RunView): string {
  const { problems } = view;
  if (problems === undefined) return '';
  const { source, state } = view.run;
  const all = problems.problems.map((problem) => renderProblem(problem, state.input.text, source));
  const rest = all.slice(shownOpen);
  return paragraphs(
    ...all.slice(0, shownOpen),
    rest.length > 0 && details(`${count(rest.length, 'more problem')}`, rest.join('\n\n')),
    renderNotCovered(problems.notCovered),
  );
}

/** What was understood and has no knowledge behind it. */
export function renderNotCovered(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return paragraphs(
    '**Understood, but not covered by knowledge yet:**',
    lines.map((line) => `- ${inlineText(line)}`).join('\n'),
  );
}

/** What the person does about problems, where they asked. */
export function adviseOnProblems(source: RunSource): string {
  return source.path === null
    ? 'Nothing was started. Edit the description above and save it: I read it again by myself.'
    : `Nothing was started. Push a corrected ${codeSpan(source.path)} to this pull request: I read it again by myself.`;
}
