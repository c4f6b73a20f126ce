import type { Constraints } from './constraints.ts';
import type { ModelFacts } from './model-facts.ts';
import { countParameters } from './parameter-count.ts';
import type { Arithmetic } from './plan.ts';

type NumberFormat = Constraints['numerics']['weights'] | Constraints['numerics']['kv_cache'];

/** Values of one block and its bytes; q8_0 and q4_0 hold 32 values and one f16 scale (research §7.2). */
const blocks: Record<NumberFormat, { readonly values: number; readonly bytes: number }> = {
  f32: { values: 1, bytes: 4 },
  bf16: { values: 1, bytes: 2 },
  f16: { values: 1, bytes: 2 },
  fp8: { values: 1, bytes: 1 },
  q8_0: { values: 32, bytes: 34 },
  q4_0: { values: 32, bytes: 18 },
};

export function blockLength(format: NumberFormat): number {
  return blocks[format].values;
}

/** Bytes of `count` values in `format`; whole blocks. */
export function bytesOf(count: number, format: NumberFormat): number {
  const { values, bytes } = blocks[format];
  return Math.ceil(count / values) * bytes;
}

/** The fields of a constraint file that sizes depend on. */
export interface SizeInputs {
  readonly hardware: Pick<Constraints['hardware'], 'platform'>;
  readonly numerics: Pick<Constraints['numerics'], 'weights' | 'kv_cache'>;
  readonly serving: Pick<Constraints['serving'], 'max_context' | 'max_batch' | 'kv'>;
  readonly workload: Pick<Constraints['workload'], 'prompt_tokens' | 'output_tokens'>;
}

/** One forward call of an engine takes at most this many rows (config.h `max_rows`). */
const prefillRows = 256;

/** Keys that a query at the end of `context` tokens reads, over all layers. */
export function keysRead(facts: ModelFacts, context: number): number {
  return facts.layerWindows.reduce(
    (sum, window) => sum + (window === 0 ? context : Math.min(context, window)),
    0,
  );
}

/** KV bytes read to decode one token of one sequence that is `context` tokens long. */
export function kvBytesRead(facts: ModelFacts, format: NumberFormat, context: number): number {
  return bytesOf(2 * keysRead(facts, context) * facts.numKvHeads * facts.headDim, format);
}

/** Context in the middle of decoding the workload: the mean over its output tokens. */
export function meanContext(workload: SizeInputs['workload']): number {
  return workload.prompt_tokens + (workload.output_tokens + 1) / 2;
}

/** Σ over positions 1..tokens of the keys each one sees, over all layers. */
function causalKeys(facts: ModelFacts, tokens: number): number {
  return facts.layerWindows.reduce((sum, window) => {
    const growing = window === 0 ? tokens : Math.min(tokens, window);
    return sum + (growing * (growing + 1)) / 2 + (tokens - growing) * growing;
  }, 0);
}

function activationBytes(facts: ModelFacts, { hardware, serving }: SizeInputs): number {
  if (hardware.platform === 'cuda') return 4 * gpuWorkspace(facts, serving);
  const rows = Math.max(prefillRows, serving.max_batch);
  const { attention, mlp } = rowFloats(facts);
  return 4 * (rows * (3 * facts.hiddenSize + attention + mlp) + serving.max_batch * facts.vocabSize);
}

/** Floats of one row inside a block. */
function rowFloats(facts: ModelFacts) {
  const { numHeads, numKvHeads, headDim } = facts;
  return { attention: (2 * numHeads + 2 * numKvHeads) * headDim, mlp: feedForwardFloats(facts) };
}

/**
 * Floats of scratch that one row takes in the feed-forward half, its normalised copy left out: gate and up; with experts
 * also the rows gathered for one expert, what it makes of them, and the router's probabilities and choice.
 */
export function feedForwardFloats({ hiddenSize, intermediateSize, experts }: ModelFacts): number {
  if (experts === undefined) return 2 * intermediateSize;
  const dense = experts.layers.every((hasExperts) => hasExperts) ? 0 : intermediateSize;
  const widest = Math.max(experts.width, experts.sharedWidth, dense);
  return 2 * widest + 2 * hiddenSize + experts.count + experts.perToken + 1;
}

/** Of attention on a GPU: keys of one part of the cache, and floats for the sums of parts, unless one row needs more. */
const [partKeys, partFloats] = [64, 2 ** 23];
/** Rows of logits that a GPU holds at once. */
const logitRows = 32;

/** Floats of scratch that an engine takes of a GPU's memory: `workspace_floats` of decoder.model, all at once. */
function gpuWorkspace(facts: ModelFacts, { max_context, max_batch }: SizeInputs['serving']): number {
  const rows = Math.max(max_batch, Math.min(prefillRows, max_context));
  const { attention, mlp } = rowFloats(facts);
  const padding = 8 * 16;
  const parts = facts.numHeads * (Math.floor(max_context / partKeys) + 1) * (facts.headDim + 34);
  return (
    rows * (3 * facts.hiddenSize + Math.max(attention, mlp) + padding) +
    Math.min(logitRows, rows) * Math.ceil(facts.vocabSize / 16) * 16 +
    Math.max(partFloats, parts)
  );
}

/**
 * Products of the tensor cores for one product with a weight. Activations are f32 and stay exact: three bf16 parts of
 * one for a bf16 weight; an f16 weight is two bf16 parts, whose smallest product lies below f32 and is left out.
 */
export function productsPerWeight({ hardware, numerics }: Pick<SizeInputs, 'hardware' | 'numerics'>): number {
  if (hardware.platform !== 'cuda') return 1;
  return numerics.weights === 'f16' ? 5 : 3;
}

/** Sizes and work of one engine (research §3.5). Throws nothing; inputs are checked by src/constraints. */
export function computeArithmetic(facts: ModelFacts, constraints: SizeInputs): Arithmetic {
  const { weights, kv_cache } = constraints.numerics;
  const { max_context, max_batch, kv } = constraints.serving;
  const count = countParameters(facts);
  const perKey = 2 * facts.numHeads * facts.headDim * 2;
  const weightBytes = bytesOf(count.total, weights);
  const kvBytesPerToken = bytesOf(2 * facts.numLayers * facts.numKvHeads * facts.headDim, kv_cache);
  // A contiguous cache keeps a row for every position, also of layers whose window no longer reaches it.
  const kvBytesPerSequence =
    kv === 'paged' ? kvBytesRead(facts, kv_cache, max_context) : max_context * kvBytesPerToken;
  const kvBytesTotal = max_batch * kvBytesPerSequence;
  const activations = activationBytes(facts, constraints);
  const { prompt_tokens } = constraints.workload;
  return {
    parameters: count.total,
    matmulParameters: count.matmul,
    weightBytes,
    // Of experts, those of one token: more sequences may read more, but none can do with less.
    weightBytesPerStep: bytesOf(count.total - count.untiedEmbedding - count.idle, weights),
    kvBytesPerToken,
    kvBytesTotal,
    activationBytes: activations,
    memoryBytes: weightBytes + kvBytesTotal + activations,
    flopsPerDecodedToken: 2 * count.matmul + perKey * keysRead(facts, meanContext(constraints.workload)),
    // The head is needed for the last prompt token alone.
    prefillFlops:
      2 * (count.matmul - count.head) * prompt_tokens +
      2 * count.head +
      perKey * causalKeys(facts, prompt_tokens),
  };
}
