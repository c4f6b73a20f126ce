import { type ConfigReader, ownValue, readNumber, refuse, show } from './model-config-reader.ts';
import type { GemmaFacts, ModelFamily } from './model-facts.ts';
import { nearestBf16, nearestF16 } from './reference-case.ts';

const activation = 'gelu_pytorch_tanh';

/** What gemma2 does besides a plain decoder; undefined for the other families. */
export function readGemma(
  reader: ConfigReader,
  family: ModelFamily,
  hiddenSize: number,
): GemmaFacts | undefined {
  if (family !== 'gemma2') return undefined;
  // transformers computes with hidden_activation and ignores hidden_act; a file where the two differ is nobody's model.
  for (const key of ['hidden_activation', 'hidden_act']) {
    const value = ownValue(reader, key);
    if (value === undefined || value === null || value === activation) continue;
    refuse(
      reader,
      key,
      'not-implemented',
      `${key} ${show(value)} is not implemented; expected "${activation}".`,
    );
  }
  const scalar = readNumber(reader, 'query_pre_attn_scalar', { min: 1e-3, max: 1e6, otherwise: 256 });
  return {
    embeddingScale: roundToFormat(Math.sqrt(hiddenSize), reader),
    attentionScale: 1 / Math.sqrt(scalar),
    attentionCap: readCap(reader, 'attn_logit_softcapping', 50),
    finalCap: readCap(reader, 'final_logit_softcapping', 30),
  };
}

/** Absent means the class default of transformers 5.18.0; null switches the cap off, which no contract covers. */
function readCap(reader: ConfigReader, key: string, otherwise: number): number {
  if (ownValue(reader, key) === null) {
    refuse(reader, key, 'not-implemented', `${key} null is not implemented for gemma2; expected a number.`);
    return Number.NaN;
  }
  return readNumber(reader, key, { min: 1e-3, max: 1e6, otherwise });
}

/** transformers makes the factor a tensor of the model's own format before it multiplies; without one named, of float32. */
function roundToFormat(value: number, reader: ConfigReader): number {
  const format = ownValue(reader, 'dtype') ?? ownValue(reader, 'torch_dtype');
  const single = Math.fround(value);
  if (format === 'bfloat16') return nearestBf16(single);
  return format === 'float16' ? nearestF16(single) : single;
}
