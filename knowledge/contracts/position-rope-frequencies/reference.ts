import type { ModelFacts, RopeScaling } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { tensor } from '../../../src/model/reference-case.ts';

export interface Frequencies {
  /** Radians per position of pair i, [head_dim / 2]. */
  readonly inverse: Float64Array;
  /** Multiplies cos and sin. */
  readonly attentionFactor: number;
}

export function ropeFrequencies(
  facts: Pick<ModelFacts, 'headDim' | 'ropeTheta' | 'ropeScaling'>,
): Frequencies {
  const { headDim, ropeTheta, ropeScaling } = facts;
  const plain = Float64Array.from({ length: headDim / 2 }, (_, pair) => ropeTheta ** ((-2 * pair) / headDim));
  const attentionFactor = ropeScaling.kind === 'yarn' ? ropeScaling.attentionFactor : 1;
  return { inverse: scale(plain, headDim, ropeTheta, ropeScaling), attentionFactor };
}

function scale(plain: Float64Array, headDim: number, theta: number, scaling: RopeScaling): Float64Array {
  if (scaling.kind === 'none') return plain;
  if (scaling.kind === 'linear') return plain.map((frequency) => frequency / scaling.factor);
  if (scaling.kind === 'llama3') return plain.map((frequency) => scaleLlama3(frequency, scaling));
  return scaleYarn(plain, headDim, theta, scaling);
}

/** Long wavelengths are divided by the factor, short ones kept, those between are blended by turns in the old context. */
export function scaleLlama3(frequency: number, scaling: Extract<RopeScaling, { kind: 'llama3' }>): number {
  const turns = (scaling.originalMaxPositions * frequency) / (2 * Math.PI);
  if (turns < scaling.lowFreqFactor) return frequency / scaling.factor;
  if (turns > scaling.highFreqFactor) return frequency;
  const kept = (turns - scaling.lowFreqFactor) / (scaling.highFreqFactor - scaling.lowFreqFactor);
  return ((1 - kept) * frequency) / scaling.factor + kept * frequency;
}

function scaleYarn(
  plain: Float64Array,
  headDim: number,
  theta: number,
  scaling: Extract<RopeScaling, { kind: 'yarn' }>,
): Float64Array {
  // The (fractional) dimension at which a pair turns this often within the old context.
  const dimension = (turns: number) =>
    (headDim * Math.log(scaling.originalMaxPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [fast, slow] = [dimension(scaling.betaFast), dimension(scaling.betaSlow)];
  const low = Math.max(scaling.truncate ? Math.floor(fast) : fast, 0);
  const top = Math.min(scaling.truncate ? Math.ceil(slow) : slow, headDim - 1);
  const high = top === low ? top + 0.001 : top;
  return plain.map((frequency, pair) => {
    const interpolated = Math.min(1, Math.max(0, (pair - low) / (high - low)));
    return (frequency / scaling.factor) * interpolated + frequency * (1 - interpolated);
  });
}

export const ops: ReferenceOps = {
  frequencies: (unit) => {
    const { inverse, attentionFactor } = ropeFrequencies(unit.facts);
    return {
      inv_freq: tensor([inverse.length], inverse),
      attention_factor: tensor([1], Float64Array.of(attentionFactor)),
    };
  },
};
