import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectedTensors } from '../model/expected-tensors.ts';
import { readModelConfig } from '../model/model-config.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import type { Problem } from '../model/problem.ts';
import { readTokenizerFacts } from '../model/tokenizer-config.ts';
import { indexCheckpoint, openCheckpoint } from './safetensors.ts';
import type { TensorPlace } from './safetensors-header.ts';

export interface Inspection {
  /** Absent where config.json cannot be read or asks for something that is not implemented. */
  readonly facts?: ModelFacts;
  readonly problems: readonly Problem[];
}

/**
 * Everything that can be known about a checkpoint without reading weights: both configuration files, the tokenizer, every
 * header, and that the tensors are exactly those of the model, with its shapes. All problems at once.
 */
export function inspectCheckpoint(folder: string): Inspection {
  const problems: Problem[] = [];
  const config = readJson(folder, 'config.json', true, problems);
  const generation = readJson(folder, 'generation_config.json', false, problems);
  const model = config === undefined ? { problems: [] } : readModelConfig(config, generation);
  const index = indexCheckpoint(folder);
  problems.push(...model.problems, ...index.problems, ...checkTokenizer(folder));
  if (model.facts === undefined) return { problems };
  // Headers that cannot be read would make every tensor look missing.
  if (index.problems.length > 0) return { facts: model.facts, problems };
  const wrong = checkTensors(index.tensors, model.facts);
  problems.push(...(wrong.length > 0 ? wrong : checkTiedCopy(folder, index.tensors, model.facts)));
  return { facts: model.facts, problems };
}

/** A checkpoint without tokenizer.json is sound (token ids in, logits out); one that cannot be read is not. */
function checkTokenizer(folder: string): Problem[] {
  const problems: Problem[] = [];
  const json = readJson(folder, 'tokenizer.json', false, problems);
  if (json === undefined) return problems;
  return readTokenizerFacts(json).problems.map((problem) => ({ file: 'tokenizer.json', ...problem }));
}

/** Tensors too many, too few or of another shape than these facts need. */
export function checkTensors(tensors: ReadonlyMap<string, TensorPlace>, facts: ModelFacts): Problem[] {
  const messages: string[] = [];
  const expected = expectedTensors(facts);
  for (const { name, shape } of expected) {
    const place = tensors.get(name);
    if (place === undefined) messages.push(`tensor ${name} is missing; expected shape [${shape}].`);
    else if (place.shape.join() !== shape.join()) {
      messages.push(`tensor ${name} has shape [${place.shape}]; config.json needs [${shape}].`);
    }
  }
  const known = new Set(expected.map((tensor) => tensor.name));
  if (facts.tiedHead) known.add(tiedCopy);
  for (const name of tensors.keys()) {
    // Frequencies that transformers before 4.32 saved; every engine computes them from config.json.
    if (!known.has(name) && !name.endsWith('.rotary_emb.inv_freq'))
      messages.push(`tensor ${name} is not part of this model; nothing would read it.`);
  }
  return messages.map(tensorProblem);
}

function tensorProblem(message: string): Problem {
  return { severity: 'error', code: 'tensor', file: 'model.safetensors', message };
}

const tiedCopy = 'lm_head.weight';
const compareBytes = 2 ** 24;

/** A tied checkpoint may hold the table a second time, as contract head.logits says; another head is a contradiction. */
function checkTiedCopy(
  folder: string,
  tensors: ReadonlyMap<string, TensorPlace>,
  facts: ModelFacts,
): Problem[] {
  const table = 'model.embed_tokens.weight';
  const [copy, original] = [tensors.get(tiedCopy), tensors.get(table)];
  if (!facts.tiedHead || copy === undefined || original === undefined) return [];
  const size = copy.bytes;
  const isAlike = copy.format === original.format && copy.shape.join() === original.shape.join();
  const checkpoint = openCheckpoint(folder);
  try {
    let same = isAlike;
    for (let at = 0; same && at < size; at += compareBytes) {
      const length = Math.min(compareBytes, size - at);
      same = Buffer.from(checkpoint.readBytes(tiedCopy, at, length)).equals(
        checkpoint.readBytes(table, at, length),
      );
    }
    const message = `tensor ${tiedCopy} differs from ${table}, and config.json says that they are tied.`;
    return same ? [] : [tensorProblem(message)];
  } finally {
    checkpoint.close();
  }
}

function readJson(folder: string, file: string, isNeeded: boolean, problems: Problem[]): unknown {
  let text: string;
  try {
    text = readFileSync(join(folder, file), 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (!isNeeded && code === 'ENOENT') return undefined;
    const message =
      code === 'ENOENT' ? `${file} is missing.` : `${file} cannot be read: ${code ?? 'unknown error'}.`;
    problems.push({ severity: 'error', code: 'checkpoint', file, message });
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    problems.push({ severity: 'error', code: 'not-json', file, message: `${file} is not JSON.` });
    return undefined;
  }
}
