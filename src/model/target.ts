import type { Constraints } from './constraints.ts';
import type { ModelFacts, TokenizerFacts } from './model-facts.ts';

export type TargetValue = string | number | boolean;
/** Flat facts about one asked-for engine; what `applies_when` and `applies` predicates are written over. */
export type Target = Readonly<Record<TargetKey, TargetValue>>;

export const targetKeys = [
  'model.family',
  'model.norm',
  'model.attention',
  'model.mlp',
  'model.shared_expert',
  'model.layer_norms',
  'model.embedding',
  'model.logit_cap',
  'model.qkv_bias',
  'model.qk_norm',
  'model.tied_head',
  'model.sliding_window',
  'rope.scaling',
  'tokenizer.model',
  'tokenizer.pre_tokenizer',
  'tokenizer.normalizer',
  'hardware.platform',
  'hardware.arch',
  'numerics.weights',
  'numerics.kv_cache',
  'numerics.activations',
  'parallelism.tensor',
  'serving.interface',
  'serving.kv',
] as const;
export type TargetKey = (typeof targetKeys)[number];

/** A conjunction: every key must equal the value, or be one of the listed values. `{}` is always true. */
export type Predicate = Readonly<Partial<Record<TargetKey, TargetValue | readonly TargetValue[]>>>;

export function toTarget(constraints: Constraints, facts: ModelFacts, tokenizer: TokenizerFacts): Target {
  const isGemma = facts.gemma !== undefined;
  return {
    'model.family': facts.family,
    'model.norm': isGemma ? 'rms_offset' : 'rms',
    'model.attention': isGemma ? 'gqa_capped' : 'gqa',
    'model.mlp': isGemma ? 'gated_gelu' : facts.experts === undefined ? 'gated_silu' : 'experts',
    'model.layer_norms': isGemma ? 'sandwich' : 'before',
    'model.embedding': isGemma ? 'scaled' : 'plain',
    'model.logit_cap': isGemma,
    'model.shared_expert': (facts.experts?.sharedWidth ?? 0) > 0,
    'model.qkv_bias': facts.qkvBias,
    'model.qk_norm': facts.qkNorm,
    'model.tied_head': facts.tiedHead,
    'model.sliding_window': facts.layerWindows.some((window) => window > 0),
    'rope.scaling': facts.ropeScaling.kind,
    'tokenizer.model': tokenizer.model,
    'tokenizer.pre_tokenizer': tokenizer.preTokenizer,
    'tokenizer.normalizer': tokenizer.normalizer,
    'hardware.platform': constraints.hardware.platform,
    'hardware.arch': constraints.hardware.arch,
    'numerics.weights': constraints.numerics.weights,
    'numerics.kv_cache': constraints.numerics.kv_cache,
    'numerics.activations': constraints.numerics.activations,
    'parallelism.tensor': constraints.parallelism.tensor,
    'serving.interface': constraints.serving.interface,
    'serving.kv': constraints.serving.kv,
  };
}

export function allowedValues(predicate: Predicate, key: TargetKey): readonly TargetValue[] | undefined {
  const wanted = predicate[key];
  if (wanted === undefined) return undefined;
  return Array.isArray(wanted) ? wanted : [wanted as TargetValue];
}

/** The first key that keeps `predicate` from holding, or undefined where it holds. */
export function firstMismatch(predicate: Predicate, target: Target): TargetKey | undefined {
  return targetKeys.find((key) => {
    const allowed = allowedValues(predicate, key);
    return allowed !== undefined && !allowed.includes(target[key]);
  });
}

/** Whether some target could satisfy both predicates. */
export function canOverlap(a: Predicate, b: Predicate): boolean {
  return targetKeys.every((key) => {
    const left = allowedValues(a, key);
    const right = allowedValues(b, key);
    return left === undefined || right === undefined || left.some((value) => right.includes(value));
  });
}
