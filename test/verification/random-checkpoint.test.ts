import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { expectedTensors } from '../../src/model/expected-tensors.ts';
import { inspectCheckpoint } from '../../src/verification/inspect-checkpoint.ts';
import { openOracle } from '../../src/verification/oracle.ts';
import { writePerturbedCopy } from '../../src/verification/perturbed-copy.ts';
import { indexCheckpoint } from '../../src/verification/safetensors.ts';
import { decodeWith, readWeights } from '../fixtures/deviant-decoder.ts';
import { recipeNames, writeRandomCheckpoint } from '../fixtures/random-checkpoint.ts';
import { maxDifference } from '../fixtures/reference-checkpoint.ts';

const scratch = mkdtempSync(join(tmpdir(), 'metainfer-random-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const ids = Array.from({ length: 60 }, (_, index) => (index * 37 + 5) % 211);

test.each(recipeNames)(
  '%s is sound, its logits are of a useful size, and both compositions agree',
  async (name) => {
    const folder = join(scratch, name);
    const facts = await writeRandomCheckpoint(folder, name);
    expect(inspectCheckpoint(folder)).toEqual({ facts, problems: [] });
    const oracle = openOracle(folder, { facts, weightFormat: 'f32' });
    const { logits } = await oracle.run(ids);
    await oracle.close();
    expect(maxDifference(logits, decodeWith(ids, facts, readWeights(folder), {}))).toBeLessThan(1e-11);
    const values = logits.flatMap((row) => [...row]);
    const spread = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
    expect(spread).toBeGreaterThan(1);
    expect(spread).toBeLessThan(4);
  },
);

test('the same seed gives the same bytes, another seed or name of a tensor does not', async () => {
  const read = (name: string) => readFileSync(join(scratch, name, 'model.safetensors'));
  await writeRandomCheckpoint(join(scratch, 'first'), 'llama-tied', 11);
  await writeRandomCheckpoint(join(scratch, 'second'), 'llama-tied', 11);
  await writeRandomCheckpoint(join(scratch, 'third'), 'llama-tied', 12);
  expect(read('first').equals(read('second'))).toBe(true);
  expect(read('first').equals(read('third'))).toBe(false);
  const weights = readWeights(join(scratch, 'first'));
  expect(weights('model.layers.0.self_attn.k_proj.weight')).not.toEqual(
    weights('model.layers.1.self_attn.k_proj.weight'),
  );
});

test('a sharded checkpoint holds the same tensors in three files', async () => {
  const folder = join(scratch, 'shards');
  const facts = await writeRandomCheckpoint(folder, 'qwen3-sharded');
  const index = indexCheckpoint(folder);
  expect(index.files).toHaveLength(3);
  expect([...index.tensors.keys()].sort()).toEqual(
    expectedTensors(facts)
      .map((tensor) => tensor.name)
      .sort(),
  );
});

test('a checkpoint rounded to f16 or bf16 first gives other logits than the wider one', async () => {
  const folder = join(scratch, 'rounded');
  const facts = await writeRandomCheckpoint(folder, 'qwen2-f32');
  const runs = (['f32', 'f16', 'bf16'] as const).map(async (weightFormat) => {
    const oracle = openOracle(folder, { facts, weightFormat });
    const { logits } = await oracle.run(ids);
    await oracle.close();
    return logits;
  });
  const [wide, half, narrow] = await Promise.all(runs);
  const difference = maxDifference(wide!, narrow!);
  expect(difference).toBeGreaterThan(1e-3);
  expect(difference).toBeLessThan(1);
  // Three more bits of fraction.
  expect(maxDifference(wide!, half!)).toBeGreaterThan(difference / 32);
  expect(maxDifference(wide!, half!)).toBeLessThan(difference / 2);
});

test('perturbing any tensor of a qwen2 checkpoint moves the logits, and the original stays as it was', async () => {
  const folder = join(scratch, 'to-perturb');
  const facts = await writeRandomCheckpoint(folder, 'qwen2-window');
  const before = readFileSync(join(folder, 'model.safetensors'));
  const sound = decodeWith(ids, facts, readWeights(folder), {});
  for (const { name } of expectedTensors(facts)) {
    const target = join(scratch, 'perturbed');
    writePerturbedCopy(folder, name, ids, target);
    const moved = maxDifference(sound, decodeWith(ids, facts, readWeights(target), {}));
    rmSync(target, { recursive: true });
    expect(moved, name).toBeGreaterThan(1e-2);
  }
  expect(readFileSync(join(folder, 'model.safetensors')).equals(before)).toBe(true);
});
