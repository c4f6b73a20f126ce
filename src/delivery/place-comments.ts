import type { ChangedFile, ReviewComment } from '../model/delivery.ts';
import { paragraphs } from './markdown.ts';

/** Something to say about a place in the repository. `line` null: about the whole file; `path` null: about no file. */
export interface Note {
  readonly path: string | null;
  readonly line: number | null;
  readonly body: string;
}

/** What became of the notes; together they hold every one of them. */
export interface Placed<N extends Note> {
  readonly inline: readonly ReviewComment[];
  readonly fileLevel: readonly { readonly path: string; readonly body: string }[];
  /** For the review's own text. */
  readonly rest: readonly N[];
}

/** Line numbers of the new file that a patch shows, added or not: the only ones GitHub takes a comment on. */
export function commentableLines(patch: string): ReadonlySet<number> {
  const lines = new Set<number>();
  let next = 0;
  let left = 0;
  for (const line of patch.split('\n')) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk !== null && left <= 0) {
      next = Number(hunk[1]);
      left = Number(hunk[2] ?? 1);
    } else if (left > 0 && (line.startsWith('+') || line.startsWith(' ') || line === '')) {
      lines.add(next);
      next += 1;
      left -= 1;
    }
  }
  return lines;
}

export interface PlaceLimits {
  /** A reader gives up on more. */
  readonly inline: number;
  /** Each is a request of its own. */
  readonly fileLevel: number;
}

/** Inline where the line is in the diff, else on the file, else left over. Notes on one line become one comment. */
export function placeComments<N extends Note>(
  notes: readonly N[],
  files: readonly ChangedFile[],
  limits: PlaceLimits,
): Placed<N> {
  const shown = new Map(
    files
      .filter((file) => file.status !== 'removed')
      .map((file) => [file.path, commentableLines(file.patch ?? '')]),
  );
  const inline = new Map<string, ReviewComment>();
  const fileLevel = new Map<string, { path: string; body: string }>();
  const rest: N[] = [];
  for (const note of notes) {
    const { path, line, body } = note;
    const lines = path === null ? undefined : shown.get(path);
    if (path === null || lines === undefined) rest.push(note);
    else if (line !== null && lines.has(line)) {
      const key = `${path}:${line}`;
      if (!add(inline, key, { path, line, body }, limits.inline)) rest.push(note);
    } else {
      const placed = line === null ? body : paragraphs(`Line ${line}:`, body);
      if (!add(fileLevel, path, { path, body: placed }, limits.fileLevel)) rest.push(note);
    }
  }
  return { inline: [...inline.values()], fileLevel: [...fileLevel.values()], rest };
}

const longestComment = 20_000;

/** Joins what stands at the same place; false where there is no more room. */
function add<C extends { readonly body: string }>(
  placed: Map<string, C>,
  key: string,
  comment: C,
  limit: number,
): boolean {
  const there = placed.get(key);
  if (there === undefined && placed.size >= limit) return false;
  const body = there === undefined ? comment.body : `${there.body}\n\n---\n\n${comment.body}`;
  if (there !== undefined && body.length > longestComment) return false;
  placed.set(key, { ...comment, body });
  return true;
}
