import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { countEngineLines, hashEngineTree, hashWeights } from '../../src/verification/engine-tree.ts';
import { writePerturbedCopy } from '../../src/verification/perturbed-copy.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'metainfer-tree-'));
  writeFileSync(join(folder, 'a.cpp'), 'int a;\nint b;\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the tree hash ignores report and README and sees every other byte and name', () => {
  const before = hashEngineTree(folder);
  writeFileSync(join(folder, 'report.json'), '{}');
  writeFileSync(join(folder, 'README.md'), '# x');
  expect(hashEngineTree(folder)).toBe(before);
  writeFileSync(join(folder, 'b.h'), '');
  const withHeader = hashEngineTree(folder);
  writeFileSync(join(folder, 'a.cpp'), 'int a;\nint c;\n');
  expect(new Set([before, withHeader, hashEngineTree(folder)]).size).toBe(3);
  expect(countEngineLines(folder)).toBe(2);
});

test('the hash of weights changes with one tensor', () => {
  const checkpoint = 'test/fixtures/checkpoints/qwen2';
  const original = hashWeights(checkpoint);
  expect(original.method).toBe('full');
  writePerturbedCopy(checkpoint, 'model.norm.weight', [0], join(folder, 'copy'));
  const changed = hashWeights(join(folder, 'copy'));
  expect(changed.bytes).toBe(original.bytes);
  expect(changed.sha256).not.toBe(original.sha256);
});
