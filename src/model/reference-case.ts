import type { ReferenceCase, Tensor } from './reference.ts';

/** How every reference.ts reads the tensors of a unit-gate case. */
export function tensor(shape: readonly number[], data: Tensor['data']): Tensor {
  return { shape, data };
}

/** An input in float64, as it is: activations, norm gains and biases are never rounded. */
export function floatsOf(unit: ReferenceCase, name: string): Float64Array {
  return Float64Array.from(inputOf(unit, name).data);
}

/** A weight matrix as the engine stores it: rounded to bfloat16 where that is its weight format. */
export function matrixOf(unit: ReferenceCase, name: string): Float64Array {
  const values = floatsOf(unit, name);
  return unit.weightFormat === 'bf16' ? values.map(nearestBf16) : values;
}

export function inputOf(unit: ReferenceCase, name: string): Tensor {
  const input = unit.inputs[name];
  if (input === undefined) throw new Error(`input ${name} is missing`);
  return input;
}

/**
 * The bfloat16 next to a float32, ties to even, by arithmetic: 8 significant bits. (The engine and the checkpoint
 * reader do it with bits.)
 */
export function nearestBf16(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.max(-126, Math.floor(Math.log2(Math.abs(value))));
  const unit = 2 ** (exponent - 7);
  const steps = Math.abs(value) / unit;
  const below = Math.floor(steps);
  const rest = steps - below;
  const isUp = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
  // Times the sign, so that a negative value that rounds to zero keeps it.
  return Math.sign(value) * (isUp ? below + 1 : below) * unit;
}
