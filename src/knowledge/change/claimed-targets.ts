import type { Catalog } from '../../model/catalog.ts';
import type { Contract, Realization } from '../../model/contract.ts';
import {
  allowedValues,
  type Predicate,
  type Target,
  type TargetKey,
  type TargetValue,
} from '../../model/target.ts';
import { describeFamily } from '../describe-family.ts';
import { checkTree } from '../load-catalog.ts';
import type { Tree } from '../read-tree.ts';
import { knownValues } from './check-claims.ts';
import { type Axis, coverPairs } from './cover-pairs.ts';
import { changedRealizations, readSide, shareFiles } from './knowledge-side.ts';

/** Small models whose dimensions differ in the ways that matter; all are multiples of 4, none of a vector. */
export const claimedShapes = {
  /** num_heads · head_dim is larger than hidden_size, groups of 3. */
  grouped: {
    hidden_size: 76,
    num_heads: 6,
    num_kv_heads: 2,
    head_dim: 20,
    intermediate_size: 100,
    vocab_size: 211,
    num_layers: 3,
  },
  /** Every head has keys of its own; num_heads · head_dim is hidden_size. */
  ungrouped: {
    hidden_size: 64,
    num_heads: 4,
    num_kv_heads: 4,
    head_dim: 16,
    intermediate_size: 72,
    vocab_size: 101,
    num_layers: 2,
  },
  /** One key head for all, as wide as real ones. */
  shared: {
    hidden_size: 140,
    num_heads: 3,
    num_kv_heads: 1,
    head_dim: 64,
    intermediate_size: 36,
    vocab_size: 331,
    num_layers: 2,
  },
} as const;

/** Contexts on both sides of the blocks that caches and windows are made of. */
export const claimedContexts = [33, 256, 515] as const;

/** An engine that must be built and gated before a realization may claim what it claims. */
export interface ClaimedTarget {
  readonly target: Target;
  readonly shape: keyof typeof claimedShapes;
  readonly maxContext: (typeof claimedContexts)[number];
}

const tokenizerKeys = ['tokenizer.model', 'tokenizer.pre_tokenizer', 'tokenizer.normalizer'] as const;

type Facts = Readonly<Partial<Record<TargetKey, TargetValue>>>;

/** One value of an axis: the target keys that it sets, and what else it says. */
interface Choice {
  readonly facts: Facts;
  readonly shape?: keyof typeof claimedShapes;
  readonly maxContext?: (typeof claimedContexts)[number];
  /** With a sliding window or without: what models of a family can be. */
  readonly windows?: readonly boolean[];
}

/**
 * The targets to try of all that a realization claims: every pair of values of two axes (family features, number
 * format, hardware, shapes, context) that can occur together occurs in one of them. Deterministic; empty where the
 * claim holds nowhere.
 */
export function claimedTargets(
  realization: Pick<Realization, 'applies'>,
  contract: Pick<Contract, 'frontMatter'>,
  catalog: Catalog,
): ClaimedTarget[] {
  const claim = [realization.applies, contract.frontMatter.applies_when];
  const axes = listAxes(realization, contract, catalog).map((choices) =>
    choices.filter(({ facts }) => claim.every((predicate) => mayHold(predicate, facts))),
  );
  return coverPairs(axes, areCompatible(catalog)).map((row) => ({
    target: Object.assign({}, defaults, ...row.map(({ facts }) => facts)) as Target,
    shape: row.find(({ shape }) => shape !== undefined)?.shape ?? 'grouped',
    maxContext: row.find(({ maxContext }) => maxContext !== undefined)?.maxContext ?? claimedContexts[0],
  }));
}

/** What an engine is where neither the realization nor its contract says a word about it. */
const defaults: Facts = {
  'tokenizer.model': 'none',
  'tokenizer.pre_tokenizer': 'none',
  'tokenizer.normalizer': 'none',
};

function mayHold(predicate: Predicate, facts: Facts): boolean {
  return (Object.entries(facts) as [TargetKey, TargetValue][]).every(
    ([key, value]) => allowedValues(predicate, key)?.includes(value) ?? true,
  );
}

function listAxes(
  { applies }: Pick<Realization, 'applies'>,
  { frontMatter }: Pick<Contract, 'frontMatter'>,
  catalog: Catalog,
): Axis<Choice>[] {
  const asked = (key: TargetKey) =>
    allowedValues(applies, key) ?? allowedValues(frontMatter.applies_when, key);
  const single = (key: TargetKey, usual: TargetValue): Axis<Choice> =>
    (asked(key) ?? [usual]).map((value) => ({ facts: { [key]: value } }));
  const ofTokenizer = tokenizerKeys.some((key) => asked(key) !== undefined);
  return [
    catalog.families.map(({ family }) => {
      const { facts, windows } = describeFamily(family);
      return { facts, windows };
    }),
    hardware(catalog),
    (knownValues('numerics.weights', { applies }, catalog) ?? []).map((value) => ({
      facts: { 'numerics.weights': value },
    })),
    ropeKinds(catalog).map((value) => ({ facts: { 'rope.scaling': value } })),
    [false, true].map((value) => ({ facts: { 'model.tied_head': value } })),
    [false, true].map((value) => ({ facts: { 'model.sliding_window': value } })),
    ...(ofTokenizer ? [tokenizers(catalog)] : []),
    (Object.keys(claimedShapes) as (keyof typeof claimedShapes)[]).map((shape) => ({ facts: {}, shape })),
    claimedContexts.map((maxContext) => ({ facts: {}, maxContext })),
    single('numerics.kv_cache', 'f32'),
    single('numerics.activations', 'f32'),
    single('parallelism.tensor', 1),
    single('serving.interface', 'cli'),
    single('serving.kv', 'contiguous'),
  ];
}

function hardware({ platforms }: Catalog): Axis<Choice> {
  return platforms.flatMap(({ id, archs }) =>
    Object.keys(archs).map((arch) => ({ facts: { 'hardware.platform': id, 'hardware.arch': arch } })),
  );
}

/** Every kind that some contract says it covers. */
function ropeKinds({ contracts }: Catalog): TargetValue[] {
  const named = contracts.flatMap(
    ({ frontMatter }) => allowedValues(frontMatter.applies_when, 'rope.scaling') ?? [],
  );
  return named.length === 0 ? ['none'] : [...new Set(named)];
}

/** The combinations that published models have, and none at all. */
function tokenizers({ models }: Catalog): Axis<Choice> {
  const all = [
    ...models.map(({ tokenizer }) => [tokenizer.model, tokenizer.preTokenizer, tokenizer.normalizer]),
    ['none', 'none', 'none'],
  ];
  const distinct = [...new Map(all.map((values) => [values.join('/'), values])).values()];
  return distinct.map((values) => ({
    facts: Object.fromEntries(tokenizerKeys.map((key, index) => [key, values[index]!])),
  }));
}

function areCompatible(catalog: Catalog): (a: Choice, b: Choice) => boolean {
  const fits = (a: Choice, b: Choice): boolean => {
    const slides = b.facts['model.sliding_window'];
    if (a.windows !== undefined && slides !== undefined && !a.windows.includes(slides === true)) return false;
    const platform = a.facts['hardware.platform'];
    const weights = b.facts['numerics.weights'];
    if (platform === undefined || weights === undefined) return true;
    const one = { applies: { 'hardware.platform': platform } };
    return knownValues('numerics.weights', one, catalog)?.includes(weights) ?? true;
  };
  return (a, b) => fits(a, b) && fits(b, a);
}

/** Per realization that is new or changed, how many targets must be built; none where knowledge has a fault. */
export function countClaimedTargets(
  before: Tree,
  after: Tree,
): { readonly file: string; readonly targets: number }[] {
  const shared = shareFiles(before, after);
  const { catalog } = checkTree(shared);
  if (catalog === undefined) return [];
  return changedRealizations({ before: readSide(before), after: readSide(shared) }).map(
    ({ loaded, realization, file }) => ({
      file,
      targets: claimedTargets(realization, loaded.contract, catalog).length,
    }),
  );
}
