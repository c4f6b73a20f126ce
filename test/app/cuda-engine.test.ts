import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import type { AppContext } from '../../src/jobs/app-context.ts';
import { reconcileWorkflow } from '../../src/jobs/reconcile-workflow.ts';
import { readDemoConstraints, writeIssueBody } from '../../src/local/demo/demo-request.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { openKnowledge } from '../../src/preparation/knowledge-base.ts';
import { type BotWorld, eventually, log, startBotWorld } from '../support/bot-world.ts';

const labels = ['self-hosted', 'linux', 'x64', 'gpu', 'metainfer-cuda-sm-90'];

describe('a CUDA engine is queued for the GPU label, and judged without a device', () => {
  let world: BotWorld;
  let app: RunningApp;
  let issue: number;
  let run: RunRecord;

  beforeAll(async () => {
    world = await startBotWorld();
    app = await startApp(world.settings, log);
    // A runner for the CPU is there all the time, and none of this is for it.
    world.startRunner('passes');
    const body = writeIssueBody(await readDemoConstraints('tiny-qwen3-cuda'));
    const request = { title: 'tiny on a GPU', body };
    ({
      body: { number: issue },
    } = await world.ada('POST', `${world.repository}/issues`, request));
    run = await moved('the dispatch', ({ state }) => state.waitingFor === 'workflow' || !isOpen(state));
  });

  afterAll(async () => {
    await app.stop(5);
    await world.stop();
  });

  function moved(what: string, isThere: (run: RunRecord) => boolean): Promise<RunRecord> {
    return eventually(what, async () => {
      const [found] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
      return found !== undefined && isThere(found) ? found : undefined;
    });
  }

  async function get(path: string) {
    const { body } = await world.ada('GET', `${world.repository}/${path}`);
    return body;
  }

  const commentsOf = async (number: number): Promise<string[]> =>
    (await get(`issues/${number}/comments`)).map(({ body }: { body: string }) => body);
  const pullNumber = (): number => run.state.github!.pullNumber;

  /** What the app looks at from time to time, so many minutes after the dispatch. */
  async function reconcileAfter(minutes: number): Promise<void> {
    const [attempt] = [...(await app.store.readAttempts(run.id))].reverse();
    const context: AppContext = {
      ...{ store: app.store, app: app.client, queues: { sendStep: async () => {} }, log },
      catalog: await openKnowledge(world.settings.cacheFolder),
      ...{ home: world.settings.home, publicUrl: null, githubUrl: world.github.url },
      ...{ labelsFor: () => labels, observeStep: () => {} },
      now: () => new Date(attempt!.startedAt.getTime() + minutes * 60_000),
    };
    await reconcileWorkflow(context, run);
  }

  it('waits for its labels, which the plan and the draft say that nobody serves', async () => {
    expect([run.state.failure, run.state.waitingFor]).toEqual([undefined, 'workflow']);
    const { jobs } = await get(`actions/runs/${run.state.github!.workflowRunId}/jobs`);
    expect([jobs[0].status, jobs[0].labels]).toEqual(['queued', labels]);
    const [plan] = await commentsOf(issue);
    const [status] = await commentsOf(pullNumber());
    for (const text of [plan, status]) {
      expect(text).toContain('needs a self-hosted runner with the labels');
      expect(text).toContain('`gpu` and `metainfer-cuda-sm-90`');
    }
  });

  it('is told to be waiting once nobody took the job for minutes, and goes on waiting', async () => {
    await reconcileAfter(1);
    expect(await commentsOf(pullNumber())).toHaveLength(1);
    await reconcileAfter(5);
    await reconcileAfter(9);
    const [, unserved, ...more] = await commentsOf(pullNumber());
    expect(more).toEqual([]);
    expect(unserved).toContain('**No runner has taken the job for 5 minutes.**');
    expect(unserved).toContain('`metainfer-cuda-sm-90`');
    run = (await app.store.findRun(run.id))!;
    expect(run.state.waitingFor).toBe('workflow');
  });

  it('is judged by a runner without a GPU as soon as one has the labels: neither passed nor failed', async () => {
    const runner = world.startRunner('has-no-device', { name: 'compile-box', labels });
    run = await moved('the judgement', ({ state }) => !isOpen(state));
    await runner.stop();
    expect([run.state.status, run.state.failure]).toEqual(['unverified', undefined]);
    expect((await app.store.readAttempts(run.id)).map(({ outcome }) => outcome)).toEqual([
      'not run on a device',
    ]);

    const { checkRunId, engineCommit } = run.state.github!;
    const check = await get(`check-runs/${checkRunId}`);
    expect([check.conclusion, check.output.title, check.head_sha]).toEqual([
      ...['neutral', 'Not run on a device', engineCommit],
    ]);
    const pull = await get(`pulls/${pullNumber()}`);
    expect([pull.draft, pull.head.sha, pull.requested_reviewers]).toEqual([true, engineCommit, []]);
    expect((await get(`issues/${issue}`)).state).toBe('open');
  });

  it('has a review that says what was and was not checked', async () => {
    const [review, ...more] = await get(`pulls/${pullNumber()}/reviews`);
    expect(more).toEqual([]);
    expect(review.state).toBe('COMMENTED');
    expect(review.body).toContain('The runner `compile-box` has no GPU');
    expect(review.body).toContain('| `build` | ✅ passed | host |');
    expect(review.body).toContain('| `unit` | ✅ passed | host emulation: arithmetic only |');
    expect(review.body).toMatch(/\| `bench` \| ⚪ not run: .* \| not run \|/);
    expect(review.body).toContain('⚠️ not measured: not run on a device');
  });

  it('is called so where it was asked for and on its page', async () => {
    const [status, end, ...more] = await commentsOf(issue);
    expect(more).toEqual([]);
    expect(status).toMatch(/^### ⚪ tiny-qwen3-cuda: not run on a device/m);
    expect(end).toContain('⚪ **tiny-qwen3-cuda**: not run on a device');
    expect(end).toContain('comment `/metainfer retry`');
    const page = await (await fetch(`${app.url}/runs/${run.number}`)).text();
    expect(page).toContain('○</span> not run on a device');
    expect(page).toContain('host emulation: arithmetic only');
    expect(page).not.toContain('Why it failed');
  });

  it('passes after a retry once a runner with a GPU has the labels', async () => {
    const body = '/metainfer retry';
    await world.ada('POST', `${world.repository}/issues/${pullNumber()}/comments`, { body });
    await moved('the second dispatch', ({ state }) => state.attempt === 2);
    world.startRunner('has-device', { name: 'gpu-box', labels });
    run = await moved('the verdict', ({ state }) => !isOpen(state));
    expect([run.state.status, run.state.failure]).toEqual(['passed', undefined]);
    const pull = await get(`pulls/${pullNumber()}`);
    expect(pull.draft).toBe(false);
    expect(pull.body).toContain(`Closes #${issue}`);
    const { check_runs: checks } = await get(`commits/${pull.head.sha}/check-runs`);
    expect(checks.map(({ conclusion }: { conclusion: string }) => conclusion)).toEqual(['success']);
    expect(checks[0].output.text).toContain('NVIDIA H200');
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
