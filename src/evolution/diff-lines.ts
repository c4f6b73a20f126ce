/** Lines [start, end) of the one text stand where lines [otherStart, otherEnd) of the other do. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly otherStart: number;
  readonly otherEnd: number;
}

/** Where two texts differ, by a longest common subsequence of their lines. Sizes are those of source files. */
export function diffLines(lines: readonly string[], other: readonly string[]): Hunk[] {
  const common = commonLengths(lines, other);
  const hunks: Hunk[] = [];
  let [at, otherAt] = [0, 0];
  let [start, otherStart] = [0, 0];
  const close = (): void => {
    if (at > start || otherAt > otherStart) hunks.push({ start, end: at, otherStart, otherEnd: otherAt });
  };
  while (at < lines.length || otherAt < other.length) {
    if (at < lines.length && otherAt < other.length && lines[at] === other[otherAt]) {
      close();
      at++;
      otherAt++;
      [start, otherStart] = [at, otherAt];
    } else if (
      otherAt >= other.length ||
      (at < lines.length && common(at + 1, otherAt) >= common(at, otherAt + 1))
    )
      at++;
    else otherAt++;
  }
  close();
  return hunks;
}

/** (i, j) → length of the longest common subsequence of what follows. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
  return (i, j) => table[i * width + j] ?? 0;
}
