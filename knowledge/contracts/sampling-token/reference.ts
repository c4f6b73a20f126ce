import type { ReferenceOps } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, tensor } from '../../../src/model/reference-case.ts';

export interface SamplingParams {
  /** 0: greedy. */
  readonly temperature: number;
  /** 0: all. */
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
  readonly seed: number | bigint;
}

const mask = (1n << 64n) - 1n;

/** Uniform in [0, 1): output `step` (from 0) of splitmix64 with this seed, its upper 53 bits. */
export function drawUniform(seed: number | bigint, step: number): number {
  let z = (BigInt(seed) + BigInt(step + 1) * 0x9e3779b97f4a7c15n) & mask;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}

/** logits: one row. history: ids of prompt and continuation. Returns the id of draw number `step`. */
export function sampleReference(
  logits: Float64Array | Float32Array,
  history: readonly number[],
  params: SamplingParams,
  step: number,
): number {
  const seen = new Set(history);
  const penalty = params.repetitionPenalty;
  const scores = Array.from(logits, (logit, id) => {
    if (!seen.has(id)) return logit;
    return logit < 0 ? logit * penalty : logit / penalty;
  });
  const ranked = scores.map((_, id) => id).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const best = ranked[0]!;
  if (params.temperature === 0) return best;
  const least = params.topK > 0 ? scores[ranked[Math.min(params.topK, ranked.length) - 1]!]! : -Infinity;
  const weights = scores.map((score) =>
    score < least ? 0 : Math.exp((score - scores[best]!) / params.temperature),
  );
  const kept = keepNucleus(
    ranked.filter((id) => scores[id]! >= least),
    weights,
    params.topP,
  )
    .filter((id) => weights[id]! >= params.minP)
    .sort((a, b) => a - b);
  let left = kept.reduce((sum, id) => sum + weights[id]!, 0) * drawUniform(params.seed, step);
  for (const id of kept) {
    left -= weights[id]!;
    if (left < 0) return id;
  }
  return best;
}

/** The shortest beginning of `ranked` whose share of the whole weight reaches topP. */
function keepNucleus(ranked: readonly number[], weights: readonly number[], topP: number): readonly number[] {
  if (topP >= 1) return ranked;
  const inIdOrder = [...ranked].sort((a, b) => a - b);
  const total = inIdOrder.reduce((sum, id) => sum + weights[id]!, 0);
  let share = 0;
  const count = ranked.findIndex((id) => {
    share += weights[id]! / total;
    return share >= topP;
  });
  return count < 0 ? ranked : ranked.slice(0, count + 1);
}

export const ops: ReferenceOps = {
  /** Draws 0 … steps − 1 over one row. */
  sample: (unit) => {
    const number = (name: string): number => Number(unit.params[name]);
    const params: SamplingParams = {
      temperature: number('temperature'),
      topK: number('top_k'),
      topP: number('top_p'),
      minP: number('min_p'),
      repetitionPenalty: number('repetition_penalty'),
      seed: number('seed'),
    };
    const logits = floatsOf(unit, 'logits');
    const history = [...inputOf(unit, 'history').data];
    const ids = Array.from({ length: number('steps') }, (_, step) =>
      sampleReference(logits, history, params, step),
    );
    return { ids: tensor([ids.length], Int32Array.from(ids)) };
  },
};
