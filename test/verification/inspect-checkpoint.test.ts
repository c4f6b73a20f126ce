import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatProblem } from '../../src/model/problem.ts';
import { inspectCheckpoint } from '../../src/verification/inspect-checkpoint.ts';
import { brokenCheckpoints, writeBrokenCheckpoint } from '../fixtures/broken-checkpoints.ts';
import { checkpointNames, readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

const scratch = mkdtempSync(join(tmpdir(), 'metainfer-broken-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test.each(brokenCheckpoints.map((broken, index) => ({ ...broken, index })))(
  '$name is refused by name',
  async (broken) => {
    const folder = join(scratch, String(broken.index));
    await writeBrokenCheckpoint(folder, broken);
    const errors = inspectCheckpoint(folder).problems.filter((problem) => problem.severity === 'error');
    const text = errors.map(formatProblem).join('\n');
    expect(errors.length).toBeGreaterThan(0);
    for (const mention of broken.mentions) expect(text).toContain(mention);
    expect(text).not.toMatch(/\n\s+at /);
  },
);

test.each(checkpointNames)('%s is sound', (name) => {
  const { folder, facts } = readReferenceCheckpoint(name);
  expect(inspectCheckpoint(folder)).toEqual({ facts, problems: [] });
});

test('a folder that does not exist is refused, not thrown about', () => {
  const { problems } = inspectCheckpoint(join(scratch, 'nowhere'));
  expect(problems.map((problem) => problem.file)).toEqual(['config.json', 'model.safetensors']);
});

test('there are more than enough broken checkpoints, each under its own name', () => {
  expect(brokenCheckpoints.length).toBeGreaterThanOrEqual(24);
  expect(new Set(brokenCheckpoints.map((broken) => broken.name + broken.recipe)).size).toBe(
    brokenCheckpoints.length,
  );
});
