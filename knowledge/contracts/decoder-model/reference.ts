import { gatedNames } from '../../../src/model/expected-tensors.ts';
import type { ExpertFacts, ModelFacts } from '../../../src/model/model-facts.ts';
import type { ReferenceOps } from '../../../src/model/reference.ts';
import { type AttentionVectors, add, attendProjected } from '../attention-block/reference.ts';
import { softCap } from '../attention-core/reference.ts';
import { addWeighted, gatherRows, sharedShare, shareOf } from '../mlp-experts/reference.ts';
import { gateUp } from '../mlp-gated/reference.ts';
import { geluUp } from '../mlp-sandwich/reference.ts';
import { route } from '../moe-router/reference.ts';
import { gainOf, rmsNormRows } from '../norm-rms/reference.ts';
import { type Frequencies, ropeFrequencies } from '../position-rope-frequencies/reference.ts';

/** Where the weights come from; a large checkpoint is read block by block and never held as a whole. */
export interface WeightSource {
  vector(name: string): Float64Array;
  /** Rows of a matrix. */
  pick(name: string, ids: ArrayLike<number>): Float64Array;
  /** x [rows, in] times the transpose of each matrix [out, in]; one result per name. */
  project(names: readonly string[], x: Float64Array): Promise<readonly Float64Array[]>;
}

/** Sees the residual stream [rows, hidden]: embedding, then each layer after attention and after MLP, then the final norm. */
export type Watch = (point: Float64Array) => void;

/** Hidden state of every position after the final norm, [ids.length, hidden], for ids at positions 0, 1, … */
export async function decode(
  ids: ArrayLike<number>,
  facts: ModelFacts,
  source: WeightSource,
  watch: Watch,
): Promise<Float64Array> {
  const positions = Int32Array.from({ length: ids.length }, (_, position) => position);
  const frequencies = ropeFrequencies(facts);
  const scale = facts.gemma?.embeddingScale ?? 1;
  let hidden: Float64Array = source.pick('model.embed_tokens.weight', ids).map((value) => value * scale);
  watch(hidden);
  for (let layer = 0; layer < facts.numLayers; layer++) {
    hidden = await addAttention(hidden, layer, facts, source, positions, frequencies);
    watch(hidden);
    hidden = await addMlp(hidden, layer, facts, source);
    watch(hidden);
  }
  const normed = normRows(hidden, 'model.norm.weight', facts, source);
  watch(normed);
  return normed;
}

/** Logits of hidden states after the final norm, from their products with the head. */
export function toLogits(products: Float64Array, facts: ModelFacts): Float64Array {
  const { gemma } = facts;
  return gemma === undefined ? products : products.map((value) => softCap(value, gemma.finalCap));
}

/** The matrix of the head: the embedding table where it is tied. */
export function headName(facts: ModelFacts): string {
  return facts.tiedHead ? 'model.embed_tokens.weight' : 'lm_head.weight';
}

async function addAttention(
  hidden: Float64Array,
  layer: number,
  facts: ModelFacts,
  source: WeightSource,
  positions: Int32Array,
  frequencies: Frequencies,
): Promise<Float64Array> {
  const prefix = `model.layers.${layer}.self_attn.`;
  const normed = normRows(hidden, `model.layers.${layer}.input_layernorm.weight`, facts, source);
  const names = ['q', 'k', 'v'].map((part) => `${prefix}${part}_proj.weight`);
  const [q, k, v] = await source.project(names, normed);
  const projected = { q: q!, k: k!, v: v! };
  const mixed = attendProjected(
    projected,
    readVectors(prefix, facts, source),
    positions,
    layer,
    facts,
    frequencies,
  );
  const [output] = await source.project([`${prefix}o_proj.weight`], mixed);
  if (facts.gemma === undefined) return add(hidden, output!);
  const after = `model.layers.${layer}.post_attention_layernorm.weight`;
  return add(hidden, normRows(output!, after, facts, source));
}

function normRows(x: Float64Array, name: string, facts: ModelFacts, source: WeightSource): Float64Array {
  return rmsNormRows(x, gainOf(source.vector(name), facts), facts.rmsNormEps);
}

function readVectors(prefix: string, facts: ModelFacts, source: WeightSource): AttentionVectors {
  const read = (name: string) => source.vector(`${prefix}${name}`);
  return {
    ...(facts.qkNorm ? { qNorm: read('q_norm.weight'), kNorm: read('k_norm.weight') } : {}),
    ...(facts.qkvBias
      ? { qBias: read('q_proj.bias'), kBias: read('k_proj.bias'), vBias: read('v_proj.bias') }
      : {}),
  };
}

async function addMlp(
  hidden: Float64Array,
  layer: number,
  facts: ModelFacts,
  source: WeightSource,
): Promise<Float64Array> {
  const prefix = `model.layers.${layer}.`;
  const { experts, gemma } = facts;
  const before = gemma === undefined ? 'post_attention_layernorm' : 'pre_feedforward_layernorm';
  const normed = normRows(hidden, `${prefix}${before}.weight`, facts, source);
  if (experts?.layers[layer] === true)
    return add(hidden, await mixExperts(normed, prefix, experts, facts.hiddenSize, source));
  if (gemma === undefined)
    return add(hidden, await runMlp(normed, `${prefix}mlp.`, gatedNames.mlp, gateUp, source));
  const made = await runMlp(normed, `${prefix}mlp.`, gatedNames.mlp, geluUp, source);
  return add(hidden, normRows(made, `${prefix}post_feedforward_layernorm.weight`, facts, source));
}

async function runMlp(
  x: Float64Array,
  prefix: string,
  names: readonly [string, string, string],
  activate: typeof gateUp,
  source: WeightSource,
): Promise<Float64Array> {
  const [gateName, upName, downName] = names.map((name) => `${prefix}${name}.weight`) as [
    string,
    string,
    string,
  ];
  const [gate, up] = await source.project([gateName, upName], x);
  const [output] = await source.project([downName], activate(gate!, up!));
  return output!;
}

/** Every expert once, for the rows that chose it. */
async function mixExperts(
  normed: Float64Array,
  prefix: string,
  experts: ExpertFacts,
  width: number,
  source: WeightSource,
): Promise<Float64Array> {
  const { naming, sharedWidth } = experts;
  const [scores] = await source.project([`${prefix}${naming}.gate.weight`], normed);
  const routing = route(scores!, experts);
  const out = new Float64Array(normed.length);
  for (let expert = 0; expert < experts.count; expert++) {
    const share = shareOf(routing, expert, experts.perToken);
    if (share.rows.length === 0) continue;
    const x = gatherRows(normed, width, share.rows);
    const made = await runMlp(x, `${prefix}${naming}.experts.${expert}.`, gatedNames[naming], gateUp, source);
    addWeighted(out, made, width, share);
  }
  if (sharedWidth === 0) return out;
  const shared = `${prefix}mlp.shared_expert`;
  const [gate] = await source.project([`${shared}_gate.weight`], normed);
  addWeighted(
    out,
    await runMlp(normed, `${shared}.`, gatedNames.mlp, gateUp, source),
    width,
    sharedShare(gate!),
  );
  return out;
}

/** The whole model has no unit gate: the trace and logits gates compare it. */
export const ops: ReferenceOps = {};
