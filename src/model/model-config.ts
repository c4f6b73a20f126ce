import { readExperts } from './model-config-experts.ts';
import { readGemma } from './model-config-gemma.ts';
import {
  architectureOf,
  attentionBiasOff,
  harmlessKeys,
  isKeyOfFamily,
  offValues,
  readKeys,
} from './model-config-keys.ts';
import {
  type ConfigReader,
  isAbsent,
  isRecord,
  ownValue,
  readBoolean,
  readNumber,
  refuse,
  show,
} from './model-config-reader.ts';
import { readRope } from './model-config-rope.ts';
import { readBosTokenId, readEosTokenIds } from './model-config-tokens.ts';
import { readLayerWindows } from './model-config-windows.ts';
import { type ModelFacts, type ModelFamily, modelFamilies } from './model-facts.ts';
import type { Problem } from './problem.ts';

const sizeRule = { min: 1, max: 1_048_576, integer: true };

/**
 * Normalises a Hugging Face `config.json` (transformers 4.x or 5.x layout) and, if given, `generation_config.json`.
 * Facts are there exactly when no problem is an error; every problem names its key. A key that changes numbers and is
 * not implemented, or is not known at all, is an error: a silent guess gives a fluent and wrong model.
 */
export function readModelConfig(
  config: unknown,
  generationConfig?: unknown,
): { facts?: ModelFacts; problems: Problem[] } {
  const problems: Problem[] = [];
  if (!isRecord(config)) {
    const message = `config.json holds ${show(config)}; expected an object.`;
    return { problems: [{ severity: 'error', code: 'wrong-type', file: 'config.json', message }] };
  }
  const reader: ConfigReader = { values: config, problems, prefix: '', file: 'config.json' };
  const generation = openGenerationConfig(generationConfig, problems);
  const family = readFamily(reader);
  // An unknown family is read as the most permissive one, so that the rest of its problems show as well.
  checkKeys(reader, family ?? 'mistral');
  const facts = readFacts(reader, generation, family ?? 'mistral');
  const hasError = problems.some((problem) => problem.severity === 'error');
  return hasError || family === undefined ? { problems } : { facts, problems };
}

function openGenerationConfig(value: unknown, problems: Problem[]): ConfigReader {
  const file = 'generation_config.json';
  if (value !== undefined && value !== null && !isRecord(value)) {
    const message = `generation_config.json holds ${show(value)}; expected an object.`;
    problems.push({ severity: 'error', code: 'wrong-type', file, message });
  }
  return { values: isRecord(value) ? value : {}, problems, prefix: '', file };
}

function readFamily(reader: ConfigReader): ModelFamily | undefined {
  const value = ownValue(reader, 'model_type');
  const family = modelFamilies.find((name) => name === value);
  if (family === undefined) {
    const code = value === undefined ? 'missing-key' : 'not-implemented';
    const found = value === undefined ? 'is missing' : `${show(value)} is not implemented`;
    refuse(reader, 'model_type', code, `model_type ${found}; expected one of ${modelFamilies.join(', ')}.`);
    return undefined;
  }
  checkArchitecture(reader, family);
  return family;
}

function checkArchitecture(reader: ConfigReader, family: ModelFamily): void {
  if (isAbsent(reader, 'architectures')) return;
  const value = ownValue(reader, 'architectures');
  const expected = architectureOf[family];
  if (Array.isArray(value) && value.length === 1 && value[0] === expected) return;
  const message = `architectures is ${show(value)}; expected ["${expected}"] for model_type ${family}.`;
  refuse(reader, 'architectures', 'not-implemented', message);
}

/** Refuses every key that changes numbers and is on, and every key that nobody here has read about. */
function checkKeys(reader: ConfigReader, family: ModelFamily): void {
  for (const key of Object.keys(reader.values)) {
    if (readKeys.has(key) || harmlessKeys.has(key) || isKeyOfFamily(key, family)) continue;
    const value = ownValue(reader, key);
    if (key === 'attention_bias') {
      if (value === null || value === attentionBiasOff(family)) continue;
      refuse(
        reader,
        key,
        'not-implemented',
        `attention_bias ${show(value)} is not implemented for ${family}.`,
      );
    } else if (Object.hasOwn(offValues, key)) {
      if (value === null || offValues[key]!.includes(value) || isEmptyList(value)) continue;
      refuse(
        reader,
        key,
        'not-implemented',
        `${key} ${show(value)} changes the model's numbers and is not implemented.`,
      );
    } else {
      refuse(reader, key, 'unknown-key', `unknown key ${key}: it may change the model's numbers.`);
    }
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function readFacts(reader: ConfigReader, generation: ConfigReader, family: ModelFamily): ModelFacts {
  const vocabSize = readNumber(reader, 'vocab_size', { min: 2, max: 16_777_216, integer: true });
  const maxPositions = readNumber(reader, 'max_position_embeddings', { ...sizeRule, max: 2 ** 31 - 1 });
  const numLayers = readNumber(reader, 'num_hidden_layers', { ...sizeRule, max: 1024 });
  const heads = readHeads(reader, family);
  const rope = readRope(reader, maxPositions, family === 'mixtral' ? 1_000_000 : 10_000);
  const experts = readExperts(reader, family, numLayers);
  const gemma = readGemma(reader, family, heads.hiddenSize);
  checkConstants(reader, family);
  return {
    family,
    ...heads,
    numLayers,
    intermediateSize: readNumber(reader, 'intermediate_size', sizeRule),
    vocabSize,
    tiedHead: readBoolean(reader, 'tie_word_embeddings', family === 'gemma2'),
    rmsNormEps: readNumber(reader, 'rms_norm_eps', {
      ...{ min: 1e-15, max: 0.1 },
      otherwise: family === 'mixtral' ? 1e-5 : 1e-6,
    }),
    ropeTheta: rope.theta,
    ropeScaling: rope.scaling,
    maxPositions,
    qkvBias: readQkvBias(reader, family),
    qkNorm: family === 'qwen3' || family === 'qwen3_moe',
    ...(experts === undefined ? {} : { experts }),
    ...(gemma === undefined ? {} : { gemma }),
    layerWindows: readLayerWindows(reader, family, numLayers),
    bosTokenId: readBosTokenId(reader, generation, family, vocabSize),
    eosTokenIds: readEosTokenIds(reader, generation, family, vocabSize),
  };
}

/** qwen2_moe may switch its biases off; qwen2 always has them. */
function readQkvBias(reader: ConfigReader, family: ModelFamily): boolean {
  return family === 'qwen2_moe' ? readBoolean(reader, 'qkv_bias', true) : family === 'qwen2';
}

type Heads = Pick<ModelFacts, 'hiddenSize' | 'numHeads' | 'numKvHeads' | 'headDim'>;

function readHeads(reader: ConfigReader, family: ModelFamily): Heads {
  const hiddenSize = readNumber(reader, 'hidden_size', sizeRule);
  const numHeads = readNumber(reader, 'num_attention_heads', { ...sizeRule, max: 4096 });
  const numKvHeads = readNumber(reader, 'num_key_value_heads', {
    ...sizeRule,
    max: 4096,
    otherwise: defaultKvHeads(reader, family, numHeads),
  });
  if (numHeads % numKvHeads !== 0 && !Number.isNaN(numHeads % numKvHeads)) {
    const message = `num_key_value_heads is ${numKvHeads}; expected a divisor of num_attention_heads, ${numHeads}.`;
    refuse(reader, 'num_key_value_heads', 'out-of-range', message);
  }
  return { hiddenSize, numHeads, numKvHeads, headDim: readHeadDim(reader, family, hiddenSize, numHeads) };
}

/** Class defaults of transformers where the key is absent; null means as many as query heads, everywhere. */
function defaultKvHeads(reader: ConfigReader, family: ModelFamily, numHeads: number): number {
  if (family === 'llama' || ownValue(reader, 'num_key_value_heads') === null) return numHeads;
  const ofClass = {
    mistral: 8,
    mixtral: 8,
    qwen3_moe: 4,
    qwen2_moe: 16,
    qwen2: 32,
    qwen3: 32,
    gemma2: 4,
  } as const;
  return ofClass[family];
}

function readHeadDim(
  reader: ConfigReader,
  family: ModelFamily,
  hiddenSize: number,
  numHeads: number,
): number {
  // Qwen3Config has a fixed default of 128, Gemma2Config of 256; the others derive it.
  const fixed = { qwen3: 128, gemma2: 256 } as const;
  const isFixed = (family === 'qwen3' || family === 'gemma2') && ownValue(reader, 'head_dim') === undefined;
  const otherwise = isFixed ? fixed[family] : hiddenSize / numHeads;
  const headDim = readNumber(reader, 'head_dim', { min: 2, max: 4096, integer: true, otherwise });
  if (Number.isNaN(headDim)) return headDim;
  if (!Number.isInteger(headDim)) {
    const message = `hidden_size ${hiddenSize} is not a multiple of num_attention_heads ${numHeads}, and head_dim is not given.`;
    refuse(reader, 'head_dim', 'missing-key', message);
  } else if (headDim % 2 !== 0) {
    refuse(
      reader,
      'head_dim',
      'out-of-range',
      `head_dim is ${headDim}; rotary embedding needs an even number.`,
    );
  }
  return headDim;
}

function checkConstants(reader: ConfigReader, family: ModelFamily): void {
  const activation = ownValue(reader, 'hidden_act');
  if (family !== 'gemma2' && activation !== undefined && activation !== 'silu') {
    refuse(
      reader,
      'hidden_act',
      'not-implemented',
      `hidden_act ${show(activation)} is not implemented; expected "silu".`,
    );
  }
  for (const key of ['torch_dtype', 'dtype']) {
    const value = ownValue(reader, key);
    const isKnown =
      value === undefined ||
      value === null ||
      ['float32', 'bfloat16', 'float16', 'auto'].includes(String(value));
    if (!isKnown) refuse(reader, key, 'not-implemented', `${key} ${show(value)} is not implemented.`);
  }
}
