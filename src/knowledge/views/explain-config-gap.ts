import type { Catalog } from '../../model/catalog.ts';
import type { GapPart, KnowledgeGap } from '../../model/knowledge-gap.ts';
import { readModelConfig } from '../../model/model-config.ts';
import type { ModelFacts } from '../../model/model-facts.ts';
import { toTarget } from '../../model/target.ts';
import { anyRequest } from '../describe-family.ts';
import { findSimilar } from './find-similar.ts';
import { modelKeys } from './representative-rows.ts';

type Config = Readonly<Record<string, unknown>>;

/** Faults of a config.json that more knowledge would cure; the others are mistakes. */
const curable: ReadonlySet<string> = new Set(['not-implemented', 'unknown-key']);
/** What the family is called changes no number by itself. */
const names: readonly string[] = ['model_type', 'architectures'];
/** Words of config.json keys that say nothing of what the key is about. */
const emptyWords: ReadonlySet<string> = new Set([
  'num',
  'use',
  'size',
  'type',
  'model',
  'per',
  'tok',
  'the',
  'dim',
]);

/**
 * What is missing for a config.json that no covered family reads: its keys, the contracts whose subject they are, and
 * the covered target that is left without them. Undefined where nothing but mistakes keeps it from being read. Pure.
 */
export function explainConfigGap(catalog: Catalog, config: Config): KnowledgeGap | undefined {
  const problems = readModelConfig(config).problems.filter(
    ({ severity, code, path }) => severity === 'error' && curable.has(code) && path !== undefined,
  );
  if (problems.length === 0) return undefined;
  const missing = problems.map(({ path, message }) => ({ contract: `config.json ${path}`, reason: message }));
  const keys = [...new Set(problems.map(({ path }) => path!.split('.')[0]!))];
  const parts = keys.filter((key) => !names.includes(key)).map((key) => ownerOf(key, catalog));
  const family = keys.includes('model_type') ? String(config.model_type) : undefined;
  const facts = nearestFacts(catalog, config, keys);
  return {
    missing,
    smallest: mergeParts(parts),
    similar: facts === undefined ? [] : findNear(catalog, facts, keys),
    write: [
      ...(family === undefined
        ? []
        : [
            `\`knowledge/models/${family.replaceAll(/[^\w-]/g, '-')}.yaml\`: the family's facts, each with its source`,
          ]),
      ...parts
        .filter(({ need }) => need === 'new contract')
        .map(
          ({ contract }) => `\`npx metainfer knowledge new ${contract}\`, then what its skeleton asks for`,
        ),
      ...(keys.length === 0
        ? []
        : [`how ${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} read: \`src/model/model-config.ts\``]),
    ],
  };
}

/** By words alone: the contract whose id or summary has one of the key; else a new one named after it. */
function ownerOf(key: string, { contracts }: Catalog): GapPart {
  const words = key.split('_').filter((word) => word.length > 2 && !emptyWords.has(word));
  const score = (text: string) =>
    words.filter((word) =>
      text
        .toLowerCase()
        .split(/[^a-z]+/)
        .some((other) => isAkin(word, other)),
    ).length;
  const ranked = contracts
    .filter(({ frontMatter }) => frontMatter.layer !== 'deployment')
    .map(({ frontMatter: { id, summary } }) => ({ id, score: 2 * score(id) + score(summary) }))
    .sort((a, b) => b.score - a.score);
  const [best] = ranked;
  if (best !== undefined && best.score > 0)
    return { contract: best.id, need: 'wider contract', says: `${best.id} with ${key}` };
  const contract = `model.${(words.length === 0 ? key.split('_') : words).join('-').replaceAll(/[^a-z0-9-]/g, '')}`;
  return { contract, need: 'new contract', says: `a contract for ${key}` };
}

/** One begins like the other (`logits`, logit), or is its abbreviation (`attn`, attention). */
function isAkin(word: string, other: string): boolean {
  if (word.length < 3 || other.length < 3 || word.slice(0, 3) !== other.slice(0, 3)) return false;
  if (word.slice(0, 4) === other.slice(0, 4)) return true;
  let next = 0;
  for (const letter of other) if (letter === word[next]) next++;
  return next === word.length;
}

function mergeParts(parts: readonly GapPart[]): GapPart[] {
  const byContract = new Map<string, GapPart>();
  for (const part of parts) {
    const same = byContract.get(part.contract);
    const says = same === undefined ? part.says : `${same.says} and ${part.says.split(' with ').at(-1)}`;
    byContract.set(part.contract, { ...part, says });
  }
  return [...byContract.values()];
}

/** What is left of the model without the keys that nobody reads, as the family that it fits best. */
function nearestFacts(catalog: Catalog, config: Config, refused: readonly string[]): ModelFacts | undefined {
  const kept = Object.fromEntries(
    Object.entries(config).filter(([key]) => !refused.includes(key) && key !== 'architectures'),
  );
  const shared = (keys: Config) => Object.keys(kept).filter((key) => Object.hasOwn(keys, key)).length;
  return catalog.families
    .map(({ family, configKeys }) => ({
      facts: readModelConfig({ ...kept, model_type: family }).facts,
      isOwn: family === config.model_type,
      shared: shared(configKeys),
    }))
    .sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || b.shared - a.shared)
    .find(({ facts }) => facts !== undefined)?.facts;
}

function findNear(catalog: Catalog, facts: ModelFacts, refused: readonly string[]): KnowledgeGap['similar'] {
  const tokenizer = { model: 'none', preTokenizer: 'none', normalizer: 'none' } as const;
  const target = toTarget(anyRequest(), facts, tokenizer);
  // What the file says of hardware and text is not in question here.
  const keys = modelKeys.filter((key) => !key.startsWith('tokenizer.'));
  return findSimilar(catalog, target, keys).map(({ name, differs }) => ({
    name,
    differs: [`without ${refused.join(', ')}`, ...differs],
  }));
}
