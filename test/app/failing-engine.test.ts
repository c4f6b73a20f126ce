import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { findUser } from '../../src/local/github/accounts.ts';
import { pressCheckButton } from '../../src/local/github/check-buttons.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import type { HarnessScript } from '../support/scripted-harness.ts';

describe('an engine that does not pass', () => {
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

  async function request(name: string): Promise<number> {
    const body = await engineRequest([[/^name: tiny-qwen3/m, `name: ${name}`]]);
    const { body: issue } = await world.ada('POST', `${world.repository}/issues`, { title: name, body });
    return issue.number;
  }

  function waitFor(issue: number, what: string, isThere: (run: RunRecord) => boolean): Promise<RunRecord> {
    return eventually(`${what} (#${issue})`, async () => {
      const [run] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
      return run !== undefined && isThere(run) ? run : undefined;
    });
  }

  /** Lets a runner that follows the script judge what is asked for, until the run has ended. */
  async function judgedBy(script: HarnessScript, issue: number): Promise<RunRecord> {
    const runner = world.startRunner(script);
    try {
      return await waitFor(issue, `the end by a runner that ${script}`, ({ state }) => !isOpen(state));
    } finally {
      await runner.stop();
    }
  }

  async function get(path: string) {
    const { body } = await world.ada('GET', `${world.repository}/${path}`);
    return body;
  }

  function press(button: 'retry' | 'cancel', run: RunRecord, login: string): void {
    const { github, seed } = world;
    const check = run.state.github!.checkRunId!;
    const person = findUser(github.world, login) ?? github.addUser(login);
    pressCheckButton(github.world, seed.repository, check, button, person);
  }

  async function expectUnfinishedPull({ state }: RunRecord): Promise<void> {
    const pull = await get(`pulls/${state.github!.pullNumber}`);
    expect([pull.draft, pull.state, pull.requested_reviewers]).toEqual([true, 'open', []]);
    expect(pull.body).not.toMatch(/closes #/i);
  }

  const bodies = (items: readonly { readonly body: string }[]) => items.map(({ body }) => body);

  it('gets its compiler error at its line, a red check, and a word on what to do', async () => {
    const issue = await request('uncompiled');
    const run = await judgedBy('compiler-error', issue);
    expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'VERDICT_FAILED']);
    const { pullNumber, checkRunId } = run.state.github!;

    const [comment, ...others] = await get(`pulls/${pullNumber}/comments`);
    expect(others).toEqual([]);
    expect([comment.path, comment.line]).toEqual(['engines/uncompiled/norm_rms.cpp', 12]);
    expect(comment.body).toContain("'sum' was not declared in this scope");
    expect(comment.body).toContain('`norm.rms`');

    const check = await get(`check-runs/${checkRunId}`);
    expect([check.conclusion, check.output.title]).toEqual(['failure', 'Failed: 1 finding in gate build']);
    expect(check.head_sha).toBe(run.state.github!.engineCommit);
    const annotations = await get(`check-runs/${checkRunId}/annotations`);
    expect(annotations).toMatchObject([
      {
        ...{ path: 'engines/uncompiled/norm_rms.cpp', start_line: 12, annotation_level: 'failure' },
        message: "'sum' was not declared in this scope",
      },
    ]);

    await expectUnfinishedPull(run);
    const [status, end, ...more] = bodies(await get(`issues/${issue}/comments`));
    expect(more).toEqual([]);
    expect(status).toContain('❌');
    expect(end).toContain('norm_rms.cpp:12');
    expect(end).toContain('**What to do:** The findings point at `norm.rms`');
    expect(end).toContain(`#${pullNumber}`);
  });

  it('is judged again when somebody who may presses Retry, and passes when it is right', async () => {
    const [first] = await app.store.listRuns({ limit: 1 });
    const { source, state } = first!;
    const { pullNumber, engineCommit } = state.github!;
    press('retry', first!, 'mallory');
    await eventually('the refusal', async () => {
      const comments = bodies(await get(`issues/${pullNumber}/comments`));
      return comments.some((body) => body.includes('takes write permission')) ? true : undefined;
    });
    expect((await app.store.findRun(first!.id))!.state.status).toBe('failed');

    press('retry', first!, 'ada');
    const again = await waitFor(source.number, 'a second dispatch', (run) => run.state.attempt === 2);
    expect(again.state.github!.requestId).not.toBe(state.github!.requestId);
    const run = await judgedBy('passes', source.number);
    expect([run.id, run.state.status, run.state.failure]).toEqual([first!.id, 'passed', undefined]);
    expect(run.state.github!.workflowRunId).not.toBe(state.github!.workflowRunId);
    expect(run.state.github!.engineCommit).toBe(engineCommit);

    const pull = await get(`pulls/${pullNumber}`);
    expect(pull.draft).toBe(false);
    expect(pull.body).toContain(`Closes #${source.number}`);
    const checks = await get(`commits/${engineCommit}/check-runs`);
    // The newest of a name is the one that counts.
    expect(checks.check_runs.map(({ conclusion }: { conclusion: string }) => conclusion)).toEqual([
      'success',
    ]);
    const comments = bodies(await get(`issues/${source.number}/comments`));
    expect(comments.map((body) => /passed|❌/.exec(body)?.[0])).toEqual(['passed', '❌', 'passed']);
    const attempts = await app.store.readAttempts(run.id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed: build', 'passed']);
  });

  it('that is right and too slow is told so, with the figures at the code that decides', async () => {
    const issue = await request('slow');
    const run = await judgedBy('goal-missed', issue);
    expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'VERDICT_FAILED']);
    const [comment] = await get(`pulls/${run.state.github!.pullNumber}/comments`);
    expect(comment.path).toBe('engines/slow/linear_dense.cpp');
    expect(comment.body).toContain('Too slow');
    const check = await get(`check-runs/${run.state.github!.checkRunId}`);
    expect([check.conclusion, check.output.title]).toEqual(['failure', expect.stringContaining('misses')]);
    await expectUnfinishedPull(run);
    expect(bodies(await get(`issues/${issue}/comments`)).at(-1)).toContain('Relax the goal');
  });

  it('is not judged by a report that belongs to another request', async () => {
    const issue = await request('forged');
    const run = await judgedBy('forged', issue);
    expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'REPORT_REJECTED']);
    expect(run.state.verification).toBeUndefined();
    for (const name of ['report', 'result', 'log'] as const)
      expect(await app.store.readDocument(run.id, name)).toBeUndefined();
    const check = await get(`check-runs/${run.state.github!.checkRunId}`);
    expect([check.conclusion, check.output.title]).toEqual(['failure', expect.stringContaining('rejected')]);
    await expectUnfinishedPull(run);
    const { pullNumber, branch, engineCommit } = run.state.github!;
    expect(await get(`pulls/${pullNumber}/reviews`)).toEqual([]);
    expect((await get(`git/ref/heads/${branch}`)).object.sha).toBe(engineCommit);
    expect(bodies(await get(`issues/${issue}/comments`)).at(-1)).toContain(
      'Nothing was taken from that report',
    );
  });

  it('is not to blame where the runner leaves nothing', async () => {
    const issue = await request('no-result');
    const run = await judgedBy('no-result', issue);
    expect([run.state.status, run.state.failure?.code]).toEqual(['failed', 'RUNNER_FAILED']);
    const check = await get(`check-runs/${run.state.github!.checkRunId}`);
    expect([check.conclusion, check.output.title]).toEqual([
      'failure',
      expect.stringContaining('without a result'),
    ]);
    await expectUnfinishedPull(run);
    expect(bodies(await get(`issues/${issue}/comments`)).at(-1)).toContain('/metainfer retry');
  });

  it('is let go by the button Cancel, and the runner is free for the next', async () => {
    const issue = await request('stuck');
    const runner = world.startRunner('hangs');
    const stuck = await waitFor(issue, 'the dispatch', ({ state }) => state.waitingFor === 'workflow');
    const workflow = () => get(`actions/runs/${stuck.state.github!.workflowRunId}`);
    await eventually('the runner to take it', async () =>
      (await workflow()).status === 'in_progress' ? true : undefined,
    );
    press('cancel', stuck, 'ada');
    const run = await waitFor(issue, 'the end', ({ state }) => !isOpen(state));
    expect(run.state.status).toBe('cancelled');
    await eventually('the end of the job', async () =>
      (await workflow()).conclusion === 'cancelled' ? true : undefined,
    );
    const check = await get(`check-runs/${run.state.github!.checkRunId}`);
    expect(check.conclusion).toBe('cancelled');
    expect(bodies(await get(`issues/${issue}/comments`))).toEqual([expect.stringContaining('cancelled')]);

    const next = await request('next');
    const taken = await waitFor(next, 'the dispatch', ({ state }) => state.waitingFor === 'workflow');
    await eventually('the runner to take the next', async () => {
      const { status } = await get(`actions/runs/${taken.state.github!.workflowRunId}`);
      return status === 'in_progress' ? true : undefined;
    });
    await runner.stop();
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
