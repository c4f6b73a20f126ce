import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import type { AppContext } from '../../src/jobs/app-context.ts';
import { reconcileWorkflow } from '../../src/jobs/reconcile-workflow.ts';
import type { WorkflowRun } from '../../src/local/github/actions-data.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';

describe('a workflow run that does not end by itself', () => {
  let world: BotWorld;
  let app: RunningApp;
  let context: AppContext;
  /** What the clock says to the one who reconciles. */
  let time = new Date();

  beforeAll(async () => {
    world = await startBotWorld();
    app = await startApp(world.settings, log);
    context = {
      ...{ store: app.store, app: app.client, queues: { sendStep: async () => {} }, log },
      catalog: await openKnowledge(world.settings.cacheFolder),
      ...{ home: world.settings.home, publicUrl: null, githubUrl: world.github.url },
      labelsFor: () => undefined,
      observeStep: () => {},
      now: () => time,
    };
  });

  afterAll(async () => {
    await app.stop(5);
    await world.stop();
  });

  async function dispatched(name: string): Promise<RunRecord> {
    const body = await engineRequest([[/^name: tiny-qwen3/m, `name: ${name}`]]);
    const { body: issue } = await world.ada('POST', `${world.repository}/issues`, { title: name, body });
    return eventually('the dispatch', async () => {
      const [run] = await app.store.listRuns({
        ...{ sourceKind: 'issue', sourceNumber: issue.number, limit: 1 },
      });
      return run?.state.waitingFor === 'workflow' ? run : undefined;
    });
  }

  const workflowOf = (run: RunRecord): WorkflowRun =>
    world.seed.repository.workflowRuns.get(run.state.github!.workflowRunId!)!;

  /** Looks at the run so many minutes after `start`. */
  async function reconcileAt(run: RunRecord, start: Date, minutes: number): Promise<RunRecord> {
    time = new Date(start.getTime() + minutes * 60_000);
    await reconcileWorkflow(context, run);
    return (await app.store.findRun(run.id))!;
  }

  async function failed(run: RunRecord): Promise<RunRecord> {
    return eventually('the end', async () => {
      const current = await app.store.findRun(run.id);
      return current !== undefined && !isOpen(current.state) ? current : undefined;
    });
  }

  it('is given up once its job takes longer than it may, however long it was queued before', async () => {
    const run = await dispatched('hanging');
    const [attempt] = await app.store.readAttempts(run.id);
    const runner = world.startRunner('hangs');
    const workflow = workflowOf(run);
    const taken = await eventually('the runner to take it', async () => workflow.job.startedAt ?? undefined);
    workflow.job.startedAt = new Date(taken.getTime() + 20 * 3_600_000);
    expect((await reconcileAt(run, workflow.job.startedAt, 194)).state.waitingFor).toBe('workflow');
    workflow.job.startedAt = taken;
    expect((await reconcileAt(run, attempt!.startedAt, 194)).state.waitingFor).toBe('workflow');
    const { state } = await reconcileAt(run, taken, 196);
    expect(state.failure).toMatchObject({
      code: 'RUNNER_FAILED',
      message: expect.stringMatching(
        /^The workflow run has been in progress for 196 minutes .* may take 180: its runner was lost/,
      ),
      next: expect.stringContaining('/metainfer retry'),
    });
    await eventually('the cancellation', async () =>
      workflow.job.conclusion === 'cancelled' ? true : undefined,
    );
    await runner.stop();
    const end = await failed(run);
    expect([end.state.status, end.state.failure?.code]).toEqual(['failed', 'RUNNER_FAILED']);
    expect((await app.store.readAttempts(run.id)).map(({ outcome }) => outcome)).toEqual(['no result']);
  });

  it('is given up after a day in the queue', async () => {
    const run = await dispatched('unserved');
    const [attempt] = await app.store.readAttempts(run.id);
    expect((await reconcileAt(run, attempt!.startedAt, 1439)).state.waitingFor).toBe('workflow');
    const { state } = await reconcileAt(run, attempt!.startedAt, 1441);
    expect(state.failure?.message).toMatch(/^No runner took the workflow run in 24 hours/);
    expect(workflowOf(run).job.conclusion).toBe('cancelled');
    expect((await failed(run)).state.failure?.code).toBe('RUNNER_FAILED');
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
