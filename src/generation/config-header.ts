import { feedForwardFloats } from '../model/arithmetic.ts';
import { type ConfigConstant, configConstants } from '../model/config-constants.ts';
import { gatedNames } from '../model/expected-tensors.ts';
import { expectedConfig, ignoredKeys, nullIsValueKeys } from '../model/model-config-keys.ts';
import type { ModelFacts } from '../model/model-facts.ts';

/** Everything that config.h can hold comes from these. */
export interface ConfigInput {
  readonly name: string;
  readonly facts: ModelFacts;
  readonly threads: number;
  /** f32 lanes: 4, 8 or 16; 1 on a GPU. */
  readonly vectorWidth: number;
  /** Tensors lie in a GPU's memory; absent: in the host's. */
  readonly onDevice?: boolean;
  /** Weights are f16, not bf16; absent: they are not. */
  readonly weightsF16?: boolean;
  readonly maxContext: number;
  readonly maxBatch: number;
  /** config.json as read; absent where only dimensions matter, as in the unit gate's small models. */
  readonly modelConfig?: Readonly<Record<string, unknown>>;
}

type ConfigValue = string | number | boolean | readonly number[];

/** Rows of one forward call: enough for a batch and for prefill pieces, never more than one sequence can need. */
export function maxRows(maxContext: number, maxBatch: number): number {
  return Math.max(maxBatch, Math.min(256, maxContext));
}

function configValues(input: ConfigInput): Readonly<Record<ConfigConstant, ConfigValue>> {
  const { facts } = input;
  return {
    engine_name: input.name,
    num_threads: input.threads,
    vector_width: input.vectorWidth,
    on_device: input.onDevice ?? false,
    weights_f16: input.weightsF16 ?? false,
    hidden_size: facts.hiddenSize,
    num_layers: facts.numLayers,
    num_heads: facts.numHeads,
    num_kv_heads: facts.numKvHeads,
    head_dim: facts.headDim,
    intermediate_size: facts.intermediateSize,
    mlp_floats: feedForwardFloats(facts),
    ...expertValues(facts),
    embedding_scale: facts.gemma?.embeddingScale ?? 1,
    attention_scale: facts.gemma?.attentionScale ?? 1 / Math.sqrt(facts.headDim),
    attention_cap: facts.gemma?.attentionCap ?? 0,
    final_cap: facts.gemma?.finalCap ?? 0,
    vocab_size: facts.vocabSize,
    rms_norm_eps: facts.rmsNormEps,
    rope_theta: facts.ropeTheta,
    ...ropeValues(facts),
    max_context: input.maxContext,
    max_batch: input.maxBatch,
    max_rows: maxRows(input.maxContext, input.maxBatch),
    layer_windows: facts.layerWindows,
    eos_token_ids: facts.eosTokenIds,
    model_config: expectedConfig(input.modelConfig ?? {}),
    ignored_config_keys: listKeys(ignoredKeys),
    null_config_keys: listKeys(nullIsValueKeys),
  };
}

/** Without experts nothing names these; a source that does so in a branch which the compiler drops still compiles. */
function expertValues({ experts, numLayers }: ModelFacts) {
  const naming = experts?.naming ?? 'mlp';
  const [gate, up, down] = gatedNames[naming];
  return {
    num_experts: experts?.count ?? 1,
    experts_per_token: experts?.perToken ?? 1,
    expert_size: experts?.width ?? 1,
    shared_expert_size: experts?.sharedWidth ?? 0,
    normalise_experts: experts?.isNormalised ?? false,
    expert_layers: experts?.layers.map(Number) ?? new Array<number>(numLayers).fill(0),
    ...{ expert_prefix: `${naming}.`, expert_gate_name: gate, expert_up_name: up, expert_down_name: down },
  };
}

/**
 * Those of another kind of scaling get the value that changes nothing: a source that names one in a branch which the
 * compiler drops must still compile.
 */
function ropeValues({ ropeScaling, maxPositions }: ModelFacts) {
  const scaling = { ...neutralScaling, originalMaxPositions: maxPositions, ...ropeScaling };
  return {
    rope_factor: scaling.factor,
    rope_low_freq_factor: scaling.lowFreqFactor,
    rope_high_freq_factor: scaling.highFreqFactor,
    rope_beta_fast: scaling.betaFast,
    rope_beta_slow: scaling.betaSlow,
    rope_attention_factor: scaling.attentionFactor,
    rope_original_max_positions: scaling.originalMaxPositions,
    rope_truncate: scaling.truncate,
  };
}

const neutralScaling = {
  factor: 1,
  lowFreqFactor: 1,
  highFreqFactor: 1,
  betaFast: 32,
  betaSlow: 1,
  attentionFactor: 1,
  truncate: true,
};

/**
 * config.h with the wanted constants, in the order of the list of all constants.
 * The unit gate renders it again for each of its model shapes; `wanted` is then what the contracts list.
 */
export function renderConfigHeader(input: ConfigInput, wanted: ReadonlySet<string>): string {
  const values = configValues(input);
  const names = (Object.keys(configConstants) as ConfigConstant[]).filter((name) => wanted.has(name));
  const entries = names.map((name) => [name, values[name]] as const);
  const types = entries.map(([name]) => configConstants[name]);
  const includes = [
    ...(types.some((type) => type.startsWith('std::array')) ? ['#include <array>'] : []),
    ...(types.includes('std::string_view') ? ['#include <string_view>'] : []),
  ];
  return [
    '// SPDX-License-Identifier: MIT',
    '// Every fact and limit of this engine, as a constant. Written by the composer; do not edit.',
    '#pragma once',
    ...(includes.length === 0 ? [] : [...includes, '']),
    'namespace config {',
    ...entries.map(([name, value]) => renderConstant(name, value)),
    '}  // namespace config',
    '',
  ].join('\n');
}

function renderConstant(name: ConfigConstant, value: ConfigValue): string {
  const type = typeof value === 'object' ? `std::array<int, ${value.length}>` : configConstants[name];
  return `inline constexpr ${type} ${name} = ${renderValue(type, value)};`;
}

function listKeys(keys: ReadonlySet<string>): string {
  return ` ${[...keys].sort().join(' ')} `;
}

function renderValue(type: string, value: ConfigValue): string {
  if (typeof value === 'object') return `{${value.join(', ')}}`;
  if (typeof value === 'string') {
    // A model's own text must not end the raw string.
    return value.includes('"') && !value.includes(')"') ? `R"(${value})"` : JSON.stringify(value);
  }
  if (typeof value === 'boolean' || type === 'int') return String(value);
  const digits = String(value);
  const floating = /[.e]/.test(digits) ? digits : `${digits}.0`;
  return type === 'float' ? `${floating}f` : floating;
}
