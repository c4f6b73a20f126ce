import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModelConfig } from '../../src/model/model-config.ts';
import { writeGguf } from '../../src/verification/gguf.ts';
import { buildLlamaCppDriver, findLlamaCpp, startLlamaCpp } from '../../src/verification/llama-cpp.ts';
import { openOracle } from '../../src/verification/oracle.ts';
import { openCheckpoint } from '../../src/verification/safetensors.ts';
import { probeSandbox } from '../../src/verification/sandbox.ts';
import { writeSyntheticCheckpoint } from '../../src/verification/synthetic-weights.ts';

/** No two sizes alike, so that a transposed or mistaken dimension shows. llama.cpp wants head_dim a multiple of 2. */
const shape = {
  ...{ hidden_size: 48, num_hidden_layers: 3, num_attention_heads: 6, num_key_value_heads: 2, head_dim: 20 },
  ...{ intermediate_size: 72, vocab_size: 101, max_position_embeddings: 256, hidden_act: 'silu' },
  ...{ rms_norm_eps: 1e-5, rope_theta: 10000, tie_word_embeddings: false },
};
const linear = { rope_scaling: { rope_type: 'linear', factor: 3 } };
const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 };
const llama3 = {
  rope_scaling: {
    ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
    original_max_position_embeddings: 64,
  },
};
const experts = { num_experts: 7, num_experts_per_tok: 3, moe_intermediate_size: 44 };
const cases: readonly (readonly [string, Record<string, unknown>])[] = [
  ['llama', { model_type: 'llama' }],
  ['llama, tied', { model_type: 'llama', tie_word_embeddings: true }],
  ['llama, linear scaling', { model_type: 'llama', ...linear }],
  ['llama, llama3 scaling', { model_type: 'llama', ...llama3 }],
  ['llama, yarn', { model_type: 'llama', rope_scaling: yarn }],
  ['mistral', { model_type: 'mistral', sliding_window: null }],
  ['qwen2', { model_type: 'qwen2', head_dim: 8 }],
  [
    'qwen2, yarn with its own betas',
    { model_type: 'qwen2', head_dim: 8, rope_scaling: { ...yarn, beta_fast: 8, beta_slow: 2 } },
  ],
  ['qwen2, linear scaling', { model_type: 'qwen2', head_dim: 8, ...linear }],
  ['qwen3', { model_type: 'qwen3' }],
  [
    'qwen3, tied, yarn with its own attention factor',
    { model_type: 'qwen3', tie_word_embeddings: true, rope_scaling: { ...yarn, attention_factor: 1.4 } },
  ],
  ['qwen3, linear scaling', { model_type: 'qwen3', ...linear }],
  ['qwen3_moe', { model_type: 'qwen3_moe', ...experts, norm_topk_prob: true }],
  ['qwen2_moe', { model_type: 'qwen2_moe', head_dim: 8, ...experts, shared_expert_intermediate_size: 60 }],
  ['mixtral', { model_type: 'mixtral', num_local_experts: 5, num_experts_per_tok: 2 }],
];
const folder = mkdtempSync(join(tmpdir(), 'metainfer-peer-'));
const ids = Array.from({ length: 190 }, (_, i) => (i * i * 7 + i * 3 + 5) % 101);
let program = '';

async function peerLogits(checkpointFolder: string, facts: Parameters<typeof writeGguf>[0]['facts']) {
  const path = `${checkpointFolder}.gguf`;
  const checkpoint = openCheckpoint(checkpointFolder);
  writeGguf({ facts, checkpoint, format: 'f32', path, context: 256 });
  checkpoint.close();
  const options = { ggufPath: path, threads: 1, context: 256, kvType: 'f32', flashAttention: 'off' } as const;
  const client = await startLlamaCpp({ program, ...options, sandbox: probeSandbox('auto') });
  try {
    return await client.logits(ids);
  } finally {
    await client.quit();
  }
}

function largestDifference(rows: readonly Float32Array[], wanted: readonly Float64Array[]): number {
  const differences = wanted.flatMap((row, t) => [...row].map((value, i) => Math.abs(value - rows[t]![i]!)));
  return Math.max(...differences);
}

describe.skipIf(findLlamaCpp() === undefined)(
  'llama.cpp and the oracle, on random weights at small asymmetric shapes',
  () => {
    beforeAll(async () => {
      program = await buildLlamaCppDriver(join(folder, 'cache'), findLlamaCpp());
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it.each(cases)('agree on %s', async (name, change) => {
      const config = { ...shape, ...change };
      const { facts, problems } = readModelConfig(config);
      expect(problems).toEqual([]);
      const checkpointFolder = join(folder, name.replace(/[^a-z0-9]+/g, '-'));
      await writeSyntheticCheckpoint(checkpointFolder, config, { seed: 11, dtype: 'f32' });
      const oracle = openOracle(checkpointFolder, { facts: facts!, weightFormat: 'f32' });
      const { logits: wanted } = await oracle.run(ids);
      await oracle.close();
      expect(largestDifference(await peerLogits(checkpointFolder, facts!), wanted)).toBeLessThan(1e-3);
    });
  },
);
