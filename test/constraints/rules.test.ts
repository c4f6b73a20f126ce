import { describe, expect, it } from 'vitest';
import { checkConstraintsAgainstFacts } from '../../src/constraints/facts-rules.ts';
import { checkFieldRules } from '../../src/constraints/field-rules.ts';
import { computeArithmetic } from '../../src/model/arithmetic.ts';
import type { Constraints } from '../../src/model/constraints.ts';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import { read, validText } from './read-case.ts';

const valid = read(validText);
const facts = valid.facts as ModelFacts;
const base = valid.constraints as Constraints;

const context = { origin: 'command-line', catalogPlatforms: [] } as const;

/** Codes of the problems after changing some sections of the valid file. */
function fieldCodes(changes: { [K in keyof Constraints]?: Partial<Constraints[K]> }): string[] {
  return checkFieldRules(merge(changes), valid.locate, context).map(({ code }) => code);
}

function factCodes(
  changes: { [K in keyof Constraints]?: Partial<Constraints[K]> },
  changedFacts: Partial<ModelFacts> = {},
): string[] {
  return checkConstraintsAgainstFacts(merge(changes), { ...facts, ...changedFacts }, valid.locate).map(
    ({ code }) => code,
  );
}

function merge(changes: { [K in keyof Constraints]?: Partial<Constraints[K]> }): Constraints {
  const sections = Object.entries(changes).map(([key, change]) => [
    key,
    { ...(base[key as keyof Constraints] as object), ...(change as object) },
  ]);
  return { ...base, ...Object.fromEntries(sections) };
}

describe('rules between fields', () => {
  it('lets a workload fill the context to the last token', () => {
    expect(fieldCodes({ workload: { prompt_tokens: 1000, output_tokens: 24 } })).toEqual([]);
    expect(fieldCodes({ workload: { prompt_tokens: 1000, output_tokens: 25 } })).toEqual([
      'workload-too-long',
    ]);
  });

  it('lets concurrency reach the batch and no further', () => {
    expect(fieldCodes({ workload: { concurrency: 3 }, serving: { max_batch: 3 } })).toEqual([]);
    expect(fieldCodes({ workload: { concurrency: 4 }, serving: { max_batch: 3 } })).toEqual([
      'concurrency-over-batch',
    ]);
  });

  it('takes a block size with a paged cache only', () => {
    expect(fieldCodes({ serving: { kv: 'paged', block_size: 16 } })).toEqual([]);
    expect(fieldCodes({ serving: { block_size: 16 } })).toEqual(['block-size-unused']);
  });

  it('wants weights that fit the form of the model', () => {
    const checkpoint = { ...base, weights: { source: 'checkpoint' } } as const;
    const codes = (constraints: Parameters<typeof checkFieldRules>[0]) =>
      checkFieldRules(constraints, valid.locate, context).map(({ code }) => code);
    expect(codes(checkpoint)).toEqual([]);
    expect(codes({ ...base, model: { path: 'x' } })).toEqual(['weights-and-path']);
    expect(codes({ ...checkpoint, model: { config: {} } })).toEqual(['checkpoint-without-id']);
    expect(codes({ ...base, model: { config: {} } })).toEqual([]);
    expect(codes({ ...base, weights: { source: 'synthetic' } })).toEqual(['missing-key']);
    expect(codes({ ...base, weights: { source: 'checkpoint', seed: 7 } as never })).toEqual(['seed-unused']);
  });

  it('wants a device for each rank where devices are named', () => {
    expect(fieldCodes({ parallelism: { tensor: 4 }, hardware: { devices: 4 } })).toEqual([]);
    expect(fieldCodes({ parallelism: { tensor: 4 }, hardware: { devices: 2 } })).toEqual([
      'ranks-over-devices',
    ]);
  });

  it.each([
    ['ttft_ms_p50', 100, 'ttft_ms_p99', 100, []],
    ['ttft_ms_p50', 100, 'ttft_ms_p99', 99, ['goals-contradict']],
    ['ttft_ms_p90', 100, 'ttft_ms_p50', 99, []],
    ['ttft_ms_p50', 100, 'tpot_ms_p99', 9, []],
    ['ttft_ms_mean', 100, 'ttft_ms_p99', 9, []],
  ])('compares %s <= %i with %s <= %i', (first, firstValue, second, secondValue, codes) => {
    const goal = (metric: string, value: number) =>
      ({ metric, value, comparison: '<=', unit: 'ms', written: '' }) as const;
    expect(fieldCodes({ goals: { require: [goal(first, firstValue), goal(second, secondValue)] } })).toEqual(
      codes,
    );
  });
});

describe('rules between a file and its model', () => {
  it('lets the context reach the positions of the model, and yarn beyond them', () => {
    const memory = { hardware: { memory: 2 ** 50 } };
    const context = (max_context: number, changed: Partial<ModelFacts> = {}) =>
      factCodes({ ...memory, serving: { max_context } }, changed);
    expect(context(40_960)).toEqual([]);
    expect(context(40_961)).toEqual(['context-too-long']);
    const yarn = {
      kind: 'yarn',
      factor: 4,
      betaFast: 32,
      betaSlow: 1,
      originalMaxPositions: 32_768,
      attentionFactor: 1,
      truncate: true,
    } as const;
    expect(context(131_072, { ropeScaling: yarn })).toEqual([]);
    expect(context(131_073, { ropeScaling: yarn })).toEqual(['context-too-long']);
  });

  it('accepts exactly as much memory as the arithmetic needs', () => {
    const { memoryBytes } = computeArithmetic(facts, base);
    expect(factCodes({ hardware: { memory: memoryBytes } })).toEqual([]);
    expect(factCodes({ hardware: { memory: memoryBytes - 1 } })).toEqual(['memory-too-small']);
    expect(factCodes({ hardware: { memory: memoryBytes / 2, devices: 2 } })).toEqual([]);
  });

  it('wants ranks that divide query and KV heads alike', () => {
    expect(factCodes({ parallelism: { tensor: 8 } })).toEqual([]);
    expect(factCodes({ parallelism: { tensor: 16 } })).toEqual(['heads-not-divisible']);
  });

  it.each([
    ['hiddenSize', 1040],
    ['intermediateSize', 3090],
    ['headDim', 127],
  ])('wants rows of %s in whole blocks for quantised weights alone', (field, value) => {
    expect(factCodes({ numerics: { weights: 'q8_0' } })).toEqual([]);
    expect(factCodes({ numerics: { weights: 'q4_0' } }, { [field]: value })).toEqual(['quant-row']);
    expect(factCodes({ numerics: { weights: 'bf16' } }, { [field]: value })).toEqual([]);
  });
});
