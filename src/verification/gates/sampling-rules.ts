import { argmax } from '../measures.ts';

/** Token ids from the largest logit down; equal ones by id. */
export function ranked(logits: Float32Array): number[] {
  return Array.from(logits, (_, id) => id).sort((a, b) => logits[b]! - logits[a]! || a - b);
}

/** Whether a token belongs to the smallest set of likeliest tokens whose probabilities reach `share`. */
export function isInNucleus(logits: Float32Array, id: number, temperature: number, share: number): boolean {
  const highest = logits[argmax(logits)]!;
  const weights = Float64Array.from(logits, (logit) => Math.exp((logit - highest) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  for (const candidate of ranked(logits)) {
    if (candidate === id) break;
    before += weights[candidate]!;
  }
  // Room for f32 sums at the edge of the set.
  return before / total < share + 1e-4;
}

/** As transformers' RepetitionPenaltyLogitsProcessor: each seen token once, towards less likely. */
export function penalise(logits: Float32Array, seen: readonly number[], penalty: number): Float32Array {
  const weighed = Float32Array.from(logits);
  for (const id of new Set(seen)) {
    const logit = logits[id]!;
    weighed[id] = logit > 0 ? logit / penalty : logit * penalty;
  }
  return weighed;
}
