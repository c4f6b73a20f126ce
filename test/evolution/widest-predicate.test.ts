import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWithin, showPredicate, widestPredicate } from '../../src/evolution/widest-predicate.ts';
import {
  allowedValues,
  firstMismatch,
  type Predicate,
  type Target,
  targetKeys,
} from '../../src/model/target.ts';

const born: Target = {
  'model.family': 'qwen3',
  'model.norm': 'rms',
  'model.attention': 'gqa',
  'model.mlp': 'gated_silu',
  'model.shared_expert': false,
  'model.layer_norms': 'before',
  'model.embedding': 'plain',
  'model.logit_cap': false,
  'model.qkv_bias': false,
  'model.qk_norm': true,
  'model.tied_head': true,
  'model.sliding_window': false,
  'rope.scaling': 'none',
  'tokenizer.model': 'none',
  'tokenizer.pre_tokenizer': 'none',
  'tokenizer.normalizer': 'none',
  'hardware.platform': 'cpu-x86_64',
  'hardware.arch': 'avx2',
  'numerics.weights': 'bf16',
  'numerics.kv_cache': 'f32',
  'numerics.activations': 'f32',
  'parallelism.tensor': 1,
  'serving.interface': 'cli',
  'serving.kv': 'contiguous',
};

const varied = fc.record({
  'model.family': fc.constantFrom('qwen3', 'llama', 'mistral'),
  'model.tied_head': fc.boolean(),
  'rope.scaling': fc.constantFrom('none', 'yarn', 'linear'),
  'numerics.weights': fc.constantFrom('bf16', 'f32'),
});
const confirmedTargets = fc
  .array(varied, { maxLength: 12 })
  .map((others): Target[] => [born, ...others.map((other) => ({ ...born, ...other }))]);

/** Pairs of values of two keys that a predicate allows and no confirmed target has; closed keys count with both truth values. */
function unconfirmedPairs(predicate: Predicate, confirmed: readonly Target[]): string[] {
  const valuesOf = (key: (typeof targetKeys)[number]) =>
    allowedValues(predicate, key) ?? [...new Set(confirmed.map((target) => target[key]))];
  return targetKeys.flatMap((a, index) =>
    targetKeys
      .slice(index + 1)
      .flatMap((b) =>
        valuesOf(a).flatMap((x) =>
          valuesOf(b).flatMap((y) =>
            confirmed.some((target) => target[a] === x && target[b] === y) ? [] : [`${a}=${x} ${b}=${y}`],
          ),
        ),
      ),
  );
}

describe('the widest predicate', () => {
  it('of one target allows that target alone', () => {
    const predicate = widestPredicate({}, [born]);
    expect(firstMismatch(predicate, born)).toBeUndefined();
    for (const key of targetKeys) expect(allowedValues(predicate, key)).toEqual([born[key]]);
  });

  it('leaves out what the contract itself decides, and a truth value of which both were confirmed', () => {
    const untied = { ...born, 'model.tied_head': false };
    const predicate = widestPredicate({ 'model.mlp': 'gated_silu' }, [born, untied]);
    expect(Object.keys(predicate)).toEqual(
      targetKeys.filter((key) => key !== 'model.mlp' && key !== 'model.tied_head'),
    );
  });

  it('takes two values of two keys only where all four pairs were confirmed', () => {
    const yarn = { ...born, 'rope.scaling': 'yarn' };
    const f32 = { ...born, 'numerics.weights': 'f32' };
    const three = widestPredicate({}, [born, yarn, f32]);
    const widened = ['rope.scaling', 'numerics.weights'].filter(
      (key) => allowedValues(three, key as 'rope.scaling')!.length > 1,
    );
    expect(widened).toHaveLength(1);
    const four = widestPredicate({}, [born, yarn, f32, { ...yarn, 'numerics.weights': 'f32' }]);
    expect([four['rope.scaling'], four['numerics.weights']]).toEqual([
      ['none', 'yarn'],
      ['bf16', 'f32'],
    ]);
  });

  it('takes the choice that covers most targets', () => {
    const scalings = ['yarn', 'linear', 'llama3'].map((scaling) => ({ ...born, 'rope.scaling': scaling }));
    const predicate = widestPredicate({}, [born, { ...born, 'numerics.weights': 'f32' }, ...scalings]);
    expect(predicate['rope.scaling']).toEqual(['none', 'yarn', 'linear', 'llama3']);
    expect(predicate['numerics.weights']).toBe('bf16');
  });

  it('is never wider than the contract', () => {
    const yarn = { ...born, 'rope.scaling': 'yarn' };
    const predicate = widestPredicate({ 'rope.scaling': ['none', 'llama3'] }, [born, yarn]);
    expect(predicate['rope.scaling']).toBe('none');
  });

  it('allows no pair that was not confirmed, and cannot be widened by any value that was seen', () => {
    fc.assert(
      fc.property(confirmedTargets, (confirmed) => {
        const predicate = widestPredicate({}, confirmed);
        expect(unconfirmedPairs(predicate, confirmed)).toEqual([]);
        expect(firstMismatch(predicate, born)).toBeUndefined();
        for (const key of targetKeys) {
          const own = allowedValues(predicate, key);
          if (own === undefined) continue;
          const others = [...new Set(confirmed.map((target) => target[key]))].filter(
            (value) => !own.includes(value),
          );
          for (const value of others) {
            const wider = { ...predicate, [key]: [...own, value] };
            expect(unconfirmedPairs(wider, confirmed)).not.toEqual([]);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is written as the loader reads it', () => {
    expect(showPredicate({ 'rope.scaling': ['none', 'yarn'], 'model.tied_head': true })).toBe(
      'model.tied_head=true, rope.scaling=none|yarn',
    );
    expect(showPredicate({})).toBe('any');
  });

  it('lies within another one where that allows all of it', () => {
    const narrow = { 'numerics.weights': 'bf16', 'rope.scaling': 'none' } as const;
    expect(isWithin(narrow, { 'numerics.weights': ['bf16', 'f32'] })).toBe(true);
    expect(isWithin({ 'numerics.weights': 'bf16' }, narrow)).toBe(false);
    expect(isWithin({}, {})).toBe(true);
  });
});
