/**
 * What a decoder-only model is, read from its Hugging Face `config.json` and normalised: transformers 4.x and
 * 5.x layouts give the same facts. Everything here changes numbers; nothing here is a preference.
 */
export const modelFamilies = ['llama', 'mistral', 'qwen2', 'qwen3'] as const;
export type ModelFamily = (typeof modelFamilies)[number];

export type RopeScaling =
  | { readonly kind: 'none' }
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFreqFactor: number;
      readonly highFreqFactor: number;
      readonly originalMaxPositions: number;
    }
  | {
      readonly kind: 'yarn';
      readonly factor: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      readonly originalMaxPositions: number;
      /** Multiplies cos and sin; already resolved from attention_factor / mscale / mscale_all_dim. */
      readonly attentionFactor: number;
      /** Whether the correction range is rounded to whole dimensions (transformers `truncate`, default true). */
      readonly truncate: boolean;
    };

export interface ModelFacts {
  readonly family: ModelFamily;
  readonly hiddenSize: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly intermediateSize: number;
  readonly vocabSize: number;
  readonly tiedHead: boolean;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling;
  readonly maxPositions: number;
  readonly qkvBias: boolean;
  readonly qkNorm: boolean;
  /** Per layer: number of keys a query sees, itself included; 0 = all of them. */
  readonly layerWindows: readonly number[];
  readonly bosTokenId: number | null;
  /** From config.json and generation_config.json together, in that order, without repeats. */
  readonly eosTokenIds: readonly number[];
}

/** How the text side of a model works; read from tokenizer.json, or from knowledge/models for a known id. */
export interface TokenizerFacts {
  readonly model: 'byte_level_bpe' | 'sentencepiece_bpe' | 'none';
  readonly preTokenizer: 'gpt2' | 'smollm2' | 'qwen2' | 'llama3' | 'none';
  readonly normalizer: 'nfc' | 'none';
}
