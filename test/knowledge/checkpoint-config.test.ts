import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderConfigHeader } from '../../src/generation/config-header.ts';
import { readModelConfig } from '../../src/model/model-config.ts';

const built = {
  model_type: 'llama',
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 96,
  vocab_size: 101,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  rope_scaling: { rope_type: 'linear', factor: 2.5 },
  layer_types: ['full_attention', 'full_attention'],
  tie_word_embeddings: false,
  torch_dtype: 'float32',
  pad_token_id: null,
};
const driver = `#include "checkpoint_config.h"
#include <iostream>
int main(int, char** argv) {
  try { check_config(argv[1]); } catch (const EngineError& error) { std::cout << error.what(); }
}
`;
const wanted = ['on_device', 'model_config', 'ignored_config_keys', 'null_config_keys'];
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoint-config-'));
  const contracts = join(import.meta.dirname, '../../knowledge/contracts');
  const { facts } = readModelConfig(built);
  if (facts === undefined) throw new Error('the config of this test is not read');
  const input = {
    name: 'x',
    facts,
    threads: 1,
    vectorWidth: 4,
    maxContext: 64,
    maxBatch: 1,
    modelConfig: built,
  };
  writeFileSync(join(folder, 'config.h'), renderConfigHeader(input, new Set(wanted)));
  writeFileSync(join(folder, 'main.cpp'), driver);
  for (const [from, to] of [
    ['runtime-context/runtime_context.h', 'runtime_context.h'],
    ['format-json/format_json.h', 'format_json.h'],
    ['format-json/realizations/portable.cpp', 'format_json.cpp'],
    ['checkpoint-config/checkpoint_config.h', 'checkpoint_config.h'],
    ['checkpoint-config/realizations/dense-decoder.cpp', 'checkpoint_config.cpp'],
  ] as const)
    copyFileSync(join(contracts, from), join(folder, to));
  const sources = ['main.cpp', 'format_json.cpp', 'checkpoint_config.cpp'];
  execFileSync('g++', ['-std=c++20', '-O0', '-Wall', '-Wextra', '-Werror', ...sources, '-o', 'check'], {
    cwd: folder,
  });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the engine says about this config.json, without the path; empty where it is accepted. */
function refusal(text: string): string {
  writeFileSync(join(folder, 'config.json'), text);
  const { stdout } = spawnSync(join(folder, 'check'), [folder], { encoding: 'utf8' });
  return stdout.replace(`${join(folder, 'config.json')}: `, '');
}

const change = (values: Record<string, unknown>) => JSON.stringify({ ...built, ...values });

test.each([
  ['the same file', change({})],
  ['another order of keys', JSON.stringify(Object.fromEntries(Object.entries(built).reverse()))],
  ['another spelling of a number', change({}).replace('"hidden_size":64', '"hidden_size":6.4e1')],
  ['another storage format and other bookkeeping', change({ torch_dtype: 'bfloat16', use_cache: true })],
  ['other ends of a text', change({ eos_token_id: [1, 2] })],
  ['null where the key was absent', change({ quantization_config: null, rope_theta: null })],
])('an engine accepts %s', (_, text) => {
  expect(refusal(text)).toBe('');
});

test.each([
  [change({ hidden_size: 80 }), 'hidden_size is 80; this engine was built for 64'],
  [change({ hidden_size: '64' }), 'hidden_size is "64"; this engine was built for 64'],
  [change({ tie_word_embeddings: 0 }), 'tie_word_embeddings is 0; this engine was built for false'],
  [change({ hidden_size: undefined }), 'hidden_size is missing; this engine was built for 64'],
  [change({ hidden_size: null }), 'hidden_size is null; this engine was built for 64'],
  [change({ mlp_bias: true }), 'mlp_bias is true; this engine was built without it'],
  [change({ head_dim: null }), 'head_dim is null; this engine was built without it'],
  [
    change({ rope_scaling: { rope_type: 'linear', factor: 4 } }),
    'rope_scaling.factor is 4; this engine was built for 2.5',
  ],
  [
    change({ layer_types: ['full_attention', 'sliding_attention'] }),
    'layer_types.1 is "sliding_attention"; this engine was built for "full_attention"',
  ],
  [change({ layer_types: [] }), 'layer_types is a list of 0; this engine was built for a list of 2'],
  [
    change({ vocab_size: 7, new_key: {} }),
    'vocab_size is 7; this engine was built for 101; new_key is an object; this engine was built without it',
  ],
  ['[]', 'not an object'],
])('an engine refuses %s by name', (text, message) => {
  expect(refusal(text)).toBe(message);
});
