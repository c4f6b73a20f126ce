import type { Target } from '../../src/model/target.ts';

/** A target that the small knowledge base of the tests covers. */
export const knowledgeTarget: Target = {
  'model.family': 'llama',
  'model.norm': 'rms',
  'model.attention': 'gqa',
  'model.mlp': 'gated_silu',
  'model.shared_expert': false,
  'model.layer_norms': 'before',
  'model.embedding': 'plain',
  'model.logit_cap': false,
  'model.qkv_bias': false,
  'model.qk_norm': false,
  'model.tied_head': false,
  'model.sliding_window': false,
  'rope.scaling': 'none',
  'tokenizer.model': 'none',
  'tokenizer.pre_tokenizer': 'none',
  'tokenizer.normalizer': 'none',
  'hardware.platform': 'cpu-x86_64',
  'hardware.arch': 'avx2',
  'numerics.weights': 'bf16',
  'numerics.kv_cache': 'f32',
  'numerics.activations': 'f32',
  'parallelism.tensor': 1,
  'serving.interface': 'cli',
  'serving.kv': 'contiguous',
};
