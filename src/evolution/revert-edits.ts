import { findDirectives, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { SabotageEntry } from '../model/sabotage.ts';
import { diffLines, type Hunk } from './diff-lines.ts';

type Edit = SabotageEntry['edits'][number];

/** The way back from a right text to a wrong one. */
export interface Reversion {
  readonly edits: readonly Edit[];
  /** The lines at each edit, for people. */
  readonly places: readonly { readonly right: string; readonly wrong: string }[];
}

/** A text that was written anew shows no single mistake. */
const mostLines = 24;
const mostHunks = 4;

/**
 * The smallest edits that make the wrong text of the right one again, comments apart; each finds its text exactly once.
 * Undefined where too much differs, or nothing that is compiled. Undefined too where a text does
 * not end with a newline, as all that agents write does: its last line is no line as others are.
 */
export function revertEdits(right: string, wrong: string): Reversion | undefined {
  if (!right.endsWith('\n') || !wrong.endsWith('\n')) return undefined;
  const [lines, other] = [right.split('\n'), wrong.split('\n')];
  const hunks = diffLines(lines, other).filter((hunk) => isCode(hunk, lines, other));
  const size = hunks.reduce(
    (sum, hunk) => sum + (hunk.end - hunk.start) + (hunk.otherEnd - hunk.otherStart),
    0,
  );
  if (hunks.length === 0 || hunks.length > mostHunks || size > mostLines) return undefined;
  const goal = replaceHunks(lines, other, hunks);
  const edits = hunks.map((hunk) => toEdit(right, lines, other, hunk));
  if (apply(right, edits) !== goal) return undefined;
  const places = hunks.map((hunk) => ({
    right: lines.slice(hunk.start, hunk.end).join('\n'),
    wrong: other.slice(hunk.otherStart, hunk.otherEnd).join('\n'),
  }));
  return { edits, places };
}

function isCode(hunk: Hunk, lines: readonly string[], other: readonly string[]): boolean {
  return (
    compiled(lines.slice(hunk.start, hunk.end)) !== compiled(other.slice(hunk.otherStart, hunk.otherEnd))
  );
}

function compiled(lines: readonly string[]): string {
  const text = lines.join('\n');
  const directives = findDirectives(text).map(({ written }) => written);
  return [...directives, ...tokenizeCpp(text).map((token) => token.text)].join(' ');
}

function replaceHunks(lines: readonly string[], other: readonly string[], hunks: readonly Hunk[]): string {
  const result = [...lines];
  for (const hunk of hunks.toReversed())
    result.splice(hunk.start, hunk.end - hunk.start, ...other.slice(hunk.otherStart, hunk.otherEnd));
  return result.join('\n');
}

/** As `metainfer knowledge sabotage` applies them; undefined where one does not find its text once. */
function apply(text: string, edits: readonly Edit[]): string | undefined {
  return edits.reduce((source: string | undefined, { find, replace }) => {
    const parts = source?.split(find);
    return parts?.length === 2 ? parts.join(replace) : undefined;
  }, text);
}

function toEdit(right: string, lines: readonly string[], other: readonly string[], hunk: Hunk): Edit {
  const begin = lines.slice(0, hunk.start).reduce((sum, line) => sum + line.length + 1, 0);
  const mine = lines
    .slice(hunk.start, hunk.end)
    .map((line) => `${line}\n`)
    .join('');
  const theirs = other
    .slice(hunk.otherStart, hunk.otherEnd)
    .map((line) => `${line}\n`)
    .join('');
  const head = sharedLength(mine, theirs);
  const tail = sharedLength([...mine.slice(head)].reverse(), [...theirs.slice(head)].reverse());
  let start = begin + head;
  let end = begin + mine.length - tail;
  const middle = theirs.slice(head, theirs.length - tail);
  // Whole words, and as many of them as it takes to be found once.
  while (isWord(right[start - 1])) start--;
  while (isWord(right[end])) end++;
  while (!isOnce(right, right.slice(start, end)) && (start > 0 || end < right.length)) {
    start = wordBefore(right, start);
    end = wordAfter(right, end);
  }
  const [from, to] = [begin + head, begin + mine.length - tail];
  return {
    find: right.slice(start, end),
    replace: right.slice(start, from) + middle + right.slice(to, end),
  };
}

function sharedLength(a: ArrayLike<string>, b: ArrayLike<string>): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

function isOnce(text: string, part: string): boolean {
  return part.trim() !== '' && text.split(part).length === 2;
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}

function wordBefore(text: string, from: number): number {
  let start = Math.max(0, from - 1);
  while (start > 0 && isWord(text[start]) && isWord(text[start - 1])) start--;
  return start;
}

function wordAfter(text: string, from: number): number {
  let end = Math.min(text.length, from + 1);
  while (isWord(text[end - 1]) && isWord(text[end])) end++;
  return end;
}
