import type { Catalog, FamilyFacts } from '../../model/catalog.ts';
import { readModelConfig } from '../../model/model-config.ts';
import {
  allowedValues,
  firstMismatch,
  type Predicate,
  type Target,
  type TargetKey,
  type TargetValue,
  targetKeys,
  toTarget,
} from '../../model/target.ts';
import { anyRequest, describeFamily } from '../describe-family.ts';

/** A kind of model; what its target says of hardware and formats belongs to the column, not to it. */
export interface TargetRow {
  readonly name: string;
  readonly family: string;
  readonly features: readonly string[];
  readonly models: readonly string[];
  readonly target: Target;
}

/** Keys of a target that are facts of the model, not of what is asked for. */
export const modelKeys: readonly TargetKey[] = targetKeys.filter((key) =>
  /^(?:model|rope|tokenizer)\./.test(key),
);
/** What two models of one family may differ in, and the config.json keys that say so. */
const variedBy: Readonly<Partial<Record<TargetKey, readonly string[]>>> = {
  'model.tied_head': ['tie_word_embeddings'],
  'model.sliding_window': ['sliding_window'],
  'rope.scaling': ['rope_scaling', 'rope_parameters'],
};

type Seed = Pick<TargetRow, 'target' | 'models'>;

/**
 * The kinds of model that show what knowledge covers: every known model; of each family its first model with each
 * other value of the features that its config.json decides; what examples ask for; a family that has none of these; then, where a contract or realization
 * is for values that none of these has, the nearest row with those values. Equal rows are one.
 */
export function representativeRows(catalog: Catalog, asked: readonly Target[] = []): readonly TargetRow[] {
  const known = catalog.models.flatMap(({ id, config, generationConfig, tokenizer }): Seed[] => {
    const { facts } = readModelConfig(config, generationConfig);
    return facts === undefined ? [] : [{ target: toTarget(anyRequest(), facts, tokenizer), models: [id] }];
  });
  const predicates = catalog.contracts.flatMap((contract) => [
    contract.frontMatter.applies_when,
    // A realization is for no more than its contract.
    ...contract.realizations.map(({ applies }) => ({ ...contract.frontMatter.applies_when, ...applies })),
  ]);
  const varied = known.filter(({ target }, index) => index === firstOfFamily(known, target));
  const seeds = [...known, ...varied.flatMap((seed) => varyFeatures(seed, catalog.families, predicates))];
  const unlisted = catalog.families.flatMap(({ family }): Seed[] => {
    const { target } = describeFamily(family);
    const isThere = [...seeds.map((seed) => seed.target), ...asked].some(
      (other) => other['model.family'] === family,
    );
    return target === undefined || isThere ? [] : [{ target, models: [] }];
  });
  const there = [...seeds, ...asked.map((target): Seed => ({ target, models: [] })), ...unlisted];
  const merged = mergeEqual([
    ...there,
    ...predicates.flatMap((predicate) => reachPredicate(predicate, there)),
  ]);
  return nameRows(merged, catalog.families);
}

function firstOfFamily(seeds: readonly Seed[], target: Target): number {
  return seeds.findIndex((seed) => seed.target['model.family'] === target['model.family']);
}

function varyFeatures(
  { target }: Seed,
  families: readonly FamilyFacts[],
  predicates: readonly Predicate[],
): Seed[] {
  const family = families.find((facts) => facts.family === target['model.family']);
  return targetKeys.flatMap((key) => {
    const isDecided = variedBy[key]?.some((name) => Object.hasOwn(family?.configKeys ?? {}, name)) === true;
    if (!isDecided) return [];
    return valuesOf(key, predicates, target)
      .filter((value) => value !== target[key])
      .map((value) => ({ target: { ...target, [key]: value }, models: [] }));
  });
}

/** Every value that knowledge tells apart; of a feature that is there or not, both. */
function valuesOf(key: TargetKey, predicates: readonly Predicate[], target: Target): readonly TargetValue[] {
  if (typeof target[key] === 'boolean') return [false, true];
  return [...new Set(predicates.flatMap((predicate) => allowedValues(predicate, key) ?? []))];
}

/** Nothing where a row satisfies it already, or where it wants no value of a model. */
function reachPredicate(predicate: Predicate, seeds: readonly Seed[]): Seed[] {
  const wanted = Object.fromEntries(
    modelKeys.flatMap((key) => (predicate[key] === undefined ? [] : [[key, predicate[key]]])),
  ) as Predicate;
  const distances = seeds.map(({ target }) => countMismatches(wanted, target));
  const nearest = seeds[distances.indexOf(Math.min(...distances))];
  if (nearest === undefined || firstMismatch(wanted, nearest.target) === undefined) return [];
  const changed = modelKeys.flatMap((key) => {
    const allowed = allowedValues(wanted, key);
    return allowed === undefined || allowed.includes(nearest.target[key]) ? [] : [[key, allowed[0]]];
  });
  return [{ target: { ...nearest.target, ...Object.fromEntries(changed) }, models: [] }];
}

function countMismatches(predicate: Predicate, target: Target): number {
  return modelKeys.filter((key) => allowedValues(predicate, key)?.includes(target[key]) === false).length;
}

function mergeEqual(seeds: readonly Seed[]): Seed[] {
  const byTarget = new Map<string, Seed>();
  for (const seed of seeds) {
    const key = JSON.stringify(modelKeys.map((name) => seed.target[name]));
    const same = byTarget.get(key);
    byTarget.set(key, { target: seed.target, models: [...(same?.models ?? []), ...seed.models] });
  }
  return [...byTarget.values()];
}

/** Rows of one family stand together, in the order of the model files. */
function nameRows(seeds: readonly Seed[], families: readonly FamilyFacts[]): TargetRow[] {
  // What all rows of a family share, its name says.
  const varying = (family: string) => {
    const own = seeds.filter(({ target }) => target['model.family'] === family);
    return modelKeys.filter((key) => new Set(own.map(({ target }) => target[key])).size > 1);
  };
  const order = (seed: Seed) => families.findIndex(({ family }) => family === seed.target['model.family']);
  return [...seeds]
    .map((seed, index) => ({ seed, index }))
    .sort((a, b) => order(a.seed) - order(b.seed) || a.index - b.index)
    .map(({ seed: { target, models } }) => {
      const family = String(target['model.family']);
      const features = describeFeatures(target, varying(family));
      return { name: `${family}: ${features.join(', ')}`, family, features, models, target };
    });
}

function describeFeatures(target: Target, varying: readonly TargetKey[]): string[] {
  const rest = varying.filter((key) => !spoken.has(key));
  return [
    target['model.tied_head'] === true ? 'tied head' : 'own head',
    `RoPE ${target['rope.scaling'] === 'none' ? 'plain' : target['rope.scaling']}`,
    ...(target['model.qkv_bias'] === true ? ['QKV bias'] : []),
    ...(target['model.qk_norm'] === true ? ['QK norm'] : []),
    ...(target['model.sliding_window'] === true ? ['window'] : []),
    ...rest.map((key) => `${key.replace(/^\w+\./, '')} ${target[key]}`),
    describeTokenizer(target),
  ];
}

const spoken: ReadonlySet<TargetKey> = new Set([
  'model.family',
  'model.tied_head',
  'rope.scaling',
  'model.qkv_bias',
  'model.qk_norm',
  'model.sliding_window',
  'tokenizer.model',
  'tokenizer.pre_tokenizer',
  'tokenizer.normalizer',
]);

function describeTokenizer(target: Target): string {
  const model = target['tokenizer.model'];
  if (model === 'none') return 'token ids';
  const parts = [target['tokenizer.pre_tokenizer'], target['tokenizer.normalizer']].filter(
    (part) => part !== 'none',
  );
  return `tokenizer ${parts.length === 0 ? String(model).replace('_bpe', '') : parts.join('+')}`;
}
