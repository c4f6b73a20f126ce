import { describe, expect, test } from 'vitest';
import { readModelConfig } from '../../src/model/model-config.ts';
import type { RopeScaling } from '../../src/model/model-facts.ts';

const sizes = {
  hidden_size: 96,
  num_hidden_layers: 4,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  intermediate_size: 224,
  vocab_size: 397,
  max_position_embeddings: 512,
};
const llama = { model_type: 'llama', ...sizes };
const mistral = { model_type: 'mistral', ...sizes };
const qwen2 = { model_type: 'qwen2', ...sizes };
const qwen3 = { model_type: 'qwen3', ...sizes };

function factsOf(config: unknown, generation?: unknown) {
  const { facts, problems } = readModelConfig(config, generation);
  expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
  return facts!;
}

function pathsOf(config: unknown, generation?: unknown) {
  const { facts, problems } = readModelConfig(config, generation);
  expect(facts).toBeUndefined();
  expect(problems.every((problem) => problem.message.length > 10)).toBe(true);
  return problems.filter((problem) => problem.severity === 'error').map((problem) => problem.path);
}

describe('what an absent key means is what the transformers classes say', () => {
  test('llama', () => {
    expect(factsOf(llama)).toEqual({
      family: 'llama',
      hiddenSize: 96,
      numLayers: 4,
      numHeads: 6,
      numKvHeads: 2,
      headDim: 16,
      intermediateSize: 224,
      vocabSize: 397,
      tiedHead: false,
      rmsNormEps: 1e-6,
      ropeTheta: 10_000,
      ropeScaling: { kind: 'none' },
      maxPositions: 512,
      qkvBias: false,
      qkNorm: false,
      layerWindows: [0, 0, 0, 0],
      bosTokenId: 1,
      eosTokenIds: [2],
    });
  });

  test('a qwen3 head has 128 elements, whatever hidden size and heads say', () => {
    expect(factsOf(qwen3)).toMatchObject({
      headDim: 128,
      qkNorm: true,
      qkvBias: false,
      bosTokenId: null,
      eosTokenIds: [],
    });
  });

  test('mistral slides over 4096 keys; null means no window', () => {
    expect(factsOf(mistral).layerWindows).toEqual([4096, 4096, 4096, 4096]);
    expect(factsOf({ ...mistral, sliding_window: null }).layerWindows).toEqual([0, 0, 0, 0]);
  });

  test('KV heads: llama as many as heads, mistral 8, qwen 32, null as many as heads everywhere', () => {
    const heads = { num_attention_heads: 64, num_key_value_heads: undefined, head_dim: 4 };
    const counts = [llama, mistral, qwen2, qwen3].map(
      (config) => factsOf({ ...config, ...heads }).numKvHeads,
    );
    expect(counts).toEqual([64, 8, 32, 32]);
    const isNull = [llama, mistral, qwen2, qwen3].map(
      (config) => factsOf({ ...config, ...heads, num_key_value_heads: null }).numKvHeads,
    );
    expect(isNull).toEqual([64, 64, 64, 64]);
  });
});

describe('the layouts of transformers 4.x and 5.x give the same facts', () => {
  const scaled = {
    rope_type: 'llama3',
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 64,
  };

  test('scaling beside theta, or both in rope_parameters', () => {
    const old = factsOf({ ...llama, rope_theta: 5e5, rope_scaling: scaled, torch_dtype: 'bfloat16' });
    const modern = factsOf({ ...llama, rope_parameters: { ...scaled, rope_theta: 5e5 }, dtype: 'bfloat16' });
    expect(modern).toEqual(old);
    expect(old.ropeScaling).toEqual({
      kind: 'llama3',
      factor: 8,
      lowFreqFactor: 1,
      highFreqFactor: 4,
      originalMaxPositions: 64,
    });
  });

  test('no scaling: null, absent, empty, or the type default', () => {
    const plain = factsOf({ ...llama, rope_theta: 5e5 });
    for (const rope of [
      { rope_scaling: null },
      { rope_parameters: {} },
      { rope_parameters: { rope_type: 'default', rope_theta: 5e5 } },
    ]) {
      expect(factsOf({ ...llama, rope_theta: 5e5, ...rope })).toEqual(plain);
    }
  });

  test('qwen windows: from max_window_layers on, or as layer_types says', () => {
    const window = { use_sliding_window: true, sliding_window: 64 };
    expect(factsOf({ ...qwen2, ...window, max_window_layers: 3 }).layerWindows).toEqual([0, 0, 0, 64]);
    expect(factsOf({ ...qwen2, ...window }).layerWindows).toEqual([0, 0, 0, 0]);
    const types = ['sliding_attention', 'full_attention', 'full_attention', 'sliding_attention'];
    expect(factsOf({ ...qwen3, ...window, layer_types: types }).layerWindows).toEqual([64, 0, 0, 64]);
    expect(factsOf({ ...qwen3, sliding_window: 64, use_sliding_window: false }).layerWindows).toEqual([
      0, 0, 0, 0,
    ]);
    expect(pathsOf({ ...qwen3, sliding_window: 64, layer_types: types })).toEqual(['layer_types']);
    expect(pathsOf({ ...mistral, sliding_window: 64, layer_types: types })).toEqual(['layer_types']);
  });
});

describe('rotary scaling', () => {
  const scaling = (rope: object, extra: object = {}): RopeScaling =>
    factsOf({ ...llama, rope_scaling: rope, ...extra }).ropeScaling;

  test('the legacy key type works like rope_type', () => {
    expect(scaling({ type: 'linear', factor: 2 })).toEqual({ kind: 'linear', factor: 2 });
  });

  test('yarn defaults: beta 32 and 1, original length, truncation, attention factor from the factor', () => {
    expect(scaling({ rope_type: 'yarn', factor: 4 })).toEqual({
      kind: 'yarn',
      factor: 4,
      betaFast: 32,
      betaSlow: 1,
      originalMaxPositions: 512,
      attentionFactor: 0.1 * Math.log(4) + 1,
      truncate: true,
    });
  });

  test('yarn attention factor: explicit before the ratio of mscale and mscale_all_dim before the factor', () => {
    const yarn = { rope_type: 'yarn', factor: 40, mscale: 1, mscale_all_dim: 0.7 };
    const ratio = (0.1 * Math.log(40) + 1) / (0.1 * 0.7 * Math.log(40) + 1);
    expect(scaling(yarn)).toMatchObject({ attentionFactor: ratio });
    expect(scaling({ ...yarn, mscale_all_dim: 0 })).toMatchObject({
      attentionFactor: 0.1 * Math.log(40) + 1,
    });
    expect(scaling({ ...yarn, attention_factor: 1.5 })).toMatchObject({ attentionFactor: 1.5 });
    expect(scaling({ ...yarn, factor: 1 })).toMatchObject({ attentionFactor: 1 });
  });

  test('an explicit yarn factor wins over the ratio of lengths, with a warning; a null one is that ratio', () => {
    const yarn = { rope_type: 'yarn', original_max_position_embeddings: 128 };
    expect(scaling({ ...yarn, factor: null })).toMatchObject({ factor: 4, originalMaxPositions: 128 });
    const { facts, problems } = readModelConfig({ ...llama, rope_scaling: { ...yarn, factor: 3 } });
    expect(facts?.ropeScaling).toMatchObject({ factor: 3 });
    expect(problems).toMatchObject([{ severity: 'warning', path: 'rope_scaling.factor' }]);
  });

  test('zero betas count as absent, and truncate may be off', () => {
    const yarn = { rope_type: 'yarn', factor: 4, beta_fast: 0, beta_slow: 0, truncate: false };
    expect(scaling(yarn)).toMatchObject({ betaFast: 32, betaSlow: 1, truncate: false });
  });

  test.each([
    [{ rope_scaling: { rope_type: 'dynamic', factor: 2 } }, ['rope_scaling.rope_type']],
    [{ rope_scaling: { type: 'su', factor: 2 } }, ['rope_scaling.type']],
    [{ rope_scaling: { type: 'linear', rope_type: 'yarn', factor: 2 } }, ['rope_scaling.type']],
    [{ rope_scaling: { rope_type: 'linear', factor: 0.5 } }, ['rope_scaling.factor']],
    [{ rope_scaling: { rope_type: 'linear', factor: '2' } }, ['rope_scaling.factor']],
    [
      { rope_scaling: { rope_type: 'linear', factor: 2, mrope_section: [1] } },
      ['rope_scaling.mrope_section'],
    ],
    [{ rope_scaling: 'linear' }, ['rope_scaling']],
    [{ rope_scaling: { rope_type: 'yarn' } }, ['rope_scaling.factor']],
    [{ rope_parameters: { full_attention: { rope_type: 'default' } } }, ['rope_parameters.full_attention']],
    [{ rope_theta: 1e4, rope_parameters: { rope_theta: 1e6 } }, ['rope_theta']],
    [{ rope_theta: 1 }, ['rope_theta']],
    [
      { rope_scaling: { rope_type: 'linear', factor: 2 }, rope_parameters: { rope_type: 'default' } },
      ['rope_scaling'],
    ],
    [{ rope_parameters: { partial_rotary_factor: 0.5 } }, ['rope_parameters.partial_rotary_factor']],
  ])('%j is refused', (change, paths) => {
    expect(pathsOf({ ...llama, ...change })).toEqual(paths);
  });
});

describe('token ids', () => {
  test('ends come from both files, in order, once each', () => {
    const config = { ...qwen2, eos_token_id: [7, 8], bos_token_id: null };
    expect(factsOf(config, { eos_token_id: [8, 9], bos_token_id: 3 })).toMatchObject({
      eosTokenIds: [7, 8, 9],
      bosTokenId: 3,
    });
    expect(factsOf({ ...qwen2, eos_token_id: 5 }, { eos_token_id: null }).eosTokenIds).toEqual([5]);
    expect(factsOf({ ...llama, eos_token_id: null }).eosTokenIds).toEqual([]);
  });

  test.each([[-1], ['2'], [397], [[2, 1.5]], [true]])('%j is no token id', (eos) => {
    expect(pathsOf({ ...llama, eos_token_id: eos })).toEqual(['eos_token_id']);
  });
});

describe('refusals by name', () => {
  test.each([
    ['hidden_size', 0],
    ['hidden_size', '96'],
    ['hidden_size', 1e300],
    ['hidden_size', Number.NaN],
    ['num_hidden_layers', 0],
    ['num_hidden_layers', 2.5],
    ['num_key_value_heads', 4],
    ['num_attention_heads', -6],
    ['head_dim', 15],
    ['vocab_size', Number.POSITIVE_INFINITY],
    ['vocab_size', true],
    ['max_position_embeddings', 0],
    ['rms_norm_eps', 0],
    ['rms_norm_eps', '1e-5'],
    ['tie_word_embeddings', 'no'],
    ['hidden_act', 'gelu'],
    ['hidden_act', null],
    ['mlp_bias', true],
    ['attention_bias', true],
    ['pretraining_tp', 2],
    ['partial_rotary_factor', 0.5],
    ['quantization_config', { bits: 4 }],
    ['num_experts', 8],
    ['attn_logit_softcapping', 50],
    ['torch_dtype', 'float8_e4m3fn'],
    ['architectures', ['LlamaModel']],
    ['sliding_window', 4096],
    ['model_type', 'gpt2'],
    ['constructor', 1],
    ['surprise', null],
  ])('%s = %j', (name, value) => {
    expect(pathsOf({ ...llama, [name]: value })).toContain(name);
  });

  test('qwen2 has its biases always, so that only true may be said', () => {
    expect(factsOf({ ...qwen2, attention_bias: true }).qkvBias).toBe(true);
    expect(pathsOf({ ...qwen2, attention_bias: false })).toEqual(['attention_bias']);
  });

  test('all problems at once, those of the other file included', () => {
    const config = {
      model_type: 'llama',
      mlp_bias: true,
      surprise: 1,
      num_attention_heads: 6,
      num_key_value_heads: 4,
      hidden_size: 97,
    };
    expect(pathsOf(config, { eos_token_id: 'end' }).sort()).toEqual([
      'eos_token_id',
      'head_dim',
      'intermediate_size',
      'max_position_embeddings',
      'mlp_bias',
      'num_hidden_layers',
      'num_key_value_heads',
      'surprise',
      'vocab_size',
    ]);
  });

  test.each([[null], [[]], ['{}'], [7], [undefined]])('%j is no config', (config) => {
    expect(readModelConfig(config).problems).toMatchObject([{ code: 'wrong-type' }]);
  });

  test('a key named __proto__ from JSON is refused like any other unknown key', () => {
    const config = JSON.parse(`{"__proto__": {"mlp_bias": true}, ${JSON.stringify(llama).slice(1)}`);
    expect(pathsOf(config)).toEqual(['__proto__']);
  });
});
