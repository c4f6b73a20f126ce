/** Values of one dimension, in a fixed order. */
export type Axis<T> = readonly T[];

interface Pair {
  readonly left: readonly [axis: number, value: number];
  readonly right: readonly [axis: number, value: number];
}

/**
 * Rows with one value of each axis, such that every pair of values of two axes that `isCompatible` allows stands in at
 * least one row; greedy, so a few rows more than the least. No row where an axis has no value, or none fits.
 */
export function coverPairs<T>(
  axes: readonly Axis<T>[],
  isCompatible: (a: T, b: T) => boolean = () => true,
): T[][] {
  const fits = (row: readonly (number | undefined)[], axis: number, value: number): boolean =>
    row.every(
      (other, index) =>
        other === undefined || index === axis || isCompatible(axes[index]![other]!, axes[axis]![value]!),
    );
  const open = new Map(
    listPairs(axes, isCompatible).map((pair) => [keyOf(pair.left, pair.right), pair] as const),
  );
  const rows: number[][] = [];
  if (axes.some((axis) => axis.length === 0)) return [];
  for (const [key, pair] of open) {
    if (!open.has(key)) continue;
    const row = fillRow(axes, pair, open, fits);
    if (row === undefined) {
      // No row can hold this pair: a third axis has nothing that goes with both.
      open.delete(key);
      continue;
    }
    rows.push(row);
    for (const [left, a] of row.entries())
      for (const [right, b] of row.entries()) if (left < right) open.delete(keyOf([left, a], [right, b]));
  }
  if (rows.length === 0 && axes.length === 1) return axes[0]!.map((value) => [value]);
  return rows.map((row) => row.map((value, axis) => axes[axis]![value]!));
}

function keyOf(left: Pair['left'], right: Pair['right']): string {
  return `${left.join(':')} ${right.join(':')}`;
}

function listPairs<T>(axes: readonly Axis<T>[], isCompatible: (a: T, b: T) => boolean): Pair[] {
  return axes.flatMap((axis, left) =>
    axis.flatMap((a, valueA) =>
      axes.slice(left + 1).flatMap((other, offset) =>
        other.flatMap((b, valueB): Pair[] => {
          const right = left + 1 + offset;
          return isCompatible(a, b) ? [{ left: [left, valueA], right: [right, valueB] }] : [];
        }),
      ),
    ),
  );
}

type Fits = (row: readonly (number | undefined)[], axis: number, value: number) => boolean;

/** A full row with the pair in it: axis by axis the value that closes most open pairs, going back where nothing fits. */
function fillRow<T>(
  axes: readonly Axis<T>[],
  pair: Pair,
  open: ReadonlyMap<string, Pair>,
  fits: Fits,
): number[] | undefined {
  const start: (number | undefined)[] = axes.map(() => undefined);
  start[pair.left[0]] = pair.left[1];
  start[pair.right[0]] = pair.right[1];
  const fill = (row: readonly (number | undefined)[], axis: number): number[] | undefined => {
    if (axis === axes.length) return row as number[];
    if (row[axis] !== undefined) return fill(row, axis + 1);
    const ranked = axes[axis]!.map((_, value) => ({ value, gain: countOpen(row, axis, value, open) }))
      .filter(({ value }) => fits(row, axis, value))
      .sort((a, b) => b.gain - a.gain || a.value - b.value);
    for (const { value } of ranked) {
      const filled = fill(
        row.map((known, index) => (index === axis ? value : known)),
        axis + 1,
      );
      if (filled !== undefined) return filled;
    }
    return undefined;
  };
  return fill(start, 0);
}

function countOpen(
  row: readonly (number | undefined)[],
  axis: number,
  value: number,
  open: ReadonlyMap<string, Pair>,
): number {
  return row.reduce<number>((sum, other, index) => {
    if (other === undefined || index === axis) return sum;
    const key = index < axis ? keyOf([index, other], [axis, value]) : keyOf([axis, value], [index, other]);
    return sum + (open.has(key) ? 1 : 0);
  }, 0);
}
