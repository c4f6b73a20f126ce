import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Report } from '../../src/model/report.ts';
import { CommandLine } from '../fixtures/command-line.ts';
import { writeConstraintFile } from '../fixtures/constraint-file.ts';
import { recipeNames, recipes, writeRandomCheckpoint } from '../fixtures/random-checkpoint.ts';

const cli = new CommandLine();
afterAll(() => cli.close());
const timeout = 1_200_000;

/** A checkpoint in f32 gets an f32 engine; f16 has no format of its own yet and is widened to f32 exactly. */
const cases = recipeNames.map((recipe) => {
  const isBf16 = !('dtype' in recipes[recipe]);
  return { recipe, weights: isBf16 ? ('bf16' as const) : ('f32' as const) };
});

describe.each([...cases, { recipe: 'llama-untied', weights: 'f32' }] as const)(
  'an engine for $recipe with $weights weights',
  ({ recipe, weights }) => {
    it('passes every gate, with logits within 1e-3 and a mean KLD of at most 1e-6', { timeout }, async () => {
      const name = `${recipe}-${weights}`;
      const checkpoint = join(cli.folder, `${name}-checkpoint`);
      await writeRandomCheckpoint(checkpoint, recipe);
      const file = writeConstraintFile(join(cli.folder, `${name}.yaml`), {
        ...{ name, model: { path: checkpoint }, weights },
        // Past the first 128 positions, where yarn's own context ends, and past every window.
        maxContext: 320,
      });
      const folder = join(cli.folder, name);
      expect((await cli.run(['generate', file, '-o', folder])).code).toBe(0);
      const { code, stdout } = await cli.run(['verify', folder, '--json']);
      const report = JSON.parse(stdout) as Report;
      const findings = report.gates.flatMap((gate) =>
        gate.findings.map((one) => `${gate.gate}: ${one.message}`),
      );
      expect([...findings, ...report.goals.filter((goal) => goal.status !== 'met')]).toEqual([]);
      expect([code, report.verdict]).toEqual([0, 'passed']);
      const measured = report.gates.find((gate) => gate.gate === 'logits')?.measurements;
      expect(measured?.positions).toBeGreaterThanOrEqual(256);
      expect(measured?.max_abs).toBeLessThanOrEqual(1e-3);
      expect(measured?.mean_kld).toBeLessThanOrEqual(1e-6);
    });
  },
);
