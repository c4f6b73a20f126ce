import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';

interface Comment {
  readonly body: string;
  readonly user: { readonly login: string };
  readonly created_at: string;
  readonly updated_at: string;
}

describe('a constraint file that is not right', () => {
  let world: BotWorld;
  let app: RunningApp;

  beforeAll(async () => {
    world = await startBotWorld();
    app = await startApp(world.settings, log);
  });

  afterAll(async () => {
    await app.stop(5);
    await world.stop();
  });

  async function commentsOf(issue: number): Promise<readonly Comment[]> {
    const { body } = await world.ada('GET', `${world.repository}/issues/${issue}/comments`);
    return body;
  }

  /** Every delivery so far was handled, and no step is left to do. */
  async function settled(): Promise<void> {
    await world.github.settled();
    await eventually('quiet', async () => {
      const { deliveries, runs } = await app.store.counts();
      return (deliveries.queued ?? 0) === 0 && (runs.running ?? 0) === 0 ? true : undefined;
    });
  }

  it('gets one comment with every problem by line; the same again gets nothing; corrected, it proceeds', async () => {
    const { ada, repository } = world;
    const bad = await engineRequest([
      [/threads: 2/, 'threads: two'],
      [/weights: bf16/, 'weights: bf61'],
    ]);
    const { body: issue } = await ada('POST', `${repository}/issues`, { title: 'tiny', body: bad });
    const [comment] = await eventually('the comment', async () => {
      const comments = await commentsOf(issue.number);
      return comments.length > 0 ? comments : undefined;
    });
    // Lines of the issue body, which begins with a heading and a fence.
    const lines = bad.split('\r\n');
    for (const wrong of ['threads: two', 'weights: bf61']) {
      const line = lines.findIndex((text) => text.includes(wrong)) + 1;
      expect(comment!.body).toMatch(new RegExp(`\\b${line}\\b`));
      expect(comment!.body).toContain(wrong);
    }
    expect(comment!.body).toContain('bf16');
    await settled();

    await ada('PATCH', `${repository}/issues/${issue.number}`, { body: bad.replaceAll('\r\n', '\n') });
    await settled();
    expect(await commentsOf(issue.number)).toEqual([comment]);
    expect(await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue.number })).toHaveLength(1);

    await ada('PATCH', `${repository}/issues/${issue.number}`, { body: await engineRequest() });
    const run = await eventually('a run that waits for its runner', async () => {
      const [newest] = await app.store.listRuns({
        sourceKind: 'issue',
        sourceNumber: issue.number,
        limit: 1,
      });
      return newest?.state.waitingFor === 'workflow' ? newest : undefined;
    });
    expect(run.number).toBe(2);
    const [edited, ...others] = await commentsOf(issue.number);
    expect(others).toEqual([]);
    expect(edited!.body).not.toContain('bf61');
    expect(edited!.body).toContain('tiny-qwen3');
  });

  it('that is one of several gets told so, once', async () => {
    const { ada, repository } = world;
    const one = await engineRequest();
    const { body: issue } = await ada('POST', `${repository}/issues`, {
      title: 'two',
      body: `${one}\r\n${one}`,
    });
    await settled();
    const comments = await commentsOf(issue.number);
    expect(comments.map(({ body }) => body)).toEqual([expect.stringContaining('2 constraint files')]);
  });

  it('for what knowledge does not cover says so and labels the issue', async () => {
    const { ada, repository } = world;
    const body = await engineRequest([[/weights: bf16/, 'weights: q4_0']]);
    const { body: issue } = await ada('POST', `${repository}/issues`, { title: 'q4', body });
    await settled();
    const [comment, ...others] = await commentsOf(issue.number);
    expect(others).toEqual([]);
    expect(comment!.body).toContain('q4_0');
    const { body: now } = await ada('GET', `${repository}/issues/${issue.number}`);
    expect(now.labels.map(({ name }: { name: string }) => name)).toEqual(['metainfer:needs-knowledge']);
  });

  it('never shows a stack trace, and every answer was as GitHub publishes it', async () => {
    const comments = (await Promise.all([1, 2, 3].map(commentsOf))).flat();
    expect(comments.length).toBeGreaterThan(2);
    for (const { body } of comments) expect(body).not.toMatch(/\bat .*\.[jt]s:\d+|node:internal/);
    expect(world.watch.problems).toEqual([]);
  });
});
