import type { ModelFacts } from '../model/model-facts.ts';
import type { FloatFormat } from './float-formats.ts';
import type { GgufTensor } from './gguf-format.ts';

/** Where the rows of a GGUF tensor come from. */
export interface GgufPlan extends GgufTensor {
  /** Hugging Face name; undefined for rope_freqs, which is computed. */
  readonly from: string | undefined;
  /** Rows per head where the two halves of each head are interleaved: llama.cpp rotates neighbours for llama. */
  readonly interleave: number | undefined;
}

/** Tensors of the model in the order they are written; each checkpoint tensor exactly once. */
export function planGgufTensors(facts: ModelFacts, dtype: FloatFormat): GgufPlan[] {
  const { hiddenSize, intermediateSize, vocabSize, headDim } = facts;
  const queryRows = facts.numHeads * headDim;
  const keyRows = facts.numKvHeads * headDim;
  const headRows = facts.family === 'llama' || facts.family === 'mistral' ? headDim : undefined;
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
      matrix(`${to}ffn_gate.weight`, `${from}mlp.gate_proj.weight`, intermediateSize, hiddenSize),
      matrix(`${to}ffn_up.weight`, `${from}mlp.up_proj.weight`, intermediateSize, hiddenSize),
      matrix(`${to}ffn_down.weight`, `${from}mlp.down_proj.weight`, hiddenSize, intermediateSize),
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

/** Source row of output row `row` when each head's halves (i, i + d/2) become neighbours (2i, 2i+1). */
export function interleavedRow(row: number, headRows: number): number {
  const within = row % headRows;
  return row - within + (within % 2) * (headRows / 2) + Math.floor(within / 2);
}
