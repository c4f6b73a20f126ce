import { createHash } from 'node:crypto';
import { encodeFloats, type FloatFormat } from './float-formats.ts';

/** 32-bit random numbers, xoshiro128**; good enough for weights and 2 ns each. */
export type RandomBits = () => number;

/** A generator of its own for each purpose: the state is a hash of the seed and the purpose's name. */
export function seedRandom(seed: number, purpose: string): RandomBits {
  const digest = createHash('sha256').update(`${seed}:${purpose}`).digest();
  let [a, b, c, d] = [
    digest.readInt32LE(0) | 1,
    digest.readInt32LE(4),
    digest.readInt32LE(8),
    digest.readInt32LE(12),
  ];
  return () => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  };
}

const levels = 65_536;
let quantiles: Float64Array | undefined;

/** Standard normal values at the middle of 65,536 equal slices of probability: one 16-bit number draws one value. */
export function normalQuantiles(): Float64Array {
  quantiles ??= Float64Array.from({ length: levels }, (_, index) => inverseNormal((index + 0.5) / levels));
  return quantiles;
}

/** Newton steps on the normal distribution function, from a logistic first guess. */
function inverseNormal(probability: number): number {
  if (probability > 0.5) return -inverseNormal(1 - probability);
  let x = Math.log(probability / (1 - probability)) / 1.702;
  for (let step = 0; step < 60; step++) {
    const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
    const change = (lowerTail(x) - probability) / density;
    x -= Math.max(-0.5, Math.min(0.5, change));
    if (Math.abs(change) < 1e-13) break;
  }
  return x;
}

/** P(X < x) for x <= 0: Simpson's rule where it is large, a continued fraction in the tail. */
function lowerTail(x: number): number {
  if (x < -3) {
    let fraction = -x;
    for (let n = 60; n >= 1; n--) fraction = -x + n / fraction;
    return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI) / fraction;
  }
  const [steps, width] = [64, -x / 64];
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 0 ? 2 : 4;
    sum += weight * Math.exp(-0.5 * (x + i * width) ** 2);
  }
  return 0.5 - (sum * width) / 3 / Math.sqrt(2 * Math.PI);
}

const pieceElements = 1_048_576;

/** `count` values mean + spread · normal in a weight format, in pieces of at most a million values. */
export function* normalPieces(
  random: RandomBits,
  count: number,
  mean: number,
  spread: number,
  format: FloatFormat,
): Generator<Uint8Array> {
  const encoded = encodeFloats(
    normalQuantiles().map((value) => mean + spread * value),
    format,
  );
  const table = format === 'f32' ? new Uint32Array(encoded.buffer) : new Uint16Array(encoded.buffer);
  for (let start = 0; start < count; start += pieceElements) {
    const size = Math.min(pieceElements, count - start);
    const piece = format === 'f32' ? new Uint32Array(size) : new Uint16Array(size);
    for (let i = 0; i + 1 < size; i += 2) {
      const bits = random();
      piece[i] = table[bits & 0xffff]!;
      piece[i + 1] = table[bits >>> 16]!;
    }
    if (size % 2 === 1) piece[size - 1] = table[random() >>> 16]!;
    yield new Uint8Array(piece.buffer);
  }
}
