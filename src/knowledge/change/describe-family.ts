import { readModelConfig } from '../../model/model-config.ts';
import { architectureOf } from '../../model/model-config-keys.ts';
import type { ModelFacts, ModelFamily } from '../../model/model-facts.ts';
import { type TargetKey, type TargetValue, toTarget } from '../../model/target.ts';
import { anyRequest } from '../views/representative-rows.ts';

export interface FamilyTarget {
  /** What a target says of every model of the family. */
  readonly facts: Readonly<Partial<Record<TargetKey, TargetValue>>>;
  /** With a sliding window or without: what models of the family can be. */
  readonly windows: readonly boolean[];
}

const noTokenizer = { model: 'none', preTokenizer: 'none', normalizer: 'none' } as const;
/** The ways in which families say that they have a window, or none. */
const windowKeys: readonly Readonly<Record<string, unknown>>[] = [
  { sliding_window: null },
  { sliding_window: 16, use_sliding_window: true, max_window_layers: 0 },
  {
    sliding_window: 16,
    use_sliding_window: true,
    layer_types: ['sliding_attention', 'full_attention'],
  },
];

/** By the reader of config.json, asked about the smallest model of the family: known or not, it has the family's features. */
export function describeFamily(family: ModelFamily): FamilyTarget {
  const read = windowKeys.flatMap((keys) => readModelConfig(smallest(family, keys)).facts ?? []);
  const windows = [...new Set(read.map(hasWindow))].sort();
  const facts = read[0];
  if (facts === undefined) return { facts: { 'model.family': family }, windows };
  const target = toTarget(anyRequest(), facts, noTokenizer);
  const decided = Object.entries(target).filter(([key]) => key.startsWith('model.') && !isFree(key));
  return { facts: Object.fromEntries(decided), windows };
}

function isFree(key: string): boolean {
  return key === 'model.tied_head' || key === 'model.sliding_window';
}

function hasWindow({ layerWindows }: ModelFacts): boolean {
  return layerWindows.some((window) => window > 0);
}

function smallest(family: ModelFamily, keys: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...{ model_type: family, architectures: [architectureOf[family]] },
    ...{ hidden_size: 64, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 },
    ...{ intermediate_size: 72, vocab_size: 101, num_hidden_layers: 2, max_position_embeddings: 64 },
    ...keys,
  };
}
