import { existsSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import { type ExpectedTensor, elementCount, expectedTensors } from '../model/expected-tensors.ts';
import { readModelConfig } from '../model/model-config.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { formatProblem } from '../model/problem.ts';
import type { FloatFormat } from './float-formats.ts';
import { type TensorSource, writeCheckpoint } from './safetensors-writer.ts';
import { normalPieces, seedRandom } from './seeded-normals.ts';

export interface SyntheticOptions {
  readonly seed: number;
  readonly dtype: FloatFormat;
  readonly shards?: number;
  readonly generationConfig?: unknown;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
  readonly signal?: AbortSignal;
}

const dtypeName: Readonly<Record<FloatFormat, string>> = { f32: 'float32', bf16: 'bfloat16', f16: 'float16' };

/**
 * Writes a seeded random checkpoint at the shapes of a config.json, streamed to disk; same config, seed and format give
 * the same bytes. Throws MODEL_UNSUPPORTED for a config that no contract implements, OUTPUT_EXISTS where the folder is.
 */
export async function writeSyntheticCheckpoint(
  folder: string,
  config: Readonly<Record<string, unknown>>,
  options: SyntheticOptions,
): Promise<ModelFacts> {
  const { facts, problems } = readModelConfig(config, options.generationConfig);
  if (facts === undefined) throw new AppError('MODEL_UNSUPPORTED', problems.map(formatProblem).join('\n'));
  if (existsSync(folder)) throw new AppError('OUTPUT_EXISTS', `${folder} exists already.`);
  const { dtype: _, torch_dtype: __, ...rest } = config;
  const { seed, dtype, ...files } = options;
  await writeCheckpoint(folder, {
    generationConfig: { bos_token_id: facts.bosTokenId, eos_token_id: facts.eosTokenIds, do_sample: false },
    ...files,
    config: { ...rest, torch_dtype: dtypeName[dtype] },
    tensors: expectedTensors(facts).map((tensor) => syntheticTensor(tensor, facts, seed, dtype)),
  });
  return facts;
}

function syntheticTensor(
  tensor: ExpectedTensor,
  facts: ModelFacts,
  seed: number,
  format: FloatFormat,
): TensorSource {
  const { mean, spread } = distribution(tensor, facts);
  const count = elementCount(tensor.shape);
  return {
    ...tensor,
    format,
    pieces: () => normalPieces(seedRandom(seed, tensor.name), count, mean, spread, format),
  };
}

/**
 * Scales at which every part of the model matters: scores with a standard deviation around 2, logits around 2, gains
 * around 1 but all different, biases far from 0, and layers that outweigh the token's own embedding, whose product with
 * a tied head would otherwise win every time.
 */
export function distribution(tensor: ExpectedTensor, facts: ModelFacts): { mean: number; spread: number } {
  const { name, shape } = tensor;
  const headSpread = 2 / Math.sqrt(facts.hiddenSize);
  const embeddingSpread = facts.tiedHead ? headSpread : 0.7;
  const fanIn = 1 / Math.sqrt(shape.at(-1)!);
  if (name === 'model.embed_tokens.weight') return { mean: 0, spread: embeddingSpread };
  if (name === 'lm_head.weight') return { mean: 0, spread: headSpread };
  if (name.endsWith('_proj.bias')) return { mean: 0, spread: 0.5 };
  if (/[qk]_norm\.weight$/.test(name)) return { mean: 1.3, spread: 0.25 };
  if (/norm\.weight$/.test(name)) return { mean: 1, spread: 0.2 };
  if (/(o|down)_proj\.weight$/.test(name)) return { mean: 0, spread: 1.8 * embeddingSpread * fanIn };
  return { mean: 0, spread: (/[qk]_proj\.weight$/.test(name) ? 1.4 : 1) * fanIn };
}
