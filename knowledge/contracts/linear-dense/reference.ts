import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';

/**
 * out[r, first + o] = Σ x[r, i] · weights[o, i] for o below `count`; float64. `weights` is a block of rows of a matrix
 * [.., width]; `stride` is the number of columns of `out`. Two rows by four outputs at a time: the sums stay in
 * registers and each weight is loaded once for two rows.
 */
export function multiplyBlock(
  x: Float64Array,
  rows: number,
  width: number,
  weights: Float64Array,
  count: number,
  out: Float64Array,
  stride: number,
  first: number,
): void {
  for (let o = 0; o < count; o += 4) {
    if (o + 4 > count) {
      for (let rest = o; rest < count; rest++)
        multiplyColumn(x, rows, width, weights, rest, out, stride, first);
      return;
    }
    for (let r = 0; r < rows; r += 2)
      multiplyTile(x, r, Math.min(r + 1, rows - 1), width, weights, o, out, stride, first);
  }
}

// Plain constants and views of one row each, not destructuring and offsets: three times as fast in V8.
function multiplyTile(
  x: Float64Array,
  row: number,
  other: number,
  width: number,
  weights: Float64Array,
  o: number,
  out: Float64Array,
  stride: number,
  first: number,
): void {
  const xa = x.subarray(row * width, (row + 1) * width);
  const xb = x.subarray(other * width, (other + 1) * width);
  const w0 = weights.subarray(o * width, (o + 1) * width);
  const w1 = weights.subarray((o + 1) * width, (o + 2) * width);
  const w2 = weights.subarray((o + 2) * width, (o + 3) * width);
  const w3 = weights.subarray((o + 3) * width, (o + 4) * width);
  let a0 = 0;
  let a1 = 0;
  let a2 = 0;
  let a3 = 0;
  let b0 = 0;
  let b1 = 0;
  let b2 = 0;
  let b3 = 0;
  for (let i = 0; i < width; i++) {
    const a = xa[i]!;
    const b = xb[i]!;
    const p = w0[i]!;
    const q = w1[i]!;
    const s = w2[i]!;
    const t = w3[i]!;
    a0 += a * p;
    a1 += a * q;
    a2 += a * s;
    a3 += a * t;
    b0 += b * p;
    b1 += b * q;
    b2 += b * s;
    b3 += b * t;
  }
  out.set([a0, a1, a2, a3], row * stride + first + o);
  out.set([b0, b1, b2, b3], other * stride + first + o);
}

function multiplyColumn(
  x: Float64Array,
  rows: number,
  width: number,
  weights: Float64Array,
  o: number,
  out: Float64Array,
  stride: number,
  first: number,
): void {
  for (let r = 0; r < rows; r++) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += x[r * width + i]! * weights[o * width + i]!;
    out[r * stride + first + o] = sum;
  }
}

/** x [rows, width] times the transpose of weights [outputs, width]. */
export function linear(x: Float64Array, weights: Float64Array, width: number): Float64Array {
  const rows = x.length / width;
  const outputs = weights.length / width;
  const out = new Float64Array(rows * outputs);
  multiplyBlock(x, rows, width, weights, outputs, out, outputs, 0);
  return out;
}

function linearCase(unit: ReferenceCase, names: readonly string[]): Readonly<Record<string, Tensor>> {
  const { shape } = inputOf(unit, 'x');
  const x = floatsOf(unit, 'x');
  const parts = names.map((name) => linear(x, matrixOf(unit, name), shape[1]!));
  const widths = parts.map((part) => part.length / shape[0]!);
  const total = widths.reduce((sum, width) => sum + width, 0);
  const out = new Float64Array(shape[0]! * total);
  let start = 0;
  parts.forEach((part, index) => {
    const width = widths[index]!;
    for (let r = 0; r < shape[0]!; r++) out.set(part.subarray(r * width, (r + 1) * width), r * total + start);
    start += width;
  });
  return { out: tensor([shape[0]!, total], out) };
}

function rowCase(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const ids = inputOf(unit, 'ids');
  const width = inputOf(unit, 'weight').shape[1]!;
  return { out: tensor([ids.shape[0]!, width], pickRows(matrixOf(unit, 'weight'), width, ids.data)) };
}

/** The rows of a matrix [.., width] with these indices. */
export function pickRows(matrix: Float64Array, width: number, ids: ArrayLike<number>): Float64Array {
  const out = new Float64Array(ids.length * width);
  for (let r = 0; r < ids.length; r++)
    out.set(matrix.subarray(ids[r]! * width, (ids[r]! + 1) * width), r * width);
  return out;
}

export const ops: ReferenceOps = {
  linear: (unit) => linearCase(unit, ['weight']),
  linear_stacked: (unit) => linearCase(unit, ['weight_a', 'weight_b']),
  linear_rows: rowCase,
};
