import type { ModelFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';

type Heads = Pick<ModelFacts, 'numHeads' | 'numKvHeads' | 'headDim' | 'gemma'>;

/**
 * q [rows, heads·dim] at `positions`, k and v [context, kv_heads·dim] at 0 … context - 1. A row at position p sees the
 * keys of p and before, with a window only the last `window` of them (p included). Query head h reads KV head
 * h // (heads / kv_heads); scores are divided by √dim. With Gemma's facts they are scaled by its own factor instead and
 * then capped.
 */
export function attend(
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
  positions: ArrayLike<number>,
  window: number,
  heads: Heads,
): Float64Array {
  const out = new Float64Array(q.length);
  const group = heads.numHeads / heads.numKvHeads;
  for (let row = 0; row < positions.length; row++) {
    const last = positions[row]!;
    const first = window > 0 ? Math.max(0, last - window + 1) : 0;
    for (let head = 0; head < heads.numHeads; head++) {
      const start = (row * heads.numHeads + head) * heads.headDim;
      attendHead(q, k, v, start, Math.floor(head / group), first, last, heads, out);
    }
  }
  return out;
}

/** cap · tanh(x / cap): nearly x near 0, never beyond the cap. */
export function softCap(value: number, cap: number): number {
  return cap * Math.tanh(value / cap);
}

function attendHead(
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
  start: number,
  kvHead: number,
  first: number,
  last: number,
  { numKvHeads, headDim, gemma }: Heads,
  out: Float64Array,
): void {
  const at = (position: number) => (position * numKvHeads + kvHead) * headDim;
  const scores = new Float64Array(last - first + 1);
  let highest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < scores.length; index++) {
    const key = at(first + index);
    let score = 0;
    for (let i = 0; i < headDim; i++) score += q[start + i]! * k[key + i]!;
    scores[index] =
      gemma === undefined
        ? score / Math.sqrt(headDim)
        : softCap(score * gemma.attentionScale, gemma.attentionCap);
    highest = Math.max(highest, scores[index]!);
  }
  let total = 0;
  for (let index = 0; index < scores.length; index++)
    total += scores[index] = Math.exp(scores[index]! - highest);
  for (let index = 0; index < scores.length; index++) {
    const value = at(first + index);
    const share = scores[index]! / total;
    for (let i = 0; i < headDim; i++) out[start + i] = out[start + i]! + share * v[value + i]!;
  }
}

export const ops: ReferenceOps = {
  attention: (unit) => {
    const window = unit.facts.layerWindows[Number(unit.params.layer)] ?? 0;
    const [q, k, v] = [floatsOf(unit, 'q'), floatsOf(unit, 'k'), floatsOf(unit, 'v')];
    const out = attend(q, k, v, inputOf(unit, 'positions').data, window, unit.facts);
    return { out: tensor(inputOf(unit, 'q').shape, out) };
  },
};
