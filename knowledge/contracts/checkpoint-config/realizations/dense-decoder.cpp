// SPDX-License-Identifier: MIT
// checkpoint.config: compares a folder's config.json (transformers 4.x or 5.x layout) with the constants this engine was
// compiled with, and refuses every key that may change numbers and isn't among them. No tensor; any target; exact.
// applies: hardware.platform=cpu-x86_64
#include "checkpoint_config.h"

#include <charconv>

#include "format_json.h"

namespace {

constexpr bool is_llama = config::model_type == "llama", is_mistral = config::model_type == "mistral";
constexpr std::string_view qkv_bias = config::qkv_bias ? "true" : "false";

// Read below, or without influence on any logit: training settings, labels, generation defaults of old files.
constexpr std::string_view known_keys =
    " architectures bos_token_id dtype eos_token_id head_dim hidden_act hidden_size intermediate_size layer_types"
    " max_position_embeddings max_window_layers model_type num_attention_heads num_hidden_layers"
    " num_key_value_heads original_max_position_embeddings rms_norm_eps rope_parameters rope_scaling rope_theta"
    " sliding_window tie_word_embeddings torch_dtype use_sliding_window vocab_size _attn_implementation"
    " _attn_implementation_autoset _commit_hash _name_or_path attention_dropout attn_pdrop bad_words_ids"
    " cls_token_id decoder_start_token_id diversity_penalty do_sample early_stopping embd_pdrop"
    " encoder_no_repeat_ngram_size exponential_decay_length_penalty finetuning_task forced_bos_token_id"
    " forced_eos_token_id gradient_checkpointing hidden_dropout id2label initializer_range is_decoder"
    " is_llama_config label2id length_penalty max_length max_sequence_length min_length model_max_length"
    " name_or_path no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_attentions"
    " output_hidden_states output_scores pad_token_id prefix problem_type pruned_heads remove_invalid_values"
    " repetition_penalty resid_pdrop return_dict return_dict_in_generate sep_token_id suppress_tokens"
    " begin_suppress_tokens task_specific_params temperature tokenizer_class top_k top_p torchscript"
    " transformers.js_config transformers_version typical_p unsloth_fixed unsloth_version use_bfloat16 use_cache ";
// key=value: allowed at that value, null or []; key= only at the latter two.
constexpr std::string_view off_values =
    " add_cross_attention=false alibi=false attention_chunk_size= attention_multiplier= attn_logit_softcapping="
    " attn_temperature_tuning=false chunk_size_feed_forward=0 compression_config= cross_attention_hidden_size="
    " decoder_sparse_step= embedding_multiplier=1 final_logit_softcapping= hidden_activation=\"silu\""
    " is_encoder_decoder=false logit_scale=1 logits_scaling=1 mlp_bias=false mlp_only_layers="
    " moe_intermediate_size= n_routed_experts=0 no_rope_layers= norm_topk_prob= num_experts=0 num_experts_per_tok="
    " num_local_experts=0 parallel_attn=false partial_rotary_factor=1 pretraining_tp=1 qk_layernorm=false"
    " quantization_config= query_pre_attn_scalar= residual_multiplier=1 rope_interleaved=false text_config="
    " tie_encoder_decoder=false use_mrope=false use_parallel_residual=false vision_config= ";
// What each kind of rotary scaling may hold beside its type and theta.
constexpr std::string_view rope_keys =
    config::rope_scaling == "none"     ? " rope_type type rope_theta "
    : config::rope_scaling == "linear" ? " rope_type type rope_theta factor "
    : config::rope_scaling == "llama3"
        ? " rope_type type rope_theta factor low_freq_factor high_freq_factor original_max_position_embeddings "
        : " rope_type type rope_theta factor attention_factor beta_fast beta_slow finetuned mscale mscale_all_dim"
          " original_max_position_embeddings truncate ";

bool contains(std::string_view list, const std::string& word) { return list.find(" " + word) != list.npos; }

std::string show_number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
std::string show(const Json& value) {
  switch (value.kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::boolean: return value.boolean ? "true" : "false";
    case Json::Kind::string: return json_quote(value.string);
    case Json::Kind::array: return value.items.empty() ? "[]" : "[...]";
    case Json::Kind::object: return "{...}";
    default: return show_number(value.number);
  }
}

// An object of the file, and the problems found in it so far.
struct Reader {
  const Json& values;
  const std::string prefix;
  std::string& problems;

  const Json* find(std::string_view key) const {
    const Json* value = values.find(key);
    return value == nullptr || value->kind == Json::Kind::null ? nullptr : value;
  }
  double get(std::string_view key, double otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    return value->kind == Json::Kind::boolean ? value->boolean : value->kind == Json::Kind::number ? value->number : NAN;
  }
  void refuse(std::string_view key, const std::string& what) const {
    ((((problems += problems.empty() ? "" : "; ") += prefix) += key) += " ") += what;
  }
  // A number, or true and false as 1 and 0; `otherwise` is what transformers takes where the key is absent.
  void expect(std::string_view key, double expected, double otherwise = NAN) const {
    const double found = get(key, otherwise);
    if (std::abs(found - expected) <= 1e-12 * std::abs(expected)) return;
    const Json* value = find(key);
    refuse(key, "is " + (value != nullptr ? show(*value) : std::isnan(otherwise) ? "missing" : show_number(found)) +
                    "; this engine was built for " + show_number(expected));
  }
  void expect_text(std::string_view key, std::string_view expected) const {
    const Json* value = find(key);
    if (value == nullptr || value->kind != Json::Kind::string || value->string != expected)
      refuse(key, "is " + (value != nullptr ? show(*value) : "missing") + "; this engine was built for " + json_quote(expected));
  }
};

void check_keys(const Reader& reader) {
  for (const auto& [key, value] : reader.values.members) {
    const bool null = value.kind == Json::Kind::null, empty = value.kind == Json::Kind::array && value.items.empty();
    if (contains(known_keys, key + " ") || null) continue;
    if (key == "attention_bias" ? show(value) == qkv_bias : contains(off_values, key + "=" + show(value) + " ")) continue;
    if (key != "attention_bias" && !contains(off_values, key + "=")) {
      reader.refuse(key, "is unknown: it may change the model's numbers");
    } else if (!empty) {
      reader.refuse(key, show(value) + " is not implemented");
    }
  }
}

void check_sizes(const Reader& reader) {
  // Absent keys mean what transformers' configuration classes say; null KV heads: as many as heads.
  const bool no_kv_heads = is_llama || reader.values.find("num_key_value_heads") != nullptr;
  const bool fixed_head_dim = config::qk_norm && reader.values.find("head_dim") == nullptr;
  const double kv_heads = no_kv_heads ? config::num_heads : is_mistral ? 8 : 32, heads = config::num_heads;
  const struct { const char* key; double expected, otherwise; } sizes[] = {
      {"hidden_size", config::hidden_size, NAN}, {"num_hidden_layers", config::num_layers, NAN},
      {"num_attention_heads", heads, NAN}, {"num_key_value_heads", config::num_kv_heads, kv_heads},
      {"head_dim", config::head_dim, fixed_head_dim ? 128 : config::hidden_size / heads},
      {"intermediate_size", config::intermediate_size, NAN}, {"vocab_size", config::vocab_size, NAN},
      {"max_position_embeddings", config::max_positions, NAN}, {"tie_word_embeddings", config::tied_head, 0}};
  for (const auto& [key, expected, otherwise] : sizes) reader.expect(key, expected, otherwise);
  if (static_cast<float>(reader.get("rms_norm_eps", 1e-6)) != config::rms_norm_eps)
    reader.expect("rms_norm_eps", static_cast<double>(config::rms_norm_eps), 1e-6);
}

void check_windows(const Reader& reader) {
  const bool null = reader.values.find("sliding_window") != nullptr && reader.find("sliding_window") == nullptr;
  const double window = null ? 0 : reader.get("sliding_window", is_llama ? 0 : 4096), first = reader.get("max_window_layers", 28);
  const bool used = is_llama || is_mistral || reader.get("use_sliding_window", 0) != 0;
  const Json* types = reader.find("layer_types");
  if (types != nullptr && types->items.size() != size_t{config::num_layers}) reader.refuse("layer_types", "is not one name per layer");
  for (size_t layer = 0; layer < size_t{config::num_layers}; ++layer) {
    const int expected = config::layer_windows[layer];
    const std::string_view type = expected > 0 ? "sliding_attention" : "full_attention";
    const bool has_type = types != nullptr && layer < types->items.size();
    const bool slides = used && (is_llama || is_mistral || (has_type ? expected > 0 : static_cast<double>(layer) >= first));
    if ((slides ? window : 0) != expected)
      return reader.refuse("sliding_window", "gives layer " + std::to_string(layer) + " another window than this engine has");
    if (has_type && types->items[layer].string != type)
      return reader.refuse("layer_types", "of layer " + std::to_string(layer) + " is " + show(types->items[layer]));
  }
}

void check_scaling(const Reader& outer, const Reader& reader) {
  for (const auto& [key, value] : reader.values.members) {
    const bool off = value.kind == Json::Kind::null || ((key == "factor" || key == "partial_rotary_factor") && show(value) == "1");
    if (!contains(rope_keys, key + " ") && !off) reader.refuse(key, show(value) + " is not implemented");
  }
  for (const char* key : {"rope_type", "type"}) {
    const Json* type = reader.find(key);
    if (type != nullptr && (type->string == "default" ? "none" : type->string) != config::rope_scaling)
      reader.refuse(key, "is " + show(*type) + "; this engine was built for " + std::string(config::rope_scaling));
  }
  if (config::rope_scaling == "none") return;
  if (reader.find("rope_type") == nullptr) reader.expect_text("type", config::rope_scaling);
  const bool yarn = config::rope_scaling == "yarn";
  const double beside = outer.get("original_max_position_embeddings", yarn ? config::max_positions : NAN);
  const double original = reader.get("original_max_position_embeddings", beside);
  reader.expect("factor", config::rope_factor, yarn ? config::max_positions / original : NAN);
  if (config::rope_scaling == "linear") return;
  reader.expect("original_max_position_embeddings", config::rope_original_max_positions, beside);
  if (outer.find("original_max_position_embeddings") != nullptr)  // transformers 5 lets this one win
    outer.expect("original_max_position_embeddings", config::rope_original_max_positions);
  if (config::rope_scaling == "llama3") {
    reader.expect("low_freq_factor", config::rope_low_freq_factor);
    return reader.expect("high_freq_factor", config::rope_high_freq_factor);
  }
  if (reader.get("beta_fast", 0) != 0 || config::rope_beta_fast != 32) reader.expect("beta_fast", config::rope_beta_fast, 32);
  if (reader.get("beta_slow", 0) != 0 || config::rope_beta_slow != 1) reader.expect("beta_slow", config::rope_beta_slow, 1);
  reader.expect("truncate", config::rope_truncate, 1);
  const double mscale = reader.get("mscale", 0), all = reader.get("mscale_all_dim", 0);
  const auto magnitude = [](double scale) { return 0.1 * scale * std::log(config::rope_factor) + 1; };
  reader.expect("attention_factor", config::rope_attention_factor,
                mscale != 0 && all != 0 ? magnitude(mscale) / magnitude(all) : magnitude(1));
}

void check_rope(const Reader& reader) {
  int found = 0;
  const double theta = reader.get("rope_theta", 10000);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* scaling = reader.find(key);
    if (scaling == nullptr || (scaling->kind == Json::Kind::object && scaling->members.empty())) continue;
    if (scaling->kind != Json::Kind::object) return reader.refuse(key, "is not an object");
    const Reader inner{*scaling, std::string(key) + ".", reader.problems};
    inner.expect("rope_theta", config::rope_theta, theta);
    check_scaling(reader, inner);
    ++found;
  }
  if (found == 0 || reader.find("rope_theta") != nullptr) reader.expect("rope_theta", config::rope_theta, theta);
  if (found == 0 && config::rope_scaling != "none")
    reader.refuse("rope_scaling", "is missing; this engine was built for " + std::string(config::rope_scaling));
}

void check_names(const Reader& reader) {
  const std::string class_name = is_llama ? "Llama" : is_mistral ? "Mistral" : config::qk_norm ? "Qwen3" : "Qwen2";
  const Json* classes = reader.find("architectures");
  if (classes != nullptr && (classes->items.size() != 1 || classes->items[0].string != class_name + "ForCausalLM"))
    reader.refuse("architectures", "is not [\"" + class_name + "ForCausalLM\"]");
  reader.expect_text("model_type", config::model_type);
  if (reader.values.find("hidden_act") != nullptr) reader.expect_text("hidden_act", "silu");
  for (const char* key : {"torch_dtype", "dtype"}) {
    const Json* dtype = reader.find(key);
    if (dtype != nullptr && !contains(" float32 bfloat16 float16 auto ", dtype->string + " "))
      reader.refuse(key, show(*dtype) + " is not implemented");
  }
}

}  // namespace

void check_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const Json json = parse_json_file(path);
  if (json.kind != Json::Kind::object) throw EngineError(path + ": not an object");
  std::string problems;
  const Reader reader{json, "", problems};
  check_names(reader);
  check_keys(reader);
  check_sizes(reader);
  check_windows(reader);
  check_rope(reader);
  if (!problems.empty()) throw EngineError(path + ": " + problems);
}
