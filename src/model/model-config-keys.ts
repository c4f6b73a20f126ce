import type { ModelFamily } from './model-facts.ts';

/** Keys that readModelConfig reads itself, for every family. */
export const readKeys: ReadonlySet<string> = new Set([
  'architectures',
  'bos_token_id',
  'dtype',
  'eos_token_id',
  'head_dim',
  'hidden_act',
  'hidden_size',
  'intermediate_size',
  'layer_types',
  'max_position_embeddings',
  'max_window_layers',
  'model_type',
  'num_attention_heads',
  'num_hidden_layers',
  'num_key_value_heads',
  'original_max_position_embeddings',
  'rms_norm_eps',
  'rope_parameters',
  'rope_scaling',
  'rope_theta',
  'sliding_window',
  'tie_word_embeddings',
  'torch_dtype',
  'use_sliding_window',
  'vocab_size',
]);

/**
 * Keys that cannot change a logit of a teacher-forced forward pass: training settings, bookkeeping, labels, and the
 * generation defaults that transformers before 4.40 wrote into config.json (generation_config.json is what counts).
 */
export const harmlessKeys: ReadonlySet<string> = new Set([
  '_attn_implementation',
  '_attn_implementation_autoset',
  '_commit_hash',
  '_name_or_path',
  'attention_dropout',
  'attn_pdrop',
  'bad_words_ids',
  'cache_implementation',
  'cls_token_id',
  'decoder_start_token_id',
  'diversity_penalty',
  'do_sample',
  'early_stopping',
  'embd_pdrop',
  'encoder_no_repeat_ngram_size',
  'exponential_decay_length_penalty',
  'finetuning_task',
  'forced_bos_token_id',
  'forced_eos_token_id',
  'gradient_checkpointing',
  'hidden_dropout',
  'id2label',
  'initializer_range',
  'is_decoder',
  'is_llama_config',
  'label2id',
  'length_penalty',
  'max_length',
  'max_sequence_length',
  'min_length',
  'model_max_length',
  'name_or_path',
  'no_repeat_ngram_size',
  'num_beam_groups',
  'num_beams',
  'num_return_sequences',
  'output_attentions',
  'output_hidden_states',
  'output_router_logits',
  'output_scores',
  'pad_token_id',
  'prefix',
  'problem_type',
  'pruned_heads',
  'remove_invalid_values',
  'repetition_penalty',
  'resid_pdrop',
  'return_dict',
  'return_dict_in_generate',
  'router_aux_loss_coef',
  'router_jitter_noise',
  'sep_token_id',
  'suppress_tokens',
  'begin_suppress_tokens',
  'task_specific_params',
  'temperature',
  'tokenizer_class',
  'top_k',
  'top_p',
  'torchscript',
  'transformers.js_config',
  'transformers_version',
  'typical_p',
  'unsloth_fixed',
  'unsloth_version',
  'use_bfloat16',
  'use_cache',
]);

/**
 * Keys that do change numbers, and the values at which they do not. Any other value is refused by name, because no
 * contract implements it. `null` is always off.
 */
export const offValues: Readonly<Record<string, readonly unknown[]>> = {
  add_cross_attention: [false],
  alibi: [false],
  attention_chunk_size: [],
  attention_multiplier: [],
  attn_logit_softcapping: [],
  attn_temperature_tuning: [false],
  chunk_size_feed_forward: [0],
  compression_config: [],
  cross_attention_hidden_size: [],
  decoder_sparse_step: [],
  embedding_multiplier: [1],
  final_logit_softcapping: [],
  hidden_activation: ['silu'],
  is_encoder_decoder: [false],
  logit_scale: [1],
  logits_scaling: [1],
  mlp_bias: [false],
  mlp_only_layers: [],
  moe_intermediate_size: [],
  n_routed_experts: [0],
  no_rope_layers: [],
  norm_topk_prob: [],
  num_experts: [0],
  num_experts_per_tok: [],
  num_local_experts: [0],
  parallel_attn: [false],
  partial_rotary_factor: [1],
  pretraining_tp: [1],
  qk_layernorm: [false],
  quantization_config: [],
  query_pre_attn_scalar: [],
  residual_multiplier: [1],
  rope_interleaved: [false],
  shared_expert_intermediate_size: [],
  text_config: [],
  tie_encoder_decoder: [false],
  use_bidirectional_attention: [false],
  use_mrope: [false],
  use_parallel_residual: [false],
  vision_config: [],
};

/** Keys that change numbers and that one family's reader reads, though others refuse them. */
const expertKeys = [
  'decoder_sparse_step',
  'mlp_only_layers',
  'moe_intermediate_size',
  'norm_topk_prob',
  'num_experts',
];
const routingKeys = ['num_experts_per_tok', 'num_local_experts'];
const familyKeys: Readonly<Partial<Record<ModelFamily, ReadonlySet<string>>>> = {
  qwen3_moe: new Set([...expertKeys, ...routingKeys]),
  qwen2_moe: new Set([...expertKeys, ...routingKeys, 'shared_expert_intermediate_size', 'qkv_bias']),
  mixtral: new Set(routingKeys),
  gemma2: new Set([
    'attn_logit_softcapping',
    'final_logit_softcapping',
    'hidden_activation',
    'query_pre_attn_scalar',
  ]),
};

export function isKeyOfFamily(key: string, family: ModelFamily): boolean {
  return familyKeys[family]?.has(key) === true;
}

/** qwen2 has q, k, v biases whatever the key says; the other families have none unless the key turns them on. */
export function attentionBiasOff(family: ModelFamily): boolean {
  return family === 'qwen2' || family === 'qwen2_moe';
}

export const architectureOf: Readonly<Record<ModelFamily, string>> = {
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  qwen3_moe: 'Qwen3MoeForCausalLM',
  qwen2_moe: 'Qwen2MoeForCausalLM',
  mixtral: 'MixtralForCausalLM',
  gemma2: 'Gemma2ForCausalLM',
};

/**
 * Keys that an engine does not compare with those it was made for: the harmless ones, how the files store the weights
 * (the tensors say it themselves), and the ids that the engine joined from config.json and generation_config.json.
 */
export const ignoredKeys: ReadonlySet<string> = new Set([
  ...harmlessKeys,
  'bos_token_id',
  'dtype',
  'eos_token_id',
  'torch_dtype',
]);

/** transformers fills these from a class default where they are absent, so that null means something else. */
export const nullIsValueKeys: ReadonlySet<string> = new Set([
  'head_dim',
  'num_key_value_heads',
  'sliding_window',
]);

/**
 * What of a config.json an engine is made for, as compact JSON with sorted keys. `)` is escaped, so that the text can
 * stand in a raw string literal of C++.
 */
export function expectedConfig(config: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(config).filter(([key]) => !ignoredKeys.has(key));
  return JSON.stringify(canonicalise(Object.fromEntries(entries))).replaceAll(')', '\\u0029');
}

function canonicalise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalise);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, entry]) => entry !== null || nullIsValueKeys.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, canonicalise(entry)]));
}
