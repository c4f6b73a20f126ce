import { computeArithmetic, kvBytesRead } from '../../model/arithmetic.ts';
import { expectedTensors } from '../../model/expected-tensors.ts';
import type { PreparedEngine } from '../../preparation/prepare-engine.ts';
import { distribution } from '../../verification/synthetic-weights.ts';
import type { BundleShape, EngineConstants } from './bundle-manifest.ts';

/** What is measured of a shape: depths of the cache at which decoding begins, and prompts. */
export interface ShapeTests {
  readonly decodeDepths: readonly number[];
  readonly decodeSteps: number;
  readonly prefillTokens: readonly number[];
}

export const realTests: ShapeTests = {
  decodeDepths: [0, 512, 4096],
  decodeSteps: 32,
  prefillTokens: [512, 4096],
};
export const miniatureTests: ShapeTests = { decodeDepths: [0, 8], decodeSteps: 3, prefillTokens: [8] };

export function engineConstants({ request }: PreparedEngine): EngineConstants {
  const { facts } = request.model;
  const { max_context, max_batch } = request.constraints.serving;
  return {
    vocabSize: facts.vocabSize,
    hiddenSize: facts.hiddenSize,
    numLayers: facts.numLayers,
    maxContext: max_context,
    maxBatch: max_batch,
    // As the composer writes it to config.h.
    maxRows: Math.max(max_batch, Math.min(256, max_context)),
  };
}

export function describeShape(
  id: string,
  program: string,
  prepared: PreparedEngine,
  tests: ShapeTests,
): BundleShape {
  const { model, constraints } = prepared.request;
  const { facts } = model;
  const work = (prompt_tokens: number) =>
    computeArithmetic(facts, { ...constraints, workload: { prompt_tokens, output_tokens: 1 } });
  const { numLayers, numHeads, numKvHeads, headDim, rmsNormEps, ropeTheta, tiedHead, qkNorm } = facts;
  return {
    id,
    program,
    config: { ...model.config, torch_dtype: 'bfloat16' },
    generationConfig: model.generationConfig ?? null,
    seed: 'seed' in constraints.weights ? constraints.weights.seed : 1,
    tensors: expectedTensors(facts).map((tensor) => ({ ...tensor, ...distribution(tensor, facts) })),
    constants: engineConstants(prepared),
    facts: { numLayers, numHeads, numKvHeads, headDim, rmsNormEps, ropeTheta, tiedHead, qkNorm },
    work: {
      weightBytesPerStep: work(1).weightBytesPerStep,
      kvBytesPerPosition: kvBytesRead(facts, constraints.numerics.kv_cache, 1),
      prefillFlops: Object.fromEntries(
        tests.prefillTokens.map((tokens) => [String(tokens), work(tokens).prefillFlops]),
      ),
    },
    ...tests,
  };
}
