/**
 * What a decoder-only model is, read from its Hugging Face `config.json` and normalised: transformers 4.x and
 * 5.x layouts give the same facts. Everything here changes numbers; nothing here is a preference.
 */
export const modelFamilies = [
  'llama',
  'mistral',
  'qwen2',
  'qwen3',
  'qwen3_moe',
  'qwen2_moe',
  'mixtral',
  'gemma2',
] as const;
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

/** The feed-forward half of a layer as many small ones, of which a router picks a few for each token. */
export interface ExpertFacts {
  readonly count: number;
  /** Experts that one token passes through. */
  readonly perToken: number;
  /** Inner width of one expert. */
  readonly width: number;
  /** Whether the chosen experts' probabilities are divided by their sum. */
  readonly isNormalised: boolean;
  /** Per layer: whether it has experts; the others have one MLP of `intermediateSize`. */
  readonly layers: readonly boolean[];
  /** Inner width of the expert that every token passes through besides, behind a sigmoid; 0 where there is none. */
  readonly sharedWidth: number;
  /** What the tensors of a layer's experts are called in a checkpoint. */
  readonly naming: 'mlp' | 'block_sparse_moe';
}

/**
 * What Gemma-2 does besides: norm gains are stored as 1 less than they are, each half of a layer is normalised before and
 * after, the gate is GELU (tanh), embeddings and scores are scaled, scores and logits are capped: cap · tanh(x / cap).
 */
export interface GemmaFacts {
  /** √hidden_size, rounded to the number format that config.json names for the weights. */
  readonly embeddingScale: number;
  /** query_pre_attn_scalar^(-1/2). */
  readonly attentionScale: number;
  readonly attentionCap: number;
  readonly finalCap: number;
}

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
  /** Absent where every layer has one MLP. */
  readonly experts?: ExpertFacts;
  /** Absent where a layer is norm, attention, norm, MLP, with nothing scaled or capped. */
  readonly gemma?: GemmaFacts;
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
