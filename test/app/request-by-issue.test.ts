import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';

describe('an engine asked for by an issue', () => {
  let world: BotWorld;
  let app: RunningApp;

  beforeAll(async () => {
    world = await startBotWorld();
    app = await startApp(world.settings, log);
    world.startRunner('passes');
  });

  afterAll(async () => {
    await app.stop(5);
    await world.stop();
  });

  async function endOf(issue: number) {
    return eventually(`the end of the run of #${issue}`, async () => {
      const [run] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
      return run !== undefined && !isOpen(run.state) ? run : undefined;
    });
  }

  it('ends as a reviewed pull request that is ready, with a green check', async () => {
    const { ada, repository } = world;
    const body = await engineRequest();
    const { body: issue } = await ada('POST', `${repository}/issues`, { title: 'tiny', body });
    const run = await endOf(issue.number);
    expect(run.state.failure).toBeUndefined();
    expect(run.state.status).toBe('passed');
    const { pullNumber } = run.state.github!;

    const { body: pull } = await ada('GET', `${repository}/pulls/${pullNumber}`);
    expect([pull.draft, pull.head.ref, pull.base.ref]).toEqual([false, 'metainfer/1-tiny-qwen3', 'main']);
    expect(pull.body).toContain('Closes #1');
    expect(pull.requested_reviewers.map(({ login }: { login: string }) => login)).toEqual(['grace']);

    const { body: files } = await ada('GET', `${repository}/pulls/${pullNumber}/files?per_page=100`);
    const paths = files.map(({ filename }: { filename: string }) => filename);
    expect(paths.every((path: string) => path.startsWith('engines/tiny-qwen3/'))).toBe(true);
    expect(paths).toContain('engines/tiny-qwen3/report.json');

    const { body: checks } = await ada('GET', `${repository}/commits/${pull.head.sha}/check-runs`);
    expect(
      checks.check_runs.map((check: { name: string; conclusion: string }) => [check.name, check.conclusion]),
    ).toEqual([['metainfer', 'success']]);

    const { body: reviews } = await ada('GET', `${repository}/pulls/${pullNumber}/reviews`);
    expect(reviews.map(({ state }: { state: string }) => state)).toEqual(['COMMENTED']);

    const { body: comments } = await ada('GET', `${repository}/issues/${issue.number}/comments`);
    expect(comments).toHaveLength(2);
    expect(comments[0].body).toContain('passed');
    expect(comments[1].body).toContain(`#${pullNumber}`);
  });

  it('costs at most 20 writes, 6 of them notifying, and 60 reads', () => {
    const { writes, notifying, reads } = app.client.requestCounts;
    console.log(`requests of one successful run: ${writes} writes, ${notifying} notifying, ${reads} reads`);
    expect(writes).toBeLessThanOrEqual(20);
    expect(notifying).toBeLessThanOrEqual(6);
    expect(reads).toBeLessThanOrEqual(60);
    expect(writes).toBeGreaterThan(10);
  });

  it('is measured again by a command, on top of its first report', async () => {
    const { ada, repository } = world;
    const [first] = await app.store.listRuns({ limit: 1 });
    const { pullNumber } = first!.state.github!;
    const body = '/metainfer bench baseline=none';
    await ada('POST', `${repository}/issues/${pullNumber}/comments`, { body });
    const run = await eventually('the second attempt', async () => {
      const current = await app.store.findRun(first!.id);
      return current !== undefined && current.state.attempt === 2 && !isOpen(current.state)
        ? current
        : undefined;
    });
    expect([run.state.status, run.state.baseline]).toEqual(['passed', 'none']);
    const { body: pull } = await ada('GET', `${repository}/pulls/${pullNumber}`);
    expect([pull.draft, pull.commits]).toEqual([false, 3]);
    const { body: workflows } = await ada('GET', `${repository}/actions/runs`);
    expect(workflows.total_count).toBe(2);
  });

  it('closes the issue when its pull request is merged', async () => {
    const { ada, repository } = world;
    const [run] = await app.store.listRuns({ limit: 1 });
    const { pullNumber } = run!.state.github!;
    expect(await ada('PUT', `${repository}/pulls/${pullNumber}/merge`, {})).toMatchObject({ status: 200 });
    const { body: closed } = await ada('GET', `${repository}/issues/1`);
    expect(closed.state).toBe('closed');
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    const { counts, problems } = world.watch;
    console.log(`held against GitHub's schemas: ${counts.responses} answers, ${counts.webhooks} webhooks`);
    expect(problems).toEqual([]);
    expect(counts.responses).toBeGreaterThan(20);
    expect(counts.webhooks).toBeGreaterThan(10);
  });
});
