import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';
import { type Frequencies, ropeFrequencies } from '../position-rope-frequencies/reference.ts';

/** x [rows, heads·2·pairs]: in each head, element i and element i + pairs are a point that turns by position · inverse[i]. */
export function rotateRows(
  x: Float64Array,
  positions: ArrayLike<number>,
  frequencies: Frequencies,
): Float64Array {
  const { inverse, attentionFactor } = frequencies;
  const pairs = inverse.length;
  const width = x.length / positions.length;
  const out = new Float64Array(x.length);
  for (let row = 0; row < positions.length; row++) {
    for (let pair = 0; pair < pairs; pair++) {
      const angle = positions[row]! * inverse[pair]!;
      const [cos, sin] = [Math.cos(angle) * attentionFactor, Math.sin(angle) * attentionFactor];
      for (let a = row * width + pair; a < (row + 1) * width; a += 2 * pairs) {
        const b = a + pairs;
        out[a] = x[a]! * cos - x[b]! * sin;
        out[b] = x[b]! * cos + x[a]! * sin;
      }
    }
  }
  return out;
}

export const ops: ReferenceOps = {
  rope: (unit) => ({
    out: tensor(
      inputOf(unit, 'x').shape,
      rotateRows(floatsOf(unit, 'x'), inputOf(unit, 'positions').data, ropeFrequencies(unit.facts)),
    ),
  }),
};
