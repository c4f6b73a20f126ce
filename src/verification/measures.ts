/** How far an engine's rows are from the oracle's. */
export interface Comparison {
  readonly maxAbs: number;
  /** Σ(got − wanted)² / Σ wanted² over all rows. */
  readonly nmse: number;
  /** Smallest cosine of a row. */
  readonly minCosine: number;
  /** First place that is not finite though the reference is. */
  readonly notFinite: { readonly row: number; readonly column: number } | null;
  /** Place of maxAbs. */
  readonly worst: {
    readonly row: number;
    readonly column: number;
    readonly wanted: number;
    readonly got: number;
  };
}

export function compareRows(wanted: readonly Float64Array[], got: readonly Float32Array[]): Comparison {
  let maxAbs = 0;
  let squares = 0;
  let errors = 0;
  let minCosine = 1;
  let notFinite: Comparison['notFinite'] = null;
  let worst = { row: 0, column: 0, wanted: 0, got: 0 };
  for (const [row, reference] of wanted.entries()) {
    const values = got[row] as Float32Array;
    let [dot, left, right] = [0, 0, 0];
    for (let column = 0; column < reference.length; column++) {
      const a = reference[column]!;
      const b = values[column]!;
      if (!Number.isFinite(b)) notFinite ??= { row, column };
      const difference = Math.abs(a - b);
      errors += difference * difference;
      dot += a * b;
      left += a * a;
      right += b * b;
      if (difference > maxAbs) {
        maxAbs = difference;
        worst = { row, column, wanted: a, got: b };
      }
    }
    squares += left;
    if (left > 0) minCosine = Math.min(minCosine, right > 0 ? dot / Math.sqrt(left * right) : 0);
  }
  const nmse = notFinite === null ? (errors === 0 ? 0 : errors / squares) : Number.NaN;
  return { maxAbs: notFinite === null ? maxAbs : Number.NaN, nmse, minCosine, notFinite, worst };
}

/** KL divergence of softmax(got) from softmax(wanted), in nats; NaN where a logit is not finite. */
export function divergence(wanted: ArrayLike<number>, got: ArrayLike<number>): number {
  const left = logNormaliser(wanted);
  const right = logNormaliser(got);
  let sum = 0;
  for (let index = 0; index < wanted.length; index++) {
    const logLeft = wanted[index]! - left;
    sum += Math.exp(logLeft) * (logLeft - (got[index]! - right));
  }
  return Math.max(0, sum);
}

function logNormaliser(logits: ArrayLike<number>): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < logits.length; index++) highest = Math.max(highest, logits[index]!);
  let sum = 0;
  for (let index = 0; index < logits.length; index++) sum += Math.exp(logits[index]! - highest);
  return highest + Math.log(sum);
}

/** A figure as evidence holds it: JSON has no NaN and no infinity. */
export function figure(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Index of the largest; the lowest such index, as engines break ties. */
export function argmax(values: ArrayLike<number>): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) if (values[index]! > values[best]!) best = index;
  return best;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

type Difference = NonNullable<ReturnType<typeof firstDifference>>;

/** Where two ways to the same logits part, and what each gave, as evidence: `left` is what was expected. */
export function differenceOf({ row, column, left, right }: Difference) {
  return { position: row, token: column, wanted: figure(left), got: figure(right) };
}

/** First place where two lists of rows differ in any bit; -0 and 0 differ, the same NaN does not. */
export function firstDifference(
  a: readonly Float32Array[],
  b: readonly Float32Array[],
): { readonly row: number; readonly column: number; readonly left: number; readonly right: number } | null {
  for (let row = 0; row < Math.max(a.length, b.length); row++) {
    const left = a[row];
    const right = b[row];
    if (left === undefined || right === undefined || left.length !== right.length) {
      return { row, column: -1, left: left?.length ?? -1, right: right?.length ?? -1 };
    }
    const leftBits = new Uint32Array(left.buffer, left.byteOffset, left.length);
    const rightBits = new Uint32Array(right.buffer, right.byteOffset, right.length);
    for (let column = 0; column < left.length; column++) {
      if (leftBits[column] !== rightBits[column]) {
        return { row, column, left: left[column]!, right: right[column]! };
      }
    }
  }
  return null;
}
