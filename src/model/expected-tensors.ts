import type { ModelFacts } from './model-facts.ts';

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
  const { hiddenSize: hidden, headDim, intermediateSize: inner } = facts;
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
  const tensors: readonly (readonly [string, readonly number[]])[] = [
    ['input_layernorm.weight', [hidden]],
    ['self_attn.q_proj.weight', [queries, hidden]],
    ['self_attn.k_proj.weight', [keys, hidden]],
    ['self_attn.v_proj.weight', [keys, hidden]],
    ['self_attn.o_proj.weight', [hidden, queries]],
    ...vectors.map(([name, size]) => [`self_attn.${name}`, [size]] as const),
    ['post_attention_layernorm.weight', [hidden]],
    ['mlp.gate_proj.weight', [inner, hidden]],
    ['mlp.up_proj.weight', [inner, hidden]],
    ['mlp.down_proj.weight', [hidden, inner]],
  ];
  return tensors.map(([name, shape]) => ({ name: `model.layers.${layer}.${name}`, shape }));
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
