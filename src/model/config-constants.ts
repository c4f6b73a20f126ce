/**
 * Every constant that config.h can hold, with its C++ type. A contract lists those it uses under `config:`;
 * the composer writes those that a selected contract lists and no other.
 */
export const configConstants = {
  engine_name: 'std::string_view',
  model_type: 'std::string_view',
  num_threads: 'int',
  /** f32 lanes of one vector: 4, 8 or 16. */
  vector_width: 'int',
  hidden_size: 'int',
  num_layers: 'int',
  num_heads: 'int',
  num_kv_heads: 'int',
  head_dim: 'int',
  intermediate_size: 'int',
  vocab_size: 'int',
  tied_head: 'bool',
  qkv_bias: 'bool',
  qk_norm: 'bool',
  rms_norm_eps: 'float',
  rope_theta: 'double',
  /** none | linear | llama3 | yarn */
  rope_scaling: 'std::string_view',
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
  max_positions: 'int',
  /** Per layer: keys a query sees, itself included; 0 = all. */
  layer_windows: 'std::array<int, num_layers>',
  /** -1 = none. */
  bos_token_id: 'int',
  eos_token_ids: 'std::array<int, N>',
} as const;

export type ConfigConstant = keyof typeof configConstants;

export function isConfigConstant(name: string): name is ConfigConstant {
  return Object.hasOwn(configConstants, name);
}
