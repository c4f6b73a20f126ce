import { describe, expect, test } from 'vitest';
import { claimedTargets } from '../../../src/knowledge/change/claimed-targets.ts';
import { coverPairs } from '../../../src/knowledge/change/cover-pairs.ts';
import { describeFamily } from '../../../src/knowledge/describe-family.ts';
import { checkTree } from '../../../src/knowledge/load-catalog.ts';
import { allowedValues, firstMismatch, type TargetKey } from '../../../src/model/target.ts';
import { present } from './change-world.ts';

const catalog = checkTree(present).catalog!;
const realizations = catalog.contracts.flatMap((contract) =>
  contract.realizations.map((realization) => ({ contract, realization })),
);

describe('rows that cover all pairs', () => {
  test('hold every pair of values of every two axes, in fewer rows than all combinations', () => {
    const axes = [
      ['a', 'b', 'c', 'd'],
      ['e', 'f', 'g'],
      ['h', 'i'],
      ['j', 'k', 'l'],
      ['m', 'n'],
    ];
    const rows = coverPairs(axes);
    for (const [left, axis] of axes.entries())
      for (const [right, other] of axes.entries())
        if (left < right)
          for (const a of axis)
            for (const b of other) expect(rows.some((row) => row[left] === a && row[right] === b)).toBe(true);
    expect(rows.length).toBeGreaterThanOrEqual(12);
    expect(rows.length).toBeLessThan(20);
  });

  test('hold no pair that cannot be, and every other one', () => {
    const axes = [
      [1, 2, 3],
      [4, 5],
      [6, 7],
    ];
    const isCompatible = (a: number, b: number) => a + b !== 7;
    const rows = coverPairs(axes, isCompatible);
    for (const row of rows)
      for (const a of row) for (const b of row) if (a !== b) expect(isCompatible(a, b)).toBe(true);
    for (const [a, b] of [
      [1, 4],
      [1, 5],
      [1, 7],
      [2, 4],
      [3, 5],
      [3, 7],
      [4, 6],
      [5, 7],
    ])
      expect(rows.some((row) => row.includes(a!) && row.includes(b!))).toBe(true);
  });

  test('are none where an axis has no value', () => {
    expect(coverPairs([['a'], []])).toEqual([]);
  });
});

describe('the targets that a realization claims', () => {
  test('are those for which it and its contract apply, few enough to build, the same each time', () => {
    for (const { contract, realization } of realizations) {
      const targets = claimedTargets(realization, contract, catalog);
      expect(targets.length).toBeGreaterThan(0);
      // Every family with every tokenizer or scaling is the least that can be.
      expect(targets.length).toBeLessThanOrEqual(6 * catalog.families.length);
      for (const { target } of targets)
        expect(
          [realization.applies, contract.frontMatter.applies_when].map((one) => firstMismatch(one, target)),
        ).toEqual([undefined, undefined]);
      expect(claimedTargets(realization, contract, catalog)).toEqual(targets);
    }
  });

  test('join each family with each kind of scaling, format, shape and context that it can have', () => {
    const norm = realizations.find(
      ({ realization, contract }) => contract.folder === 'norm-rms' && realization.file === 'cpu-x86_64.cpp',
    )!;
    const targets = claimedTargets(norm.realization, norm.contract, catalog);
    const kinds = catalog.contracts.flatMap(
      ({ frontMatter }) => allowedValues(frontMatter.applies_when, 'rope.scaling') ?? [],
    );
    expect(kinds).toContain('yarn');
    const named = catalog.families.filter(({ features }) => features.norm?.value === 'rms');
    expect(new Set(targets.map(({ target }) => target['model.family']))).toEqual(
      new Set(named.map(({ family }) => family)),
    );
    for (const { family } of named) {
      const own = targets.filter(({ target }) => target['model.family'] === family);
      expect(new Set(own.map(({ target }) => target['rope.scaling']))).toEqual(new Set(kinds));
      expect(new Set(own.map(({ target }) => target['numerics.weights']))).toEqual(new Set(['f32', 'bf16']));
      expect(new Set(own.map(({ shape }) => shape)).size).toBe(3);
      expect(new Set(own.map(({ maxContext }) => maxContext)).size).toBe(3);
    }
    expect(
      targets.some(
        ({ target }) => target['model.family'] === 'llama' && target['model.sliding_window'] === true,
      ),
    ).toBe(false);
  });

  test('have the features of a family, whether a model of it is known or not', () => {
    const known = catalog.families.flatMap(({ family, features }) =>
      Object.entries(features).map(([name, { value }]) => [family, `model.${name}`, value] as const),
    );
    for (const [family, key, value] of known) {
      const said = describeFamily(family).facts[key as TargetKey];
      if (said !== undefined) expect([family, key, said]).toEqual([family, key, value]);
    }
    expect(describeFamily('gemma2').facts).toMatchObject({
      'model.embedding': 'scaled',
      'model.layer_norms': 'sandwich',
    });
    expect(describeFamily('llama').windows).toEqual([false]);
    expect(describeFamily('qwen2_moe').windows).toEqual([false, true]);
  });

  test('of a realization for one family are of that family', () => {
    const norm = realizations.find(({ contract }) => contract.folder === 'norm-rms')!;
    const targets = claimedTargets(
      { applies: { 'model.family': 'qwen3', 'hardware.platform': 'cpu-x86_64' } },
      norm.contract,
      catalog,
    );
    expect(
      new Set(targets.map(({ target }) => [target['model.family'], target['model.qk_norm']].join())),
    ).toEqual(new Set(['qwen3,true']));
  });
});
