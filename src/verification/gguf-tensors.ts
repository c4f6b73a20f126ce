import { gatedNames } from '../model/expected-tensors.ts';
import type { ExpertFacts, ModelFacts } from '../model/model-facts.ts';
import type { FloatFormat } from './float-formats.ts';
import type { GgufTensor } from './gguf-format.ts';

/** Where the rows of a GGUF tensor come from. */
export interface GgufPlan extends GgufTensor {
  /** Hugging Face name; undefined for rope_freqs, which is computed. */
  readonly from: string | undefined;
  /** Rows per head where the two halves of each head are interleaved: llama.cpp rotates neighbours for llama. */
  readonly interleave: number | undefined;
  /** Hugging Face names of the matrices that lie one behind the other in one tensor; `from` is undefined then. */
  readonly stacked?: readonly string[];
}

/** Tensors of the model in the order they are written; each checkpoint tensor exactly once. */
export function planGgufTensors(facts: ModelFacts, dtype: FloatFormat): GgufPlan[] {
  const { hiddenSize, vocabSize, headDim } = facts;
  const queryRows = facts.numHeads * headDim;
  const keyRows = facts.numKvHeads * headDim;
  const headRows = ['llama', 'mistral', 'mixtral'].includes(facts.family) ? headDim : undefined;
  // llama.cpp takes vectors (norm gains, biases) in f32 only.
  const vector = (name: string, from: string, length: number): GgufPlan => {
    return { name, from, dtype: 'f32', shape: [length], interleave: undefined };
  };
  const matrix = (
    name: string,
    from: string,
    rows: number,
    columns: number,
    interleave?: number,
  ): GgufPlan => {
    return { name, from, dtype, shape: [rows, columns], interleave };
  };
  const plans = [matrix('token_embd.weight', 'model.embed_tokens.weight', vocabSize, hiddenSize)];
  if (facts.ropeScaling.kind === 'llama3') {
    plans.push({
      name: 'rope_freqs.weight',
      from: undefined,
      dtype: 'f32',
      shape: [headDim / 2],
      interleave: undefined,
    });
  }
  for (let layer = 0; layer < facts.numLayers; layer++) {
    const to = `blk.${layer}.`;
    const from = `model.layers.${layer}.`;
    const attention = `${from}self_attn.`;
    plans.push(
      vector(`${to}attn_norm.weight`, `${from}input_layernorm.weight`, hiddenSize),
      matrix(`${to}attn_q.weight`, `${attention}q_proj.weight`, queryRows, hiddenSize, headRows),
      matrix(`${to}attn_k.weight`, `${attention}k_proj.weight`, keyRows, hiddenSize, headRows),
      matrix(`${to}attn_v.weight`, `${attention}v_proj.weight`, keyRows, hiddenSize),
      matrix(`${to}attn_output.weight`, `${attention}o_proj.weight`, hiddenSize, queryRows),
      vector(`${to}ffn_norm.weight`, `${from}post_attention_layernorm.weight`, hiddenSize),
      ...feedForwardPlans(facts, layer, dtype),
    );
    if (facts.qkvBias) {
      plans.push(
        vector(`${to}attn_q.bias`, `${attention}q_proj.bias`, queryRows),
        vector(`${to}attn_k.bias`, `${attention}k_proj.bias`, keyRows),
        vector(`${to}attn_v.bias`, `${attention}v_proj.bias`, keyRows),
      );
    }
    if (facts.qkNorm) {
      plans.push(
        vector(`${to}attn_q_norm.weight`, `${attention}q_norm.weight`, headDim),
        vector(`${to}attn_k_norm.weight`, `${attention}k_norm.weight`, headDim),
      );
    }
  }
  plans.push(vector('output_norm.weight', 'model.norm.weight', hiddenSize));
  if (!facts.tiedHead) plans.push(matrix('output.weight', 'lm_head.weight', vocabSize, hiddenSize));
  return plans;
}

const parts = ['gate', 'up', 'down'] as const;

function feedForwardPlans(facts: ModelFacts, layer: number, dtype: FloatFormat): GgufPlan[] {
  const { hiddenSize, intermediateSize, experts } = facts;
  const [to, from] = [`blk.${layer}.`, `model.layers.${layer}.`];
  const shapeOf = (part: string, inner: number) =>
    part === 'down' ? [hiddenSize, inner] : [inner, hiddenSize];
  const gated = (suffix: string, prefix: string, inner: number) =>
    parts.map((part): GgufPlan => {
      const name = `${to}ffn_${part}${suffix}.weight`;
      return {
        name,
        from: `${from}${prefix}.${part}_proj.weight`,
        dtype,
        shape: shapeOf(part, inner),
        interleave: undefined,
      };
    });
  if (experts?.layers[layer] !== true) return gated('', 'mlp', intermediateSize);
  // Routers stay f32, as llama.cpp's own converter leaves them: a rounded activation would flip a choice.
  const router = (name: string, source: string, rows: number): GgufPlan => {
    const shape = [rows, hiddenSize];
    return {
      name: `${to}${name}.weight`,
      from: `${from}${source}.weight`,
      dtype: 'f32',
      shape,
      interleave: undefined,
    };
  };
  return [
    router('ffn_gate_inp', `${experts.naming}.gate`, experts.count),
    ...stackExperts(experts, to, from, dtype, (part) => shapeOf(part, experts.width)),
    ...(experts.sharedWidth === 0
      ? []
      : [
          router('ffn_gate_inp_shexp', 'mlp.shared_expert_gate', 1),
          ...gated('_shexp', 'mlp.shared_expert', experts.sharedWidth),
        ]),
  ];
}

/** All experts' matrices of one kind are one tensor. */
function stackExperts(
  { count, naming }: ExpertFacts,
  to: string,
  from: string,
  dtype: FloatFormat,
  shapeOf: (part: string) => readonly number[],
): GgufPlan[] {
  return parts.map((part, index) => ({
    ...{ name: `${to}ffn_${part}_exps.weight`, from: undefined, dtype, interleave: undefined },
    shape: [count, ...shapeOf(part)],
    stacked: Array.from(
      { length: count },
      (_, expert) => `${from}${naming}.experts.${expert}.${gatedNames[naming][index]}.weight`,
    ),
  }));
}

/** Source row of output row `row` when each head's halves (i, i + d/2) become neighbours (2i, 2i+1). */
export function interleavedRow(row: number, headRows: number): number {
  const within = row % headRows;
  return row - within + (within % 2) * (headRows / 2) + Math.floor(within / 2);
}
