import { AppError } from '../../model/errors.ts';
import type { ExpertFacts, GemmaFacts, ModelFacts, RopeScaling } from '../../model/model-facts.ts';
import type { ConfigInput, EngineUnderTest } from '../gate-context.ts';

type Overrides = Readonly<Record<string, number | boolean | string>>;

/**
 * The small model of the unit gates: no two dimensions are equal or multiples by chance, so that a mixed-up index
 * shows. Features come from the engine under test, whose realizations have no others.
 */
export function smallModel(engine: EngineUnderTest, overrides: Overrides): ConfigInput {
  const { facts } = engine;
  const isWindowed = facts.layerWindows.some((window) => window > 0);
  const base: ModelFacts = {
    ...facts,
    hiddenSize: 48,
    numLayers: 3,
    numHeads: 6,
    numKvHeads: 2,
    headDim: 20,
    intermediateSize: 72,
    vocabSize: 101,
    rmsNormEps: 1e-5,
    ropeTheta: 10_000,
    maxPositions: 512,
    layerWindows: isWindowed ? [7, 0, 12] : [0, 0, 0],
    bosTokenId: null,
    eosTokenIds: [100],
    ...(facts.experts === undefined ? {} : { experts: smallExperts(facts.experts) }),
  };
  return applyOverrides(
    {
      name: engine.name,
      facts: base,
      threads: 2,
      vectorWidth: engine.vectorWidth,
      onDevice: engine.onDevice,
      weightsF16: engine.weightFormat === 'f16',
      maxContext: 512,
      maxBatch: 3,
    },
    overrides,
  );
}

/** Every second layer has one MLP, whose code is there whether the engine's own layers need it or not. */
function smallExperts(experts: ExpertFacts): ExpertFacts {
  const sharedWidth = experts.sharedWidth > 0 ? 36 : 0;
  return { ...experts, count: 9, perToken: 4, width: 28, sharedWidth, layers: [true, false, true] };
}

/** The engine's own constants. */
export function ownModel(engine: EngineUnderTest): ConfigInput {
  const { hardware, serving } = engine.constraints;
  return {
    name: engine.name,
    facts: engine.facts,
    threads: hardware.threads,
    vectorWidth: engine.vectorWidth,
    onDevice: engine.onDevice,
    weightsF16: engine.weightFormat === 'f16',
    maxContext: serving.max_context,
    maxBatch: serving.max_batch,
  };
}

const factOf: Readonly<Record<string, keyof ModelFacts>> = {
  hidden_size: 'hiddenSize',
  num_layers: 'numLayers',
  num_heads: 'numHeads',
  num_kv_heads: 'numKvHeads',
  head_dim: 'headDim',
  intermediate_size: 'intermediateSize',
  vocab_size: 'vocabSize',
  tied_head: 'tiedHead',
  qkv_bias: 'qkvBias',
  qk_norm: 'qkNorm',
  rms_norm_eps: 'rmsNormEps',
  rope_theta: 'ropeTheta',
  max_positions: 'maxPositions',
};
const expertOf: Readonly<Record<string, keyof ExpertFacts>> = {
  num_experts: 'count',
  experts_per_token: 'perToken',
  expert_size: 'width',
  normalise_experts: 'isNormalised',
};
const gemmaOf: Readonly<Record<string, keyof GemmaFacts>> = {
  embedding_scale: 'embeddingScale',
  attention_scale: 'attentionScale',
  attention_cap: 'attentionCap',
  final_cap: 'finalCap',
};
const limitOf: Readonly<Record<string, keyof ConfigInput>> = {
  num_threads: 'threads',
  vector_width: 'vectorWidth',
  max_context: 'maxContext',
  max_batch: 'maxBatch',
};
const scalingOf: Readonly<Record<string, string>> = {
  rope_factor: 'factor',
  rope_low_freq_factor: 'lowFreqFactor',
  rope_high_freq_factor: 'highFreqFactor',
  rope_beta_fast: 'betaFast',
  rope_beta_slow: 'betaSlow',
  rope_attention_factor: 'attentionFactor',
  rope_original_max_positions: 'originalMaxPositions',
  rope_truncate: 'truncate',
};

function applyOverrides(base: ConfigInput, overrides: Overrides): ConfigInput {
  const facts: Record<string, unknown> = { ...base.facts };
  const limits: Record<string, unknown> = {};
  const scaling: Record<string, unknown> = { ...base.facts.ropeScaling };
  const experts: Record<string, unknown> = { ...base.facts.experts };
  const gemma: Record<string, unknown> = { ...base.facts.gemma };
  for (const [name, value] of Object.entries(overrides)) {
    if (factOf[name] !== undefined) facts[factOf[name]] = value;
    else if (expertOf[name] !== undefined) experts[expertOf[name]] = value;
    else if (gemmaOf[name] !== undefined) gemma[gemmaOf[name]] = value;
    else if (limitOf[name] !== undefined) limits[limitOf[name]] = value;
    // Only scalings of the engine's kind have a realization in it; constants of another kind don't apply.
    else if (scalingOf[name] !== undefined && scalingOf[name] in scaling) scaling[scalingOf[name]] = value;
    else if (name !== 'layer_windows' && scalingOf[name] === undefined) {
      throw new AppError(
        'KNOWLEDGE_INVALID',
        `gate.yaml overrides ${name}, which is no constant of config.h.`,
      );
    }
  }
  const layers = Number(facts.numLayers);
  facts.layerWindows = windowsFor(base.facts, layers, overrides.layer_windows);
  facts.ropeScaling = scaling as RopeScaling;
  if (base.facts.gemma !== undefined) facts.gemma = gemma;
  if (base.facts.experts !== undefined) {
    const pattern = base.facts.experts.layers;
    facts.experts = {
      ...experts,
      layers: Array.from({ length: layers }, (_, i) => pattern[i % pattern.length]),
    };
  }
  return { ...base, ...limits, facts: facts as unknown as ModelFacts };
}

/** `layer_windows` is one number for all layers or a list written as text, e.g. "0 7 12". */
function windowsFor(
  base: ModelFacts,
  layers: number,
  override: number | boolean | string | undefined,
): number[] {
  const given =
    override === undefined
      ? base.layerWindows
      : String(override)
          .split(/[\s,]+/)
          .map(Number);
  return Array.from({ length: layers }, (_, layer) => given[layer % given.length] ?? 0);
}

/** Values of the constants that a gate's dimensions may name. */
export function constantsOf(model: ConfigInput): ReadonlyMap<string, number> {
  const { facts } = model;
  const values: Record<string, number> = {
    hidden_size: facts.hiddenSize,
    num_layers: facts.numLayers,
    num_heads: facts.numHeads,
    num_kv_heads: facts.numKvHeads,
    head_dim: facts.headDim,
    intermediate_size: facts.intermediateSize,
    num_experts: facts.experts?.count ?? 1,
    experts_per_token: facts.experts?.perToken ?? 1,
    expert_size: facts.experts?.width ?? 1,
    shared_expert_size: facts.experts?.sharedWidth ?? 0,
    vocab_size: facts.vocabSize,
    max_positions: facts.maxPositions,
    max_context: model.maxContext,
    max_batch: model.maxBatch,
    max_rows: Math.max(model.maxBatch, Math.min(256, model.maxContext)),
    num_threads: model.threads,
    vector_width: model.vectorWidth,
  };
  return new Map(Object.entries(values));
}

/** `2*head_dim`, `max_context-1`, `num_heads * head_dim`: products first, then sums. */
export function evaluateDimension(
  dimension: number | string,
  constants: ReadonlyMap<string, number>,
): number {
  if (typeof dimension === 'number') return dimension;
  const value = dimension
    .replace(/\s+/g, '')
    .split(/(?=[+-])/)
    .reduce((sum, term) => {
      const sign = term.startsWith('-') ? -1 : 1;
      return (
        sum +
        sign *
          term
            .replace(/^[+-]/, '')
            .split(/(?=[*/])/)
            .reduce((product, factor) => {
              const name = factor.replace(/^[*/]/, '');
              const number = /^\d+$/.test(name) ? Number(name) : (constants.get(name) ?? Number.NaN);
              return factor.startsWith('/') ? Math.floor(product / number) : product * number;
            }, 1)
      );
    }, 0);
  if (!Number.isInteger(value) || value < 0) {
    throw new AppError(
      'KNOWLEDGE_INVALID',
      `gate.yaml has a dimension "${dimension}" that is no whole number (${value}).`,
    );
  }
  return value;
}
