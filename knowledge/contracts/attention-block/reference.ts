import type { ModelFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceCase, ReferenceOps, Tensor } from '../../../src/model/reference.ts';
import { floatsOf, inputOf, matrixOf, tensor } from '../../../src/model/reference-case.ts';
import { attend } from '../attention-core/reference.ts';
import { linear } from '../linear-dense/reference.ts';
import { rmsNormRows } from '../norm-rms/reference.ts';
import { rotateRows } from '../position-rope/reference.ts';
import { type Frequencies, ropeFrequencies } from '../position-rope-frequencies/reference.ts';

export interface Projected {
  readonly q: Float64Array;
  readonly k: Float64Array;
  readonly v: Float64Array;
}

/** The vectors of a layer's attention; those of a feature that the model lacks are absent. */
export interface AttentionVectors {
  readonly qNorm?: Float64Array;
  readonly kNorm?: Float64Array;
  readonly qBias?: Float64Array;
  readonly kBias?: Float64Array;
  readonly vBias?: Float64Array;
}

/** x [rows, bias.length] plus the bias, or x itself without one. */
export function addBias(x: Float64Array, bias: Float64Array | undefined): Float64Array {
  return bias === undefined ? x : x.map((value, index) => value + bias[index % bias.length]!);
}

/** Element by element. */
export function add(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, index) => value + b[index]!);
}

/**
 * From the three projections of rows 0 … n - 1 to the input of the output projection: bias, then a norm over each
 * head's own head_dim elements, then rotation of q and k, then attention.
 */
export function attendProjected(
  projected: Projected,
  vectors: AttentionVectors,
  positions: ArrayLike<number>,
  layer: number,
  facts: ModelFacts,
  frequencies: Frequencies,
): Float64Array {
  const prepare = (x: Float64Array, bias: Float64Array | undefined, gain: Float64Array | undefined) => {
    const biased = addBias(x, bias);
    const normed = gain === undefined ? biased : rmsNormRows(biased, gain, facts.rmsNormEps);
    return rotateRows(normed, positions, frequencies);
  };
  const q = prepare(projected.q, vectors.qBias, vectors.qNorm);
  const k = prepare(projected.k, vectors.kBias, vectors.kNorm);
  return attend(q, k, addBias(projected.v, vectors.vBias), positions, facts.layerWindows[layer] ?? 0, facts);
}

function attentionBlock(unit: ReferenceCase): Readonly<Record<string, Tensor>> {
  const { facts } = unit;
  const hidden = floatsOf(unit, 'hidden');
  const normed = rmsNormRows(hidden, floatsOf(unit, 'input_layernorm'), facts.rmsNormEps);
  const project = (name: string) => linear(normed, matrixOf(unit, name), facts.hiddenSize);
  const projected = { q: project('q_proj'), k: project('k_proj'), v: project('v_proj') };
  const positions = inputOf(unit, 'positions').data;
  const layer = Number(unit.params.layer);
  const mixed = attendProjected(projected, vectorsOf(unit), positions, layer, facts, ropeFrequencies(facts));
  const output = linear(mixed, matrixOf(unit, 'o_proj'), facts.numHeads * facts.headDim);
  return { hidden: tensor(inputOf(unit, 'hidden').shape, add(hidden, output)) };
}

/** A case may carry every vector; only those of the features that the model has count. */
function vectorsOf(unit: ReferenceCase): AttentionVectors {
  const biases = { qBias: 'q_bias', kBias: 'k_bias', vBias: 'v_bias' };
  const norms = { qNorm: 'q_norm', kNorm: 'k_norm' };
  const names = { ...(unit.facts.qkvBias ? biases : {}), ...(unit.facts.qkNorm ? norms : {}) };
  return Object.fromEntries(Object.entries(names).map(([field, name]) => [field, floatsOf(unit, name)]));
}

export const ops: ReferenceOps = { attention_block: attentionBlock };
