import type { Problem } from '../model/problem.ts';

export interface Place {
  /** 1-based. */
  readonly line: number;
  /** 1-based, UTF-16 code units. */
  readonly column: number;
}

/** Where in the written file a dotted path stands; its nearest written ancestor where it was not written. */
export type Locate = (path: string) => {
  readonly line?: number;
  readonly column?: number;
  readonly file?: string;
};

/** Beyond this many, a list of problems helps nobody. */
export const maxProblems = 50;

/** At most `maxProblems`, errors before warnings where some must go, each group in the order of the file. */
export function tidyProblems(problems: readonly Problem[]): Problem[] {
  const inOrder = [...problems].sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
  if (inOrder.length <= maxProblems) return inOrder;
  const errors = inOrder.filter((problem) => problem.severity === 'error');
  const kept = (errors.length > 0 ? errors : inOrder).slice(0, maxProblems);
  const rest = inOrder.length - kept.length;
  const severity = errors.length > 0 ? 'error' : 'warning';
  return [
    ...kept,
    { severity, code: 'more-problems', message: `and ${rest} or more others that are not listed.` },
  ];
}

/** Written text made safe to print on one line: control, invisible and bidirectional characters escaped, cut at 60. */
export function showText(text: string): string {
  const escaped = Array.from(text.slice(0, 200), (character) => {
    const code = character.codePointAt(0)!;
    const isPlain =
      code >= 32 && code !== 127 && !/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u.test(character);
    return isPlain ? character : `\\u{${code.toString(16)}}`;
  }).join('');
  return escaped.length > 60 || text.length > 200 ? `${escaped.slice(0, 57)}…` : escaped;
}
