import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decodeWith, readWeights } from '../fixtures/deviant-decoder.ts';
import { deviationOf } from '../fixtures/deviations.ts';
import { maxDifference, readReferenceCheckpoint } from '../fixtures/reference-checkpoint.ts';

/** Rows of the README's table: what is done wrong, and how far the logits move for it. */
function readTable(folder: string): { row: string; moved: string }[] {
  const text = readFileSync(join(folder, 'README.md'), 'utf8').split('## Sensitivities')[1] ?? '';
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ -]*(deviation|-)/.test(line));
  return lines.map((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    return { row: cells[1]!, moved: cells[2]! };
  });
}

/** Bound that the logits gate puts on a float32 engine. */
const bound = 1e-3;

describe.each([
  ['llama-default', 7],
  ['llama3-scaled', 10],
  ['qwen2', 10],
  ['qwen3', 10],
] as const)('wrong readings of %s', (name, count) => {
  const { folder, facts, ids } = readReferenceCheckpoint(name);
  const weights = readWeights(folder);
  const sound = decodeWith(ids, facts, weights, {});
  const rows = readTable(folder);

  test('the table of the README was found', () => {
    expect(rows).toHaveLength(count);
  });

  test.each(rows)('$row moves the logits by $moved', ({ row, moved }) => {
    const deviation = deviationOf(row, facts);
    expect(deviation).toBeDefined();
    const changed = decodeWith(ids, deviation?.facts?.(facts) ?? facts, weights, deviation?.parts ?? {});
    const difference = maxDifference(sound, changed);
    expect(Math.abs(difference - Number(moved)) / Number(moved)).toBeLessThan(0.03);
    expect(difference).toBeGreaterThan(bound);
  });
});
