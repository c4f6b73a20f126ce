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
  const [xa, xb] = [row * width, other * width];
  const [w0, w1, w2, w3] = [o * width, (o + 1) * width, (o + 2) * width, (o + 3) * width];
  let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let i = 0; i < width; i++) {
    const [a, b] = [x[xa + i]!, x[xb + i]!];
    const [p, q, s, t] = [weights[w0 + i]!, weights[w1 + i]!, weights[w2 + i]!, weights[w3 + i]!];
    a0 += a * p;
    a1 += a * q;
    a2 += a * s;
    a3 += a * t;
    b0 += b * p;
    b1 += b * q;
    b2 += b * s;
    b3 += b * t;
  }
  const [ya, yb] = [row * stride + first + o, other * stride + first + o];
  [out[ya], out[ya + 1], out[ya + 2], out[ya + 3]] = [a0, a1, a2, a3];
  [out[yb], out[yb + 1], out[yb + 2], out[yb + 3]] = [b0, b1, b2, b3];
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
  linear_row: rowCase,
};
