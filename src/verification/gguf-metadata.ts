import { AppError } from '../model/errors.ts';
import type { ModelFacts, RopeScaling } from '../model/model-facts.ts';
import type { FloatFormat } from './float-formats.ts';
import type { GgufValue } from './gguf-format.ts';

/** llama.cpp's own name of the architecture. Mistral and Mixtral are read as llama. */
const architectures = {
  ...{ llama: 'llama', mistral: 'llama', mixtral: 'llama' },
  ...{ qwen2: 'qwen2', qwen2_moe: 'qwen2moe', qwen3: 'qwen3', qwen3_moe: 'qwen3moe' },
  gemma2: 'gemma2',
} as const;

/** `general.file_type` (llama_ftype of llama.h): informative only. */
const fileTypes = { f32: 0, f16: 1, bf16: 32 } as const satisfies Record<FloatFormat, number>;

/**
 * Why llama.cpp v0.5.0 cannot compute this model, or undefined where it can. `context` is the longest sequence that will
 * be run: a sliding window that no sequence outgrows changes nothing.
 */
export function ggufObstacle(facts: ModelFacts, context: number): string | undefined {
  if (facts.gemma !== undefined)
    return 'llama.cpp computes GELU with a half-precision table and takes the query scale from the model size';
  const obstacle = expertObstacle(facts);
  if (obstacle !== undefined) return obstacle;
  const window = Math.min(...facts.layerWindows.filter((keys) => keys > 0));
  if (window < context) {
    return `llama.cpp reads no sliding window for ${facts.family} (window ${window}, context ${context})`;
  }
  if (
    (facts.family === 'qwen2' || facts.family === 'qwen2_moe') &&
    facts.numHeads * facts.headDim !== facts.hiddenSize
  ) {
    return `llama.cpp wants ${facts.family} with heads·head_dim = hidden (${facts.numHeads}·${facts.headDim} ≠ ${facts.hiddenSize})`;
  }
  if (facts.ropeScaling.kind === 'yarn' && !facts.ropeScaling.truncate) {
    return 'llama.cpp always rounds the yarn correction range (truncate: false is not read)';
  }
  if (facts.ropeScaling.kind === 'llama3' && architectures[facts.family] !== 'llama') {
    return `llama.cpp reads rope_freqs for llama only, not for ${facts.family}`;
  }
  return undefined;
}

/** llama.cpp has one rule for the experts' weights per architecture, and no layers without experts in these. */
function expertObstacle({ family, experts }: ModelFacts): string | undefined {
  if (experts === undefined) return undefined;
  if (experts.layers.includes(false)) return `llama.cpp knows no layer without experts in ${family}`;
  const normalises = family !== 'qwen2_moe';
  if (experts.isNormalised === normalises) return undefined;
  return `llama.cpp ${normalises ? 'always' : 'never'} divides the experts' weights by their sum in ${family}`;
}

const u32 = (value: number): GgufValue => ({ type: 'u32', value });
const f32 = (value: number): GgufValue => ({ type: 'f32', value });
const string = (value: string): GgufValue => ({ type: 'string', value });

/**
 * llama.cpp multiplies cos and sin by (0.1·ln(factor) + 1)·attn_factor when yarn is on, so attn_factor is what is left of
 * the model's own factor (llama-context.cpp and rope_yarn in ggml-cpu/ops.cpp). The beta keys are read for few
 * architectures; the driver reads them from the metadata and passes them as context parameters.
 */
function scalingMetadata(scaling: RopeScaling): [string, GgufValue][] {
  if (scaling.kind === 'linear') {
    return [
      ['rope.scaling.type', string('linear')],
      ['rope.scaling.factor', f32(scaling.factor)],
    ];
  }
  if (scaling.kind !== 'yarn') return [];
  const builtIn = scaling.factor <= 1 ? 1 : 0.1 * Math.log(scaling.factor) + 1;
  return [
    ['rope.scaling.type', string('yarn')],
    ['rope.scaling.factor', f32(scaling.factor)],
    ['rope.scaling.original_context_length', u32(scaling.originalMaxPositions)],
    ['rope.scaling.attn_factor', f32(scaling.attentionFactor / builtIn)],
    ['rope.scaling.yarn_beta_fast', f32(scaling.betaFast)],
    ['rope.scaling.yarn_beta_slow', f32(scaling.betaSlow)],
  ];
}

function expertMetadata({ experts }: ModelFacts): [string, GgufValue][] {
  if (experts === undefined) return [];
  return [
    ['expert_count', u32(experts.count)],
    ['expert_used_count', u32(experts.perToken)],
    ['expert_feed_forward_length', u32(experts.width)],
    ...(experts.sharedWidth === 0
      ? []
      : [['expert_shared_feed_forward_length', u32(experts.sharedWidth)] satisfies [string, GgufValue]]),
  ];
}

/** No tokenizer is written (`none` + vocab_size): prompts are token ids on both sides of every comparison. */
export function ggufMetadata(facts: ModelFacts, dtype: FloatFormat): [string, GgufValue][] {
  const architecture = architectures[facts.family];
  const own: [string, GgufValue][] = [
    ['vocab_size', u32(facts.vocabSize)],
    ['context_length', u32(facts.maxPositions)],
    ['embedding_length', u32(facts.hiddenSize)],
    ['block_count', u32(facts.numLayers)],
    ['feed_forward_length', u32(facts.intermediateSize)],
    ['attention.head_count', u32(facts.numHeads)],
    ['attention.head_count_kv', u32(facts.numKvHeads)],
    ['attention.key_length', u32(facts.headDim)],
    ['attention.value_length', u32(facts.headDim)],
    ['attention.layer_norm_rms_epsilon', f32(facts.rmsNormEps)],
    ['rope.dimension_count', u32(facts.headDim)],
    ['rope.freq_base', f32(facts.ropeTheta)],
    ...scalingMetadata(facts.ropeScaling),
    ...expertMetadata(facts),
  ];
  return [
    ['general.architecture', string(architecture)],
    ['general.name', string('metainfer')],
    ['general.file_type', u32(fileTypes[dtype])],
    ...own.map(([key, value]): [string, GgufValue] => [`${architecture}.${key}`, value]),
    ['tokenizer.ggml.model', string('none')],
  ];
}

/**
 * Divisors of the inverse frequencies, the form in which llama.cpp takes llama3 scaling (tensor rope_freqs.weight).
 * Formula: research §6, the published llama3 rule; wavelengths between the two limits are blended.
 */
export function llama3FrequencyDivisors(facts: ModelFacts): Float32Array {
  const scaling = facts.ropeScaling;
  if (scaling.kind !== 'llama3')
    throw new AppError('INTERNAL', 'rope_freqs asked for a model without llama3 scaling');
  const divisors = new Float32Array(facts.headDim / 2);
  for (let pair = 0; pair < divisors.length; pair++) {
    const wavelength = 2 * Math.PI * facts.ropeTheta ** ((2 * pair) / facts.headDim);
    const turns = scaling.originalMaxPositions / wavelength;
    const share = (turns - scaling.lowFreqFactor) / (scaling.highFreqFactor - scaling.lowFreqFactor);
    const smooth = Math.min(1, Math.max(0, share));
    divisors[pair] = 1 / ((1 - smooth) / scaling.factor + smooth);
  }
  return divisors;
}
