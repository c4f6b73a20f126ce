import type { KnownModel } from '../../src/model/catalog.ts';

/** config.json of published models, from research/inference-engines.md §6. */
function model(id: string, family: KnownModel['family'], config: Record<string, unknown>): KnownModel {
  return {
    id,
    family,
    config: { model_type: family, hidden_act: 'silu', ...config },
    generationConfig: {},
    tokenizer: { model: 'byte_level_bpe', preTokenizer: 'gpt2', normalizer: 'none' },
    source: 'research/inference-engines.md §6',
  };
}

const llama3Scaling = (factor: number) => ({
  rope_scaling: { rope_type: 'llama3', factor, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 },
});

/** hidden, layers, heads, KV heads, head dimension, feed-forward, vocabulary, tied, maximum positions. */
type Shape = readonly [number, number, number, number, number, number, number, boolean, number];

function shape([hidden, layers, heads, kvHeads, headDim, inner, vocab, tied, positions]: Shape): Record<string, unknown> {
  return {
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    intermediate_size: inner,
    vocab_size: vocab,
    tie_word_embeddings: tied,
    max_position_embeddings: positions,
    rms_norm_eps: 1e-5,
    rope_theta: 1e4,
  };
}

export const knownModels: readonly KnownModel[] = [
  model('HuggingFaceTB/SmolLM2-135M', 'llama', shape([576, 30, 9, 3, 64, 1536, 49152, true, 8192])),
  model('Qwen/Qwen2.5-0.5B', 'qwen2', shape([896, 24, 14, 2, 64, 4864, 151936, true, 32768])),
  model('Qwen/Qwen3-0.6B', 'qwen3', shape([1024, 28, 16, 8, 128, 3072, 151936, true, 40960])),
  model('TinyLlama/TinyLlama-1.1B-Chat-v1.0', 'llama', shape([2048, 22, 32, 4, 64, 5632, 32000, false, 2048])),
  model('meta-llama/Llama-3.2-1B', 'llama', { ...shape([2048, 16, 32, 8, 64, 8192, 128256, true, 131072]), ...llama3Scaling(32) }),
  model('mistralai/Mistral-7B-v0.3', 'mistral', { ...shape([4096, 32, 32, 8, 128, 14336, 32768, false, 32768]), sliding_window: null }),
  model('meta-llama/Llama-3.1-8B', 'llama', { ...shape([4096, 32, 32, 8, 128, 14336, 128256, false, 131072]), ...llama3Scaling(8) }),
  model('Qwen/Qwen3-8B', 'qwen3', shape([4096, 36, 32, 8, 128, 12288, 151936, false, 40960])),
];
