import type { ExpertFacts, ModelFacts } from './model-facts.ts';

/** A tensor that a Hugging Face checkpoint of these facts holds; linear weights are [out, in]. */
export interface ExpectedTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

/**
 * Every tensor of the checkpoint, in model order: embedding, layers, final norm, head where it is untied. A tensor
 * beside these, or one of these missing, means that the file is another model than its config.json says.
 * Source: research/inference-engines.md §6, "Tensor names and shapes".
 */
export function expectedTensors(facts: ModelFacts): ExpectedTensor[] {
  const table = [facts.vocabSize, facts.hiddenSize];
  const layers = Array.from({ length: facts.numLayers }, (_, layer) => layerTensors(facts, layer)).flat();
  return [
    { name: 'model.embed_tokens.weight', shape: table },
    ...layers,
    { name: 'model.norm.weight', shape: [facts.hiddenSize] },
    ...(facts.tiedHead ? [] : [{ name: 'lm_head.weight', shape: table }]),
  ];
}

function layerTensors(facts: ModelFacts, layer: number): ExpectedTensor[] {
  const { hiddenSize: hidden, headDim } = facts;
  const [queries, keys] = [facts.numHeads * headDim, facts.numKvHeads * headDim];
  const biases = [
    ['q_proj.bias', queries],
    ['k_proj.bias', keys],
    ['v_proj.bias', keys],
  ] as const;
  const norms = [
    ['q_norm.weight', headDim],
    ['k_norm.weight', headDim],
  ] as const;
  const vectors = [...(facts.qkvBias ? biases : []), ...(facts.qkNorm ? norms : [])];
  const tensors: readonly NamedShape[] = [
    ['input_layernorm.weight', [hidden]],
    ['self_attn.q_proj.weight', [queries, hidden]],
    ['self_attn.k_proj.weight', [keys, hidden]],
    ['self_attn.v_proj.weight', [keys, hidden]],
    ['self_attn.o_proj.weight', [hidden, queries]],
    ...vectors.map(([name, size]) => [`self_attn.${name}`, [size]] as const),
    ['post_attention_layernorm.weight', [hidden]],
    ...(facts.gemma === undefined ? [] : sandwichNorms.map((name) => [name, [hidden]] as const)),
    ...feedForwardTensors(facts, layer),
  ];
  return tensors.map(([name, shape]) => ({ name: `model.layers.${layer}.${name}`, shape }));
}

/** Beside the two that every layer has. */
const sandwichNorms = ['pre_feedforward_layernorm.weight', 'post_feedforward_layernorm.weight'] as const;

type NamedShape = readonly [string, readonly number[]];

function feedForwardTensors(facts: ModelFacts, layer: number): readonly NamedShape[] {
  const { hiddenSize: hidden, intermediateSize, experts } = facts;
  if (experts?.layers[layer] !== true) return gatedTensors('mlp.', 'mlp', hidden, intermediateSize);
  const { naming, sharedWidth } = experts;
  const shared = 'mlp.shared_expert';
  return [
    [`${naming}.gate.weight`, [experts.count, hidden]],
    ...Array.from({ length: experts.count }, (_, expert) =>
      gatedTensors(`${naming}.experts.${expert}.`, naming, hidden, experts.width),
    ).flat(),
    ...(sharedWidth === 0 ? [] : gatedTensors(`${shared}.`, 'mlp', hidden, sharedWidth)),
    ...(sharedWidth === 0 ? [] : [[`${shared}_gate.weight`, [1, hidden]] as const]),
  ];
}

/** The three matrices of a gated MLP, as the checkpoints of each naming call them: gate, up, down. */
export const gatedNames: Readonly<Record<ExpertFacts['naming'], readonly [string, string, string]>> = {
  mlp: ['gate_proj', 'up_proj', 'down_proj'],
  block_sparse_moe: ['w1', 'w3', 'w2'],
};

function gatedTensors(
  prefix: string,
  naming: ExpertFacts['naming'],
  hidden: number,
  inner: number,
): readonly NamedShape[] {
  const [gate, up, down] = gatedNames[naming];
  return [
    [`${prefix}${gate}.weight`, [inner, hidden]],
    [`${prefix}${up}.weight`, [inner, hidden]],
    [`${prefix}${down}.weight`, [hidden, inner]],
  ];
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
