import { describe, expect, test } from 'vitest';
import { unrepeatedEvidence } from '../../../src/knowledge/change/unrepeated-evidence.ts';
import { formatProblem } from '../../../src/model/problem.ts';
import { edit, errorsOf, page, present, problemsOf, withEdits, withEvidence } from './change-world.ts';
import { goodChanges } from './good-changes.ts';

describe('a good change is not rejected', () => {
  test.each(goodChanges)('%s', (_, edits) => {
    expect(errorsOf(edits).map(formatProblem)).toEqual([]);
  });
});

test('knowledge as it stands has not even a warning', () => {
  expect(problemsOf({}).map(formatProblem)).toEqual([]);
});

test('every problem has a file and a line', () => {
  const edits = { ...edit(page('norm-rms'), ['fm-24]', 'fm-99]']), 'contracts/norm-rms/shim.cpp': null };
  for (const { file, line } of problemsOf(edits)) {
    expect(file).toMatch(/^(?:contracts|failure-modes|models|platforms|reports|sabotage)/);
    expect(line).toBeGreaterThanOrEqual(1);
  }
});

test('a change of a contract names the evidence that it makes stale, as a warning', () => {
  const edits = edit(
    page('norm-rms'),
    ['version: 1.0.0', 'version: 1.0.1'],
    ['Nothing is subtracted', 'No mean is subtracted'],
  );
  expect(problemsOf(edits).map(formatProblem)).toEqual([
    expect.stringMatching(
      /^contracts\/norm-rms\/evidence\.yaml:\d+:\d+ .*warning: the (?:run|\d+ runs) of cpu-x86_64\.cpp (?:was|were) judged by another text/,
    ),
  ]);
});

test('a reference whose code changes under an unchanged contract is pointed at', () => {
  const edits = edit('contracts/norm-rms/reference.ts', ['Math.sqrt', 'Math.cbrt']);
  expect(problemsOf(edits).map(({ code, severity }) => [code, severity])).toEqual([
    ['reference-changed', 'warning'],
  ]);
});

test('evidence that only this change claims is unrepeated, and what stood before is not', () => {
  expect(unrepeatedEvidence(present, present)).toEqual([]);
  expect(unrepeatedEvidence(present, withEdits(withEvidence()))).toEqual([
    {
      ...{ contract: 'norm.rms', realization: 'cpu-x86_64.cpp', file: 'contracts/norm-rms/evidence.yaml' },
      report: expect.stringMatching(/^2971cd6a631d4ed6[0-9a-f]{48}$/),
      repeat: expect.stringMatching(/^npx metainfer verify engines\/tiny-qwen3 --seed \d+$/),
      line: expect.any(Number),
    },
  ]);
});
