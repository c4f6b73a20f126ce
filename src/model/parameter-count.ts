import { elementCount, expectedTensors } from './expected-tensors.ts';
import type { ModelFacts } from './model-facts.ts';

export interface ParameterCount {
  /** Every weight of the checkpoint once; a tied head is not counted again. */
  readonly total: number;
  /** Weights of the matrix products of one decoded token: its projections and the head, whether tied or not. */
  readonly matmul: number;
  /** The output head's share of `matmul`: prefill needs it for the last position only. */
  readonly head: number;
  /** The embedding table where no head shares it, else 0: one row of it is read per token. */
  readonly untiedEmbedding: number;
  /** Weights of the experts that one token does not pass through; 0 without experts. */
  readonly idle: number;
}

/** Parameters of a decoder-only model (research §3.5). */
export function countParameters(facts: ModelFacts): ParameterCount {
  const sizes = expectedTensors(facts).map(({ shape }) => ({
    isMatrix: shape.length > 1,
    size: elementCount(shape),
  }));
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const matrices = sizes.reduce((sum, { isMatrix, size }) => sum + (isMatrix ? size : 0), 0);
  const head = facts.vocabSize * facts.hiddenSize;
  const untiedEmbedding = facts.tiedHead ? 0 : head;
  const idle = countIdle(facts);
  return { total, matmul: matrices - untiedEmbedding - idle, head, untiedEmbedding, idle };
}

function countIdle({ experts, hiddenSize }: ModelFacts): number {
  if (experts === undefined) return 0;
  const layers = experts.layers.filter((hasExperts) => hasExperts).length;
  return layers * (experts.count - experts.perToken) * 3 * hiddenSize * experts.width;
}
