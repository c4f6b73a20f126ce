/**
 * Every constant that config.h can hold, with its C++ type. A contract lists those it uses under `config:`;
 * the composer writes those that a selected contract lists and no other.
 */
export const configConstants = {
  engine_name: 'std::string_view',
  num_threads: 'int',
  /** f32 lanes of one vector: 4, 8 or 16; 1 on a GPU. */
  vector_width: 'int',
  /** Whether tensors lie in the memory of a GPU. */
  on_device: 'bool',
  /** The weights' format is f16 and not bf16. */
  weights_f16: 'bool',
  hidden_size: 'int',
  num_layers: 'int',
  num_heads: 'int',
  num_kv_heads: 'int',
  head_dim: 'int',
  intermediate_size: 'int',
  /** Floats of scratch that one row takes in the feed-forward half, its normalised copy left out. */
  mlp_floats: 'int',
  num_experts: 'int',
  experts_per_token: 'int',
  /** Inner width of one expert. */
  expert_size: 'int',
  /** Inner width of the expert of every token; 0 where there is none. */
  shared_expert_size: 'int',
  /** Whether the chosen experts' probabilities are divided by their sum. */
  normalise_experts: 'bool',
  /** Per layer: 1 with experts, 0 with one MLP. */
  expert_layers: 'std::array<int, num_layers>',
  /** What a layer's experts are called in a checkpoint: the part in front of `gate` and `experts`, and the three matrices. */
  expert_prefix: 'std::string_view',
  expert_gate_name: 'std::string_view',
  expert_up_name: 'std::string_view',
  expert_down_name: 'std::string_view',
  /** Factor of the embeddings; of the scores before their cap; the caps of scores and logits: cap · tanh(x / cap). */
  embedding_scale: 'float',
  attention_scale: 'float',
  attention_cap: 'float',
  final_cap: 'float',
  vocab_size: 'int',
  rms_norm_eps: 'float',
  rope_theta: 'double',
  rope_factor: 'double',
  rope_low_freq_factor: 'double',
  rope_high_freq_factor: 'double',
  rope_beta_fast: 'double',
  rope_beta_slow: 'double',
  rope_attention_factor: 'double',
  rope_original_max_positions: 'int',
  rope_truncate: 'bool',
  max_context: 'int',
  max_batch: 'int',
  /** Rows of one forward call. */
  max_rows: 'int',
  /** Per layer: keys a query sees, itself included; 0 = all. */
  layer_windows: 'std::array<int, num_layers>',
  eos_token_ids: 'std::array<int, N>',
  /** JSON of the config.json that the engine is made for, without the ignored keys. */
  model_config: 'std::string_view',
  /** Keys of config.json that change nothing, each between blanks. */
  ignored_config_keys: 'std::string_view',
  /** Keys of config.json where null is not the same as absent, each between blanks. */
  null_config_keys: 'std::string_view',
} as const;

export type ConfigConstant = keyof typeof configConstants;

export function isConfigConstant(name: string): name is ConfigConstant {
  return Object.hasOwn(configConstants, name);
}
