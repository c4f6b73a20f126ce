import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SabotagedWorld, startSabotagedWorld, verdictSeconds } from '../support/sabotaged-world.ts';

const line = 'const float sum = sum_lanes(sums[r][p]);';

describe('a realization that does not compile, judged by the real harness', () => {
  let sabotaged: SabotagedWorld;

  beforeAll(async () => {
    sabotaged = await startSabotagedWorld({
      realization: 'linear-dense/realizations/cpu-x86_64-bf16.cpp',
      edits: [{ find: line, replace: `/* ${line} */` }],
    });
  });
  afterAll(() => sabotaged.stop());

  it(
    "has its compiler's words at the line that the compiler means",
    async () => {
      const { world, judge } = sabotaged;
      const run = await judge([[/^name: tiny-qwen3/m, 'name: broken']]);
      expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'VERDICT_FAILED']);
      const { pullNumber, engineCommit, checkRunId } = run.state.github!;
      const path = 'engines/broken/linear_dense.cpp';
      const file = await world.ada('GET', `${world.repository}/contents/${path}?ref=${engineCommit}`);
      const lines = Buffer.from(file.body.content, 'base64').toString('utf8').split('\n');
      const used = 1 + lines.findIndex((text) => /\bsum\b/.test(text) && !text.includes(line));
      expect(lines[used - 2]).toContain(line);

      const { body: comments } = await world.ada('GET', `${world.repository}/pulls/${pullNumber}/comments`);
      const [comment] = comments;
      expect([comment.path, comment.line]).toEqual([path, used]);
      expect(comment.body).toMatch(/.sum. was not declared in this scope/);
      expect(comment.body).toContain('`linear.dense`');
      const { body: check } = await world.ada('GET', `${world.repository}/check-runs/${checkRunId}`);
      expect(check.conclusion).toBe('failure');
      expect(world.watch.problems).toEqual([]);
    },
    verdictSeconds * 1000,
  );
});
