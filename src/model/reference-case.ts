import type { ReferenceCase, Tensor } from './reference.ts';

/** How every reference.ts reads the tensors of a unit-gate case. */
export function tensor(shape: readonly number[], data: Tensor['data']): Tensor {
  return { shape, data };
}

/** An input in float64, as it is: activations, norm gains and biases are never rounded. */
export function floatsOf(unit: ReferenceCase, name: string): Float64Array {
  return Float64Array.from(inputOf(unit, name).data);
}

/** A weight matrix as the engine stores it: rounded where its weight format is narrower than float32. */
export function matrixOf(unit: ReferenceCase, name: string): Float64Array {
  const values = floatsOf(unit, name);
  if (unit.weightFormat === 'f32') return values;
  return values.map(unit.weightFormat === 'bf16' ? nearestBf16 : nearestF16);
}

export function inputOf(unit: ReferenceCase, name: string): Tensor {
  const input = unit.inputs[name];
  if (input === undefined) throw new Error(`input ${name} is missing`);
  return input;
}

/** The bfloat16 next to a float32. */
export function nearestBf16(value: number): number {
  return nearest(value, 8, -126, 128);
}

/** The half-precision number next to a float32. */
export function nearestF16(value: number): number {
  return nearest(value, 11, -14, 16);
}

/**
 * The number of a format with this many significant bits next to a float32, ties to even, by arithmetic: subnormal
 * below 2^smallest, infinite from 2^beyond on. (The engine and the checkpoint reader do it with bits.)
 */
function nearest(value: number, significant: number, smallest: number, beyond: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.max(smallest, Math.floor(Math.log2(Math.abs(value))));
  const unit = 2 ** (exponent - significant + 1);
  const steps = Math.abs(value) / unit;
  const below = Math.floor(steps);
  const rest = steps - below;
  const isUp = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
  const magnitude = (isUp ? below + 1 : below) * unit;
  // Times the sign, so that a negative value that rounds to zero keeps it.
  return Math.sign(value) * (magnitude >= 2 ** beyond ? Number.POSITIVE_INFINITY : magnitude);
}
