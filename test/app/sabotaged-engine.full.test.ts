import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSabotageFile } from '../../src/local/sabotage-campaign.ts';
import { type SabotagedWorld, startSabotagedWorld, verdictSeconds } from '../support/sabotaged-world.ts';

describe('a realization with a wrong stride, judged by the real harness', () => {
  let sabotaged: SabotagedWorld;

  beforeAll(async () => {
    const { mutations } = await readSabotageFile();
    const { edits } = mutations.find(({ id }) => id === 'gqa-map-by-remainder')!;
    sabotaged = await startSabotagedWorld({
      realization: 'attention-core/realizations/cpu-x86_64.cpp',
      edits,
    });
  });
  afterAll(() => sabotaged.stop());

  it(
    'is named first, at the definition of the function that is wrong',
    async () => {
      const { world, judge } = sabotaged;
      const run = await judge([[/^name: tiny-qwen3/m, 'name: crooked']]);
      expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'VERDICT_FAILED']);
      expect(run.state.verification?.guilty[0]).toBe('attention.core');
      const { pullNumber, engineCommit } = run.state.github!;
      const path = 'engines/crooked/attention_core.cpp';
      const file = await world.ada('GET', `${world.repository}/contents/${path}?ref=${engineCommit}`);
      const lines = Buffer.from(file.body.content, 'base64').toString('utf8').split('\n');

      const { body: comments } = await world.ada('GET', `${world.repository}/pulls/${pullNumber}/comments`);
      const comment = comments.find((candidate: { path: string }) => candidate.path === path);
      expect(comment.line).toBe(1 + lines.findIndex((text) => text.startsWith('void attention(')));
      expect(comment.body).toContain('**Gate `unit` failed**');
      const issue = `${world.repository}/issues/${run.source.number}/comments`;
      const { body: told } = await world.ada('GET', issue);
      expect(told.at(-1).body).toContain('The findings point at `attention.core`');
      expect(world.watch.problems).toEqual([]);
    },
    verdictSeconds * 1000,
  );
});
