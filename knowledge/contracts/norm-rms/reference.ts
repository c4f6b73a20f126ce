import type { ModelFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';

/** Each row of x [.., width], width = gain.length, divided by its root mean square (eps inside the root), times gain. */
export function rmsNormRows(x: Float64Array, gain: Float64Array, eps: number): Float64Array {
  const width = gain.length;
  const out = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    let squares = 0;
    for (let i = 0; i < width; i++) squares += x[start + i]! * x[start + i]!;
    const scale = 1 / Math.sqrt(squares / width + eps);
    for (let i = 0; i < width; i++) out[start + i] = x[start + i]! * scale * gain[i]!;
  }
  return out;
}

/** A norm's gain as the checkpoint means it: gemma2 stores it less 1. */
export function gainOf(stored: Float64Array, facts: ModelFacts): Float64Array {
  return facts.gemma === undefined ? stored : stored.map((value) => value + 1);
}

export const ops: ReferenceOps = {
  rms_norm: (unit) => ({
    out: tensor(
      inputOf(unit, 'x').shape,
      rmsNormRows(floatsOf(unit, 'x'), gainOf(floatsOf(unit, 'gain'), unit.facts), unit.facts.rmsNormEps),
    ),
  }),
};
