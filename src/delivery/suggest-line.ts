import type { Problem } from '../model/problem.ts';

/**
 * The line as it would be right, where that is mechanical: the problem names the wrong word and exactly one better one,
 * and the word stands where the problem says. Undefined otherwise.
 */
export function suggestLine(text: string, problem: Problem): string | undefined {
  const better = /^Did you mean ([\w.@/-]{1,80})\?$/.exec(problem.suggestion ?? '')?.[1];
  const wrong = /"([^"\s]{1,80})"/.exec(problem.message)?.[1];
  if (better === undefined || wrong === undefined || problem.line === undefined) return undefined;
  const line = text.split(/\r\n|\r|\n/)[problem.line - 1];
  if (line === undefined || problem.column === undefined) return undefined;
  const start = line.indexOf(wrong, problem.column - 1);
  // A quoted value begins one further.
  if (start < 0 || start > problem.column) return undefined;
  return `${line.slice(0, start)}${better}${line.slice(start + wrong.length)}`;
}
