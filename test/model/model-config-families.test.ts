import { describe, expect, test } from 'vitest';
import { expectedTensors } from '../../src/model/expected-tensors.ts';
import { readModelConfig } from '../../src/model/model-config.ts';

const sizes = {
  ...{ hidden_size: 96, num_hidden_layers: 4, num_attention_heads: 6, num_key_value_heads: 2 },
  ...{ intermediate_size: 160, vocab_size: 347, max_position_embeddings: 512 },
};
const qwen3Moe = { model_type: 'qwen3_moe', ...sizes };
const qwen2Moe = { model_type: 'qwen2_moe', ...sizes };
const mixtral = { model_type: 'mixtral', ...sizes };
const gemma2 = { model_type: 'gemma2', ...sizes };

function factsOf(config: unknown) {
  const { facts, problems } = readModelConfig(config);
  expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
  return facts!;
}

function refusalsOf(config: unknown) {
  const { facts, problems } = readModelConfig(config);
  expect(facts).toBeUndefined();
  return problems.map(({ path, message }) => [path, message]);
}

describe('mixtures of experts', () => {
  test('what an absent key means is what the transformers classes say', () => {
    expect(factsOf(qwen3Moe)).toMatchObject({ qkNorm: true, qkvBias: false, headDim: 16, ropeTheta: 10_000 });
    expect(factsOf(qwen3Moe).experts).toEqual({
      ...{ count: 128, perToken: 8, width: 768, isNormalised: false, sharedWidth: 0, naming: 'mlp' },
      layers: [true, true, true, true],
    });
    expect(factsOf(qwen2Moe)).toMatchObject({ qkNorm: false, qkvBias: true });
    expect(factsOf(qwen2Moe).experts).toMatchObject({
      count: 60,
      perToken: 4,
      width: 1408,
      sharedWidth: 5632,
    });
    expect(factsOf(mixtral)).toMatchObject({
      rmsNormEps: 1e-5,
      ropeTheta: 1e6,
      bosTokenId: 1,
      eosTokenIds: [2],
    });
    expect(factsOf(mixtral).experts).toMatchObject({
      ...{ count: 8, perToken: 2, width: 160, isNormalised: true, naming: 'block_sparse_moe' },
    });
  });

  test('layers without experts: every so many have them, and mlp_only_layers never', () => {
    const layersOf = (change: object) => factsOf({ ...qwen3Moe, ...change }).experts?.layers;
    expect(layersOf({ decoder_sparse_step: 2 })).toEqual([false, true, false, true]);
    expect(layersOf({ mlp_only_layers: [1] })).toEqual([true, false, true, true]);
    expect(layersOf({ decoder_sparse_step: 2, mlp_only_layers: [3] })).toEqual([false, true, false, false]);
    expect(refusalsOf({ ...qwen3Moe, decoder_sparse_step: 9 })).toEqual([
      ['mlp_only_layers', expect.stringContaining('no layer with experts')],
    ]);
    expect(refusalsOf({ ...qwen3Moe, mlp_only_layers: [-1] })[0]?.[0]).toBe('mlp_only_layers');
  });

  test('both names of the number of experts are read, and must agree', () => {
    expect(factsOf({ ...qwen3Moe, num_local_experts: 16 }).experts?.count).toBe(16);
    expect(factsOf({ ...qwen3Moe, num_experts: 16, num_local_experts: 16 }).experts?.count).toBe(16);
    expect(refusalsOf({ ...qwen3Moe, num_experts: 16, num_local_experts: 8 })[0]?.[0]).toBe('num_experts');
    expect(refusalsOf({ ...qwen3Moe, num_experts: 4 })[0]?.[0]).toBe('num_experts_per_tok');
  });

  test('windows: qwen3_moe on all layers, mixtral where it is a number, qwen2_moe as layer_types says', () => {
    const window = { use_sliding_window: true, sliding_window: 64 };
    expect(factsOf({ ...qwen3Moe, sliding_window: 64 }).layerWindows).toEqual([0, 0, 0, 0]);
    expect(factsOf({ ...qwen3Moe, ...window }).layerWindows).toEqual([64, 64, 64, 64]);
    expect(factsOf(mixtral).layerWindows).toEqual([0, 0, 0, 0]);
    expect(factsOf({ ...mixtral, sliding_window: 64 }).layerWindows).toEqual([64, 64, 64, 64]);
    expect(refusalsOf({ ...qwen2Moe, ...window })[0]?.[0]).toBe('use_sliding_window');
    const kinds = ['full_attention', 'sliding_attention', 'full_attention', 'sliding_attention'];
    expect(factsOf({ ...qwen2Moe, ...window, layer_types: kinds }).layerWindows).toEqual([0, 64, 0, 64]);
  });

  test('every expert of every layer is expected, by the names of its family', () => {
    const experts = { num_experts: 5, num_experts_per_tok: 2, moe_intermediate_size: 24 };
    const namesOf = (config: object) => expectedTensors(factsOf(config)).map(({ name }) => name);
    const qwen = namesOf({ ...qwen3Moe, ...experts, mlp_only_layers: [1] });
    expect(qwen.filter((name) => name.includes('.experts.'))).toHaveLength(3 * 5 * 3);
    expect(qwen.filter((name) => name.startsWith('model.layers.1.mlp.'))).toHaveLength(3);
    expect(qwen).toContain('model.layers.3.mlp.experts.4.down_proj.weight');
    const shared = namesOf({ ...qwen2Moe, ...experts }).filter((name) => name.includes('shared_expert'));
    expect(shared).toHaveLength(4 * 4);
    const others = namesOf({ ...mixtral, num_local_experts: 5 });
    expect(others).toContain('model.layers.0.block_sparse_moe.experts.4.w2.weight');
    expect(others.some((name) => name.includes('.mlp.'))).toBe(false);
  });

  test("keys of one family are refused by another's", () => {
    expect(refusalsOf({ model_type: 'qwen3', ...sizes, num_experts: 8 })[0]?.[0]).toBe('num_experts');
    expect(refusalsOf({ ...mixtral, moe_intermediate_size: 24 })[0]?.[0]).toBe('moe_intermediate_size');
    expect(refusalsOf({ ...qwen3Moe, shared_expert_intermediate_size: 8 })[0]?.[0]).toBe(
      'shared_expert_intermediate_size',
    );
    expect(refusalsOf({ ...qwen3Moe, n_group: 2 })[0]).toEqual([
      'n_group',
      expect.stringContaining('unknown key'),
    ]);
  });
});

describe('gemma2', () => {
  test('what an absent key means is what the transformers class says', () => {
    expect(factsOf({ ...gemma2, num_key_value_heads: undefined, num_attention_heads: 8 })).toMatchObject({
      ...{ numKvHeads: 4, headDim: 256, tiedHead: true, rmsNormEps: 1e-6, ropeTheta: 10_000 },
      ...{ layerWindows: [4096, 0, 4096, 0], bosTokenId: 2, eosTokenIds: [1] },
      gemma: {
        embeddingScale: Math.fround(Math.sqrt(96)),
        attentionScale: 1 / 16,
        attentionCap: 50,
        finalCap: 30,
      },
    });
  });

  test("the factor of the embeddings is rounded to the format of the file's weights", () => {
    const scaleOf = (change: object) => factsOf({ ...gemma2, ...change }).gemma?.embeddingScale;
    expect(scaleOf({ torch_dtype: 'bfloat16' })).toBe(9.8125);
    expect(scaleOf({ dtype: 'bfloat16' })).toBe(9.8125);
    expect(scaleOf({ hidden_size: 3072, torch_dtype: 'bfloat16', head_dim: 16 })).toBe(55.5);
    expect(scaleOf({ torch_dtype: 'float16' })).toBe(9.796875);
    expect(scaleOf({ torch_dtype: 'float32' })).toBe(Math.fround(Math.sqrt(96)));
  });

  test('layers slide as layer_types says, else in turn', () => {
    const kinds = ['full_attention', 'sliding_attention', 'sliding_attention', 'full_attention'];
    expect(factsOf({ ...gemma2, sliding_window: 32, layer_types: kinds }).layerWindows).toEqual([
      0, 32, 32, 0,
    ]);
  });

  test('another activation, a cap that is switched off and a bias are refused by name', () => {
    expect(refusalsOf({ ...gemma2, hidden_activation: 'gelu' })[0]?.[0]).toBe('hidden_activation');
    expect(refusalsOf({ ...gemma2, hidden_act: 'silu' })[0]?.[0]).toBe('hidden_act');
    expect(refusalsOf({ ...gemma2, attn_logit_softcapping: null })[0]?.[0]).toBe('attn_logit_softcapping');
    expect(refusalsOf({ ...gemma2, final_logit_softcapping: 0 })[0]?.[0]).toBe('final_logit_softcapping');
    expect(refusalsOf({ ...gemma2, attention_bias: true })[0]?.[0]).toBe('attention_bias');
    expect(refusalsOf({ ...gemma2, use_bidirectional_attention: true })[0]?.[0]).toBe(
      'use_bidirectional_attention',
    );
    expect(refusalsOf({ model_type: 'llama', ...sizes, query_pre_attn_scalar: 48 })[0]?.[0]).toBe(
      'query_pre_attn_scalar',
    );
  });
});
