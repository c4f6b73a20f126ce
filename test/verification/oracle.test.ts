import { expect, test } from 'vitest';
import { AppError } from '../../src/model/errors.ts';
import { openOracle } from '../../src/verification/oracle.ts';
import { checkpointNames, maxDifference, readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

test.each(checkpointNames)('the oracle agrees with the float64 reference of %s', async (name) => {
  const { folder, facts, ids, logits, probes, probeRows } = readReferenceCheckpoint(name);
  const oracle = openOracle(folder, { facts, weightFormat: 'f32' });
  const run = await oracle.run(ids);
  await oracle.close();
  expect(run.stages).toHaveLength(2 * facts.numLayers + 2);
  expect(run.stages.every((stage) => stage.length === ids.length * facts.hiddenSize)).toBe(true);
  expect(logits).toHaveLength(ids.length);
  expect(maxDifference(logits, run.logits)).toBeLessThanOrEqual(2e-6);
  expect(probes).toHaveLength(6);
  const picked = probeRows.map((row) => run.logits[row]!);
  expect(maxDifference(probes, picked)).toBeLessThanOrEqual(1e-10);
});

test('threads give the same bits as one, and a second run the same as the first', async () => {
  const { folder, facts, ids } = readReferenceCheckpoint('llama3-scaled');
  // 40 positions of this model are shared among the threads, 20 are not.
  const shareAbove = 20_000_000;
  const oracle = openOracle(folder, { facts, weightFormat: 'bf16', threads: 3, shareAbove });
  const long = await oracle.run(ids.slice(0, 40));
  const again = await oracle.run(ids.slice(0, 40));
  const short = await oracle.run(ids.slice(0, 20));
  await oracle.close();
  expect(maxDifference(long.logits, again.logits)).toBe(0);
  expect(maxDifference(long.logits.slice(0, 20), short.logits)).toBe(0);
});

test('a token outside the vocabulary is refused', async () => {
  const { folder, facts } = readReferenceCheckpoint('qwen3');
  const oracle = openOracle(folder, { facts, weightFormat: 'f32' });
  await expect(oracle.run([1, facts.vocabSize])).rejects.toThrow(`token id ${facts.vocabSize}`);
  await oracle.close();
});

test('facts that do not fit the checkpoint are refused with the names of the tensors', () => {
  const { folder, facts } = readReferenceCheckpoint('qwen3');
  const other = { ...facts, tiedHead: false, qkNorm: false };
  const open = () => openOracle(folder, { facts: other, weightFormat: 'f32' });
  expect(open).toThrow(AppError);
  expect(open).toThrow(/lm_head\.weight is missing[\s\S]*q_norm\.weight is not part of this model/);
});
