import { type ConfigReader, ownValue, refuse, show } from './model-config-reader.ts';
import type { ModelFamily } from './model-facts.ts';

/** What the classes of transformers name where a file says nothing; those of Qwen name none. */
function classDefaults(family: ModelFamily): { readonly bos: number; readonly eos: number } | undefined {
  if (family === 'gemma2') return { bos: 2, eos: 1 };
  return family === 'llama' || family === 'mistral' || family === 'mixtral' ? { bos: 1, eos: 2 } : undefined;
}

export function readBosTokenId(
  config: ConfigReader,
  generation: ConfigReader,
  family: ModelFamily,
  vocabSize: number,
): number | null {
  for (const reader of [config, generation]) {
    const ids = readTokenIds(reader, 'bos_token_id', vocabSize);
    if (ids[0] !== undefined) return ids[0];
  }
  const isSilent =
    ownValue(config, 'bos_token_id') === undefined && ownValue(generation, 'bos_token_id') === undefined;
  const otherwise = classDefaults(family)?.bos ?? null;
  return isSilent && otherwise !== null && vocabSize > otherwise ? otherwise : null;
}

/** Both files count: Llama-3 names further ends of a turn in generation_config.json only. */
export function readEosTokenIds(
  config: ConfigReader,
  generation: ConfigReader,
  family: ModelFamily,
  vocabSize: number,
): number[] {
  const ids = [config, generation].flatMap((reader) => readTokenIds(reader, 'eos_token_id', vocabSize));
  const isSilent =
    ownValue(config, 'eos_token_id') === undefined && ownValue(generation, 'eos_token_id') === undefined;
  const otherwise = classDefaults(family)?.eos;
  if (isSilent && otherwise !== undefined && vocabSize > otherwise) ids.push(otherwise);
  return [...new Set(ids)];
}

function readTokenIds(reader: ConfigReader, key: string, vocabSize: number): number[] {
  const value = ownValue(reader, key);
  if (value === undefined || value === null) return [];
  const ids: unknown[] = Array.isArray(value) ? value : [value];
  const limit = Number.isNaN(vocabSize) ? Number.POSITIVE_INFINITY : vocabSize;
  const wrong = ids.find((id) => !(typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < limit));
  if (wrong === undefined) return ids as number[];
  refuse(
    reader,
    key,
    'out-of-range',
    `${key} holds ${show(wrong)}; expected token ids below vocab_size, ${vocabSize}.`,
  );
  return [];
}
