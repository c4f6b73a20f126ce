import { describe, expect, test } from 'vitest';
import { maxRows, renderConfigHeader } from '../../src/generation/config-header.ts';
import { configConstants } from '../../src/model/config-constants.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';

const facts: ModelFacts = {
  family: 'llama',
  hiddenSize: 48,
  numLayers: 3,
  numHeads: 6,
  numKvHeads: 2,
  headDim: 20,
  intermediateSize: 72,
  vocabSize: 101,
  tiedHead: false,
  rmsNormEps: 1e-5,
  ropeTheta: 500000,
  ropeScaling: { kind: 'llama3', factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositions: 64 },
  maxPositions: 512,
  qkvBias: true,
  qkNorm: false,
  layerWindows: [0, 4, 0],
  bosTokenId: null,
  eosTokenIds: [1, 7],
};
const input = { name: 'small', facts, threads: 2, vectorWidth: 8, maxContext: 128, maxBatch: 4 };

describe('config.h', () => {
  test('holds the wanted constants only, in a fixed order', () => {
    expect(renderConfigHeader(input, new Set(['vocab_size', 'hidden_size']))).toBe(
      '// SPDX-License-Identifier: MIT\n// Every fact and limit of this engine, as a constant. Written by the composer; do not edit.\n' +
        '#pragma once\nnamespace config {\ninline constexpr int hidden_size = 48;\ninline constexpr int vocab_size = 101;\n}  // namespace config\n',
    );
  });

  test('writes each type so that C++ reads back the same number', () => {
    const text = renderConfigHeader(input, new Set(Object.keys(configConstants)));
    expect(text).toContain('#include <array>\n#include <string_view>\n');
    for (const line of [
      'std::string_view engine_name = "small";',
      'float rms_norm_eps = 0.00001f;',
      'double rope_theta = 500000.0;',
      'double rope_factor = 8.0;',
      'int rope_original_max_positions = 64;',
      'bool rope_truncate = true;',
      'std::array<int, 3> layer_windows = {0, 4, 0};',
      'std::string_view model_config = "{}";',
      'std::array<int, 2> eos_token_ids = {1, 7};',
      'int max_rows = 128;',
    ]) {
      expect(text).toContain(`inline constexpr ${line}\n`);
    }
  });

  test('gives constants of another kind of rope scaling the value that changes nothing', () => {
    const text = renderConfigHeader(input, new Set(['rope_attention_factor', 'rope_low_freq_factor']));
    expect(text).toContain('double rope_attention_factor = 1.0;');
    expect(text).toContain('double rope_low_freq_factor = 1.0;');
    const none = { ...input, facts: { ...facts, ropeScaling: { kind: 'none' as const } } };
    expect(renderConfigHeader(none, new Set(['rope_original_max_positions']))).toContain('= 512;');
  });

  test('holds the config.json of the model: no ignored key, no null that means absent, in a fixed order', () => {
    const modelConfig = {
      vocab_size: 101,
      torch_dtype: 'bfloat16',
      eos_token_id: 2,
      transformers_version: '4.57.6',
      sliding_window: null,
      rope_scaling: { type: 'linear', factor: 2.5, extra: null },
      mlp_bias: null,
      architectures: ['a)"b'],
    };
    const text = renderConfigHeader({ ...input, modelConfig }, new Set(['model_config']));
    expect(text).toContain(
      String.raw`model_config = R"({"architectures":["a\u0029\"b"],"rope_scaling":{"factor":2.5,"type":"linear"},"sliding_window":null,"vocab_size":101})";`.replaceAll(
        '\\\\',
        '\\',
      ),
    );
  });

  test('names the keys that do not matter, each between blanks', () => {
    const text = renderConfigHeader(input, new Set(['ignored_config_keys', 'null_config_keys']));
    for (const key of ['torch_dtype', 'dtype', 'eos_token_id', 'transformers_version', 'use_cache'])
      expect(text).toMatch(new RegExp(`ignored_config_keys = ".* ${key} .*";`));
    expect(text).not.toContain(' mlp_bias ');
    expect(text).toContain('null_config_keys = " head_dim num_key_value_heads sliding_window ";');
  });

  test('small numbers keep an exponent that C++ understands', () => {
    const small = { ...input, facts: { ...facts, rmsNormEps: 1e-8, ropeTheta: 1e21 } };
    const text = renderConfigHeader(small, new Set(['rms_norm_eps', 'rope_theta']));
    expect(text).toContain('rms_norm_eps = 1e-8f;');
    expect(text).toContain('rope_theta = 1e+21;');
  });

  test('one forward call holds a batch, and no more rows than a short context needs', () => {
    expect([maxRows(4096, 1), maxRows(100, 1), maxRows(4096, 300), maxRows(2, 8)]).toEqual([
      256, 100, 300, 8,
    ]);
  });
});
