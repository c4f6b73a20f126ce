import { describe, expect, it } from 'vitest';
import { bytesOf, computeArithmetic, kvBytesRead, type SizeInputs } from '../../src/model/arithmetic.ts';
import { readModelConfig } from '../../src/model/model-config.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import { countParameters } from '../../src/model/parameter-count.ts';
import { knownModels } from '../constraints/known-models.ts';

function factsOf(id: string): ModelFacts {
  const model = knownModels.find((known) => known.id === id);
  const { facts, problems } = readModelConfig(model?.config, model?.generationConfig);
  if (facts === undefined) throw new Error(`${id}: ${JSON.stringify(problems)}`);
  return facts;
}

function sizes(overrides: {
  platform?: 'cpu-x86_64' | 'cuda';
  weights?: 'f32' | 'bf16';
  batch?: number;
  kv?: 'contiguous' | 'paged';
  context?: number;
  prompt?: number;
  output?: number;
}): SizeInputs {
  return {
    hardware: { platform: overrides.platform ?? 'cpu-x86_64' },
    numerics: { weights: overrides.weights ?? 'bf16', kv_cache: 'f16' },
    serving: {
      max_context: overrides.context ?? 1024,
      max_batch: overrides.batch ?? 1,
      kv: overrides.kv ?? 'contiguous',
    },
    workload: { prompt_tokens: overrides.prompt ?? 128, output_tokens: overrides.output ?? 64 },
  };
}

const millions = (digits: number) => (value: number) => (value / 1e6).toFixed(digits);
const giga = (digits: number) => (value: number) => (value / 1e9).toFixed(digits);

/** research/inference-engines.md §3.5, as printed: params, matmul weights read per token (M), bf16, q8_0, q4_0 (GB), KV bytes per token in fp16. */
const table = [
  ['HuggingFaceTB/SmolLM2-135M', '134.5', '134.5', '0.27', '0.143', '0.076', 23_040],
  ['Qwen/Qwen2.5-0.5B', '494', '494', '0.99', '0.525', '0.278', 12_288],
  ['Qwen/Qwen3-0.6B', '596', '596', '1.19', '0.633', '0.335', 114_688],
  ['TinyLlama/TinyLlama-1.1B-Chat-v1.0', '1100', '1034', '2.07', '1.099', '0.582', 22_528],
  ['meta-llama/Llama-3.2-1B', '1235.8', '1235.7', '2.47', '1.313', '0.695', 32_768],
  ['mistralai/Mistral-7B-v0.3', '7248', '7114', '14.23', '7.558', '4.001', 131_072],
  ['meta-llama/Llama-3.1-8B', '8030', '7505', '15.01', '7.974', '4.221', 131_072],
  ['Qwen/Qwen3-8B', '8191', '7568', '15.14', '8.041', '4.257', 147_456],
] as const;

describe('the table of research §3.5', () => {
  it.each(table)('holds for %s', (id, parameters, matmul, bf16, q8, q4, kvBytes) => {
    const facts = factsOf(id);
    const count = countParameters(facts);
    const digits = (printed: string) => printed.split('.')[1]?.length ?? 0;
    expect(millions(digits(parameters))(count.total)).toBe(parameters);
    expect(millions(digits(matmul))(count.matmul)).toBe(matmul);
    expect(giga(2)(bytesOf(count.matmul, 'bf16'))).toBe(bf16);
    expect(giga(3)(bytesOf(count.matmul, 'q8_0'))).toBe(q8);
    expect(giga(3)(bytesOf(count.matmul, 'q4_0'))).toBe(q4);
    expect(computeArithmetic(facts, sizes({})).kvBytesPerToken).toBe(kvBytes);
  });

  it('covers every model that knowledge lists and the table prints', () => {
    const printed = new Set<string>(table.map(([id]) => id));
    const others = knownModels.map(({ id }) => id).filter((id) => !printed.has(id));
    // Ours, mixtures of experts (below), and the same shapes as a printed one: instruction-tuned twins, and v0.1 with another vocabulary that the table does not print.
    const known = /-Instruct$|Mistral-7B-v0\.1$|^metainfer\/|Mixtral-8x7B-v0\.1$|Qwen3-30B-A3B$/;
    expect(others.filter((id) => !known.test(id))).toEqual([]);
  });

  it.each([
    // Published: 30.5 and 3.3 thousand million (Qwen3-30B-A3B, the head counted, the embedding not), 46.7 and 12.9 (Mixtral-8x7B, both counted).
    ['Qwen/Qwen3-30B-A3B', '30.5', '3.0'],
    ['mistralai/Mixtral-8x7B-v0.1', '46.7', '12.7'],
  ])(
    '%s has %s thousand million weights in memory and multiplies by %s of them per token',
    (id, total, active) => {
      const count = countParameters(factsOf(id));
      expect(giga(1)(count.total)).toBe(total);
      expect(giga(1)(count.matmul)).toBe(active);
      const { memoryBytes, weightBytes, weightBytesPerStep } = computeArithmetic(factsOf(id), sizes({}));
      expect(weightBytes).toBe(2 * count.total);
      expect(memoryBytes).toBeGreaterThan(weightBytes);
      expect(weightBytesPerStep).toBe(2 * (count.total - count.untiedEmbedding - count.idle));
      expect(weightBytesPerStep / weightBytes).toBeLessThan(0.3);
    },
  );
});

describe('computeArithmetic', () => {
  const small: ModelFacts = {
    ...factsOf('Qwen/Qwen3-0.6B'),
    hiddenSize: 10,
    numLayers: 3,
    numHeads: 4,
    numKvHeads: 2,
    headDim: 6,
    intermediateSize: 14,
    vocabSize: 100,
    tiedHead: false,
    layerWindows: [0, 5, 0],
  };

  it('counts each weight of a small model', () => {
    // Layer: q 24×10, k and v 12×10, o 10×24, MLP 3×14×10 = 1140; norms 2×10 + 2×6 = 32.
    expect(countParameters(small)).toEqual({
      total: 3 * (1140 + 32) + 10 + 2000,
      matmul: 3 * 1140 + 1000,
      idle: 0,
      head: 1000,
      untiedEmbedding: 1000,
    });
  });

  it('reads an untied embedding table once per token row, not per step', () => {
    const { weightBytes, weightBytesPerStep } = computeArithmetic(small, sizes({ weights: 'f32' }));
    expect(weightBytes - weightBytesPerStep).toBe(4 * 1000);
  });

  it('caps the keys and values that windowed layers read, and that a paged cache keeps', () => {
    const row = 2 * 2 * 6 * 2;
    expect(kvBytesRead(small, 'f16', 4)).toBe(12 * row);
    expect(kvBytesRead(small, 'f16', 100)).toBe((100 + 5 + 100) * row);
    expect(computeArithmetic(small, sizes({ batch: 3, context: 100 })).kvBytesTotal).toBe(3 * 300 * row);
    expect(computeArithmetic(small, sizes({ batch: 3, context: 100, kv: 'paged' })).kvBytesTotal).toBe(
      3 * 205 * row,
    );
  });

  it('counts prefill attention causally, window by window, and the head once', () => {
    // Full layers see 1+2+…+8 = 36 keys, the windowed one 1+2+3+4+5+5+5+5 = 30; 4 FLOP per head value and key.
    const attention = 4 * 4 * 6 * (36 + 30 + 36);
    expect(computeArithmetic(small, sizes({ prompt: 8 })).prefillFlops).toBe(
      2 * 3 * 1140 * 8 + 2 * 1000 + attention,
    );
  });

  it('counts a decoded token at the mean context of the workload', () => {
    // Contexts 9, 10 and 11: mean 10.
    const { flopsPerDecodedToken } = computeArithmetic(small, sizes({ prompt: 8, output: 3 }));
    expect(flopsPerDecodedToken).toBe(2 * (3 * 1140 + 1000) + 4 * 4 * 6 * (10 + 5 + 10));
  });

  it('adds up memory: weights, KV of the whole batch, activations', () => {
    const one = computeArithmetic(small, sizes({}));
    expect(one.memoryBytes).toBe(one.weightBytes + one.kvBytesTotal + one.activationBytes);
    expect(one.activationBytes).toBe(4 * (256 * (30 + 12 * 6 + 28) + 100));
  });

  it('takes of a GPU what decoder.model asks for there', () => {
    const floats = (batch: number, context: number): number =>
      computeArithmetic(small, sizes({ platform: 'cuda', batch, context })).activationBytes / 4;
    // A row: 3 × 10, the larger of 12 × 6 and 2 × 14, 128 of padding; logits of 32 rows of 112; 32 MiB for attention.
    expect(floats(1, 1024)).toBe(256 * (30 + 72 + 128) + 32 * 112 + 2 ** 23);
    expect(floats(300, 1024)).toBe(300 * 230 + 32 * 112 + 2 ** 23);
    expect(floats(2, 8)).toBe(8 * 230 + 8 * 112 + 2 ** 23);
    // Or more, where one row of 4 heads has more parts of 64 keys than that holds.
    expect(floats(1, 64 * 2 ** 20)).toBe(256 * 230 + 32 * 112 + 4 * (2 ** 20 + 1) * 40);
  });
});
