import { Constraints } from '../model/constraints.ts';
import { readModelConfig } from '../model/model-config.ts';
import { architectureOf } from '../model/model-config-keys.ts';
import type { ModelFacts, ModelFamily } from '../model/model-facts.ts';
import { type Target, type TargetKey, type TargetValue, toTarget } from '../model/target.ts';

export interface FamilyTarget {
  /** Of its smallest model, without text; undefined where the reader refuses that. */
  readonly target: Target | undefined;
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
  if (facts === undefined) return { target: undefined, facts: { 'model.family': family }, windows };
  const target = toTarget(anyRequest(), facts, noTokenizer);
  const decided = Object.entries(target).filter(([key]) => key.startsWith('model.') && !isFree(key));
  return { target, facts: Object.fromEntries(decided), windows };
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

/** What is asked for does not matter to a row: columns set platform, arch and format. */
export function anyRequest(): Constraints {
  return Constraints.parse({
    apiVersion: 'metainfer/v1',
    name: 'row',
    model: { id: 'row' },
    weights: { source: 'synthetic', seed: 0 },
    hardware: { platform: 'cpu-x86_64', threads: 1, memory: 1 },
    numerics: { weights: 'bf16' },
    parallelism: {},
    serving: { max_context: 1 },
    workload: { prompt_tokens: 1, output_tokens: 1 },
    goals: { require: [], fidelity: { mean_kld: 1, top1_agreement: 0 } },
    generation: { budget: {} },
  });
}
