import type { ContractFrontMatter } from '../model/contract.ts';
import {
  allowedValues,
  type Predicate,
  type Target,
  type TargetKey,
  type TargetValue,
  targetKeys,
} from '../model/target.ts';

interface Choice {
  readonly key: TargetKey;
  readonly value: TargetValue;
}

/** Beyond this many values that others saw, the search would take long; the rest waits for a later lesson. */
const mostChoices = 30;

/**
 * The widest conjunction of `key = one of these values` for which every pair of values of two keys was confirmed on some
 * target, and which holds for the first target. A key is left out where nothing else can come: the contract itself
 * allows no other value, or it is a truth value and both were confirmed. Never wider than the contract.
 */
export function widestPredicate(
  appliesWhen: ContractFrontMatter['applies_when'],
  confirmed: readonly Target[],
): Predicate {
  const [born] = confirmed;
  if (born === undefined) return {};
  const isPair = pairTest(confirmed);
  const others = targetKeys
    .flatMap((key) => [...new Set(confirmed.map((target) => target[key]))].map((value) => ({ key, value })))
    .filter(({ key, value }) => value !== born[key])
    .filter(({ key, value }) => allowedValues(appliesWhen, key)?.includes(value) !== false)
    .filter((choice) =>
      targetKeys.every((key) => key === choice.key || isPair(choice, { key, value: born[key] })),
    )
    .slice(0, mostChoices);
  const added = widestClique(others, isPair, born);
  const entries = targetKeys.flatMap((key) => {
    const values = [born[key], ...added.filter((choice) => choice.key === key).map(({ value }) => value)];
    const isOpen = !isClosed(values, allowedValues(appliesWhen, key));
    return isOpen ? [[key, values.length === 1 ? values[0]! : values] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Whether these are all the values that can come. */
function isClosed(values: readonly TargetValue[], allowed: readonly TargetValue[] | undefined): boolean {
  if (allowed !== undefined) return allowed.every((value) => values.includes(value));
  return values.includes(true) && values.includes(false);
}

function pairTest(confirmed: readonly Target[]): (a: Choice, b: Choice) => boolean {
  const name = (choice: Choice): string => `${choice.key}=${JSON.stringify(choice.value)}`;
  const pairs = new Set(
    confirmed.flatMap((target) =>
      targetKeys.flatMap((key) =>
        targetKeys.map((other) =>
          [name({ key, value: target[key] }), name({ key: other, value: target[other] })].join(' '),
        ),
      ),
    ),
  );
  return (a, b) => a.key === b.key || pairs.has(`${name(a)} ${name(b)}`);
}

/** Of the sets in which all fit each other, the one that covers most targets; of equal ones the first. */
function widestClique(
  choices: readonly Choice[],
  fits: (a: Choice, b: Choice) => boolean,
  born: Target,
): readonly Choice[] {
  let best: readonly Choice[] = [];
  const coverage = (set: readonly Choice[]): number =>
    targetKeys.reduce((product, key) => product * (1 + set.filter((choice) => choice.key === key).length), 1);
  const grow = (set: readonly Choice[], open: readonly Choice[]): void => {
    if (coverage(set) > coverage(best)) best = set;
    // Even with all that is left it would not get wider.
    if (open.length === 0 || coverage([...set, ...open]) <= coverage(best)) return;
    const [first, ...rest] = open as readonly [Choice, ...Choice[]];
    grow(
      [...set, first],
      rest.filter((other) => fits(first, other)),
    );
    grow(set, rest);
  };
  grow(
    [],
    choices.filter(({ key, value }) => value !== born[key]),
  );
  return best;
}

/** As the opening comment of a realization has it. */
export function showPredicate(predicate: Predicate): string {
  const parts = targetKeys.flatMap((key) => {
    const values = allowedValues(predicate, key);
    return values === undefined ? [] : [`${key}=${values.join('|')}`];
  });
  return parts.length === 0 ? 'any' : parts.join(', ');
}

/** Whether everything that the narrow one allows, the wide one allows too. */
export function isWithin(narrow: Predicate, wide: Predicate): boolean {
  return targetKeys.every((key) => {
    const allowed = allowedValues(wide, key);
    return (
      allowed === undefined || allowedValues(narrow, key)?.every((value) => allowed.includes(value)) === true
    );
  });
}
