import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelFacts } from '../../src/model/model-facts.ts';
import { openOracle } from '../../src/verification/oracle.ts';
import { maxDifference, readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

type Change = (facts: ModelFacts) => ModelFacts;

const withExperts = (change: Partial<NonNullable<ModelFacts['experts']>>): Change => {
  return (facts) => ({ ...facts, experts: { ...facts.experts!, ...change } });
};
const withGemma = (change: Partial<NonNullable<ModelFacts['gemma']>>): Change => {
  return (facts) => ({ ...facts, gemma: { ...facts.gemma!, ...change } });
};
const withWindows = (windowOf: (layer: number) => number): Change => {
  return (facts) => ({ ...facts, layerWindows: facts.layerWindows.map((_, layer) => windowOf(layer)) });
};

/** By the first words of a row of the README: facts that a wrong reading of config.json would give. */
const wrongReadings: Readonly<Record<string, readonly (readonly [string, Change])[]>> = {
  'qwen3-moe': [
    ['top-k weights not renormalised', withExperts({ isNormalised: false })],
    ['top-2 instead of top-3', withExperts({ perToken: 2 })],
    ['top-4 instead of top-3', withExperts({ perToken: 4 })],
    ['rope_theta 10000', (facts) => ({ ...facts, ropeTheta: 10_000 })],
    ['rms_norm_eps ten times', (facts) => ({ ...facts, rmsNormEps: 10 * facts.rmsNormEps })],
  ],
  gemma2: [
    ['attention soft-cap 50 dropped', withGemma({ attentionCap: 1e9 })],
    ['final soft-cap 30 dropped', withGemma({ finalCap: 1e9 })],
    ['attention scale head_dim^-0.5', withGemma({ attentionScale: 1 / Math.sqrt(32) })],
    ['window ignored', withWindows(() => 0)],
    ['window 33 keys', withWindows((layer) => (layer % 2 === 0 ? 33 : 0))],
    ['window 31 keys', withWindows((layer) => (layer % 2 === 0 ? 31 : 0))],
    ['odd layers slide', withWindows((layer) => (layer % 2 === 1 ? 32 : 0))],
    ['every layer slides', withWindows(() => 32)],
    ['embeddings not scaled', withGemma({ embeddingScale: 1 })],
    ['embedding scale sqrt(96)', withGemma({ embeddingScale: Math.sqrt(96) })],
    ['rms_norm_eps ten times', (facts) => ({ ...facts, rmsNormEps: 10 * facts.rmsNormEps })],
  ],
};

/** How far the logits move, as the README's table of sensitivities prints it. */
function printed(folder: string, row: string): number {
  const table = readFileSync(join(folder, 'README.md'), 'utf8').split('## Sensitivities')[1] ?? '';
  const line = table.split('\n').find((text) => text.startsWith(`| ${row}`));
  return Number(line?.split('|')[2]);
}

describe.each(['qwen3-moe', 'gemma2'] as const)('wrong readings of %s', (name) => {
  const { folder, facts, ids } = readReferenceCheckpoint(name);
  const logitsOf = async (changed: ModelFacts) => {
    const oracle = openOracle(folder, { facts: changed, weightFormat: 'f32' });
    const { logits } = await oracle.run(ids);
    await oracle.close();
    return logits;
  };
  let sound: readonly Float64Array[] = [];
  beforeAll(async () => {
    sound = await logitsOf(facts);
  });
  afterAll(() => {
    sound = [];
  });

  test.each(wrongReadings[name]!)('%s moves the logits as far as its README says', async (row, change) => {
    const difference = maxDifference(sound, await logitsOf(change(facts)));
    expect(Math.abs(difference / printed(folder, row) - 1)).toBeLessThan(0.03);
    expect(difference).toBeGreaterThan(1e-3);
  });
});
