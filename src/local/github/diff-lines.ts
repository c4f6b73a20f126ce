import type { LinePlace, Side } from './conversation-data.ts';

/** One line of a patch below a hunk's header. */
interface DiffLine {
  readonly hunk: number;
  /** Lines below the file's first `@@`; later headers count. */
  readonly position: number;
  readonly left: number | null;
  readonly right: number | null;
}

/** A file's patch, taken apart. */
export interface ParsedPatch {
  readonly lines: readonly DiffLine[];
  readonly texts: readonly string[];
  /** Position of each hunk's header; 0 for the first. */
  readonly headers: readonly number[];
}

/** Reads a patch as `GET …/pulls/{n}/files` gives it: from the first `@@` on. */
export function parsePatch(patch: string): ParsedPatch {
  const texts = patch.split('\n');
  const lines: DiffLine[] = [];
  const headers: number[] = [];
  let left = 0;
  let right = 0;
  texts.forEach((text, position) => {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (header !== null) {
      headers.push(position);
      left = Number(header[1]);
      right = Number(header[2]);
      return;
    }
    const hunk = headers.length - 1;
    if (text.startsWith('-')) lines.push({ hunk, position, left: left++, right: null });
    else if (text.startsWith('+')) lines.push({ hunk, position, left: null, right: right++ });
    else if (text.startsWith(' ')) lines.push({ hunk, position, left: left++, right: right++ });
  });
  return { lines, texts, headers };
}

/** Where a review comment is to stand, as the request says it. */
export interface WantedPlace {
  readonly line: number;
  readonly side: Side;
  readonly startLine: number | null;
  readonly startSide: Side | null;
}

/** `order`: the start is not above the line. The other problems are those of GitHub's messages. */
export type PlaceProblem = 'order' | 'line' | 'start-line';

export type Placed =
  | { readonly ok: true; readonly place: LinePlace; readonly diffHunk: string }
  | { readonly ok: false; readonly problems: readonly PlaceProblem[] };

/** Finds a comment's line in a patch by GitHub's rules: the line in a hunk, its start above it in the same hunk. */
export function placeComment(patch: ParsedPatch, wanted: WantedPlace): Placed {
  const startSide = wanted.startSide ?? wanted.side;
  const { startLine } = wanted;
  if (startLine !== null && startSide === wanted.side && startLine >= wanted.line) {
    return { ok: false, problems: ['order'] };
  }
  const line = findLine(patch, wanted.side, wanted.line);
  const start = startLine === null ? undefined : findLine(patch, startSide, startLine);
  const problems: PlaceProblem[] = [];
  if (line === undefined) problems.push('line');
  if (startLine !== null && (start === undefined || start.hunk !== line?.hunk)) problems.push('start-line');
  if (line === undefined || problems.length > 0) return { ok: false, problems };
  if (start !== undefined && start.position >= line.position) return { ok: false, problems: ['order'] };
  return {
    ok: true,
    place: {
      line: wanted.line,
      side: wanted.side,
      startLine,
      startSide: startLine === null ? null : startSide,
      position: line.position,
    },
    diffHunk: patch.texts.slice(patch.headers[line.hunk], line.position + 1).join('\n'),
  };
}

function findLine(patch: ParsedPatch, side: Side, number: number): DiffLine | undefined {
  const key = side === 'LEFT' ? 'left' : 'right';
  return patch.lines.find((line) => line[key] === number);
}

/** The place of a `position`, the older way to name a line; undefined where it is no line of a hunk. */
export function placeOfPosition(patch: ParsedPatch, position: number): WantedPlace | undefined {
  const found = patch.lines.find((line) => line.position === position);
  if (found === undefined) return undefined;
  const [line, side] =
    found.right !== null ? [found.right, 'RIGHT' as const] : [found.left!, 'LEFT' as const];
  return { line, side, startLine: null, startSide: null };
}
