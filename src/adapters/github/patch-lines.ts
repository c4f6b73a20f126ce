/** Lines of the new file that a hunk shows: what GitHub accepts a comment on, side RIGHT. */
export interface Hunk {
  readonly firstLine: number;
  readonly lastLine: number;
}

/** The hunks of a file's patch, as `GET …/pulls/{n}/files` gives it. A hunk that only deletes shows no new line. */
export function parseHunks(patch: string): readonly Hunk[] {
  const hunks: Hunk[] = [];
  for (const header of patch.matchAll(/^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm)) {
    const firstLine = Number(header[1]);
    const count = header[2] === undefined ? 1 : Number(header[2]);
    if (count > 0) hunks.push({ firstLine, lastLine: firstLine + count - 1 });
  }
  return hunks;
}

/** Whether GitHub accepts a comment on `line`, or on `startLine` to `line`: inside one hunk, start before the end. */
export function isCommentable(
  patch: string | undefined,
  line: number,
  startLine: number | undefined,
): boolean {
  if (patch === undefined) return false;
  if (startLine !== undefined && startLine >= line) return false;
  return parseHunks(patch).some(
    ({ firstLine, lastLine }) => (startLine ?? line) >= firstLine && line <= lastLine,
  );
}
