import { describe, expect, test } from 'vitest';
import { claimedTargets } from '../../../src/knowledge/change/claimed-targets.ts';
import { coverPairs } from '../../../src/knowledge/change/cover-pairs.ts';
import { checkTree } from '../../../src/knowledge/load-catalog.ts';
import { firstMismatch } from '../../../src/model/target.ts';
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
      expect(targets.length).toBeLessThanOrEqual(40);
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
    for (const { family } of catalog.families) {
      const own = targets.filter(({ target }) => target['model.family'] === family);
      expect(new Set(own.map(({ target }) => target['rope.scaling']))).toEqual(
        new Set(['none', 'linear', 'llama3', 'yarn']),
      );
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
