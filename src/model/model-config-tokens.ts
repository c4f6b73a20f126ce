import { type ConfigReader, ownValue, refuse, show } from './model-config-reader.ts';
import type { ModelFamily } from './model-facts.ts';

/** LlamaConfig, MistralConfig and MixtralConfig name bos 1 and eos 2 where a file says nothing; the Qwen classes name none. */
function hasClassDefaults(family: ModelFamily): boolean {
  return family === 'llama' || family === 'mistral' || family === 'mixtral';
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
  return isSilent && hasClassDefaults(family) && vocabSize > 1 ? 1 : null;
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
  if (isSilent && hasClassDefaults(family) && vocabSize > 2) ids.push(2);
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
