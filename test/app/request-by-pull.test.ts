import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { readDemoConstraints } from '../../src/local/demo/demo-request.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { commitFile } from '../support/commit-file.ts';
import type { ApiCall } from '../support/github-api.ts';

describe('an engine asked for by a pull request', () => {
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

  async function constraints(name: string, replace: readonly (readonly [string, string])[] = []) {
    let text = (await readDemoConstraints()).replace(/^name: .*/m, `name: ${name}`);
    for (const [from, to] of replace) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    return text;
  }

  const commit = (branch: string, text: string, path = `constraints/${branch}.yaml`) =>
    commitFile(world.ada, world.repository, { branch, path, text });

  async function openPull(as: ApiCall, head: string, options: object = {}): Promise<number> {
    const pull = { title: head, head, base: 'main', ...options };
    const { status, body } = await as('POST', `${world.repository}/pulls`, pull);
    expect([status, body.errors]).toEqual([201, undefined]);
    return body.number;
  }

  async function newestRun(pull: number): Promise<RunRecord | undefined> {
    const [run] = await app.store.listRuns({ sourceKind: 'pull', sourceNumber: pull, limit: 1 });
    return run;
  }

  const waitFor = (pull: number, what: string, isThere: (run: RunRecord) => boolean) =>
    eventually(what, async () => {
      const run = await newestRun(pull);
      return run !== undefined && isThere(run) ? run : undefined;
    });
  const waitForWorkflow = (pull: number) =>
    waitFor(pull, `workflow of #${pull}`, ({ state }) => state.waitingFor === 'workflow');
  const waitForApproval = (pull: number) =>
    waitFor(pull, `held run of #${pull}`, ({ state }) => state.waitingFor === 'approval');

  /** Every delivery so far was handled, and no step is left to do. */
  async function settled(): Promise<void> {
    await world.github.settled();
    await eventually('quiet', async () => {
      const { deliveries, runs } = await app.store.counts();
      return (deliveries.queued ?? 0) === 0 && (runs.running ?? 0) === 0 ? true : undefined;
    });
  }

  async function list(path: string) {
    const { body } = await world.ada('GET', `${world.repository}/${path}?per_page=100`);
    return body;
  }

  it('gets its plan as a review, and the engine a pull request of its own into that branch', async () => {
    await commit('wanted', await constraints('by-pull'));
    const pull = await openPull(world.ada, 'wanted');
    const run = await waitForWorkflow(pull);
    const [review, ...others] = await list(`pulls/${pull}/reviews`);
    expect(others).toEqual([]);
    expect(review.state).toBe('COMMENTED');
    expect(review.body).toContain('**Plan for by-pull** (`constraints/wanted.yaml`)');
    expect(review.body).toContain('branch of its own');
    const engine = await list(`pulls/${run.state.github!.pullNumber}`);
    expect([engine.draft, engine.head.ref, engine.base.ref]).toEqual([
      true,
      `metainfer/${pull}-by-pull`,
      'wanted',
    ]);
    expect(engine.body).not.toMatch(/closes #/i);
  });

  it('ends reviewed on the engine, with a word on the pull request that asked', async () => {
    const runner = world.startRunner('passes');
    const { body: pulls } = await world.ada('GET', `${world.repository}/pulls?head=example:wanted`);
    const pull: number = pulls[0].number;
    const run = await waitFor(pull, 'the end', ({ state }) => !isOpen(state));
    await runner.stop();
    expect(run.state.status).toBe('passed');
    const number = run.state.github!.pullNumber;
    const engine = await list(`pulls/${number}`);
    expect([engine.draft, engine.base.ref]).toEqual([false, 'wanted']);
    const comments = await list(`issues/${pull}/comments`);
    expect(comments).toHaveLength(1);
    expect(comments[0].body).toContain('### ✅ by-pull passed');
    expect(comments[0].body).toContain(`#${number}`);
    expect(comments[0].body).not.toContain('closes this issue');
  });

  it('in another version is made on the same branch, and its pull request promises nothing of the former', async () => {
    const { body: pulls } = await world.ada('GET', `${world.repository}/pulls?head=example:wanted`);
    const pull: number = pulls[0].number;
    const former = (await newestRun(pull))!;
    await commit('wanted', await constraints('by-pull', [['threads: 2', 'threads: 1']]));
    const run = await waitForWorkflow(pull);
    expect(run.id).not.toBe(former.id);
    const { pullNumber, branch, engineCommit } = run.state.github!;
    expect([pullNumber, branch]).toEqual([former.state.github!.pullNumber, former.state.github!.branch]);
    const engine = await list(`pulls/${pullNumber}`);
    expect(engine.head.sha).toBe(engineCommit);
    expect(engine.body).toContain('threads: 1');
    const files = await list(`pulls/${pullNumber}/files`);
    expect(files.map(({ filename }: { filename: string }) => filename)).not.toContain(
      'engines/by-pull/report.json',
    );
    const again = world.startRunner('passes');
    const ended = await waitFor(pull, 'the end', ({ state }) => !isOpen(state));
    await again.stop();
    expect([ended.id, ended.state.status]).toEqual([run.id, 'passed']);
  });

  it('is on main once both are merged', async () => {
    const { body: pulls } = await world.ada('GET', `${world.repository}/pulls?head=example:wanted`);
    const pull: number = pulls[0].number;
    const number = (await newestRun(pull))!.state.github!.pullNumber;
    expect(await world.ada('PUT', `${world.repository}/pulls/${number}/merge`, {})).toMatchObject({
      status: 200,
    });
    expect(await world.ada('PUT', `${world.repository}/pulls/${pull}/merge`, {})).toMatchObject({
      status: 200,
    });
    const path = `${world.repository}/contents/engines/by-pull/report.json`;
    expect(await world.ada('GET', path)).toMatchObject({ status: 200 });
  });

  it('with problems gets each at its line, mechanical ones with a suggestion; corrected, it proceeds', async () => {
    const bad = await constraints('corrected', [
      ['weights: bf16', 'weights: bf61'],
      ['threads: 2', 'threads: two'],
    ]);
    await commit('faulty', bad);
    const pull = await openPull(world.ada, 'faulty');
    await waitFor(pull, 'the end', ({ state }) => state.status === 'failed');
    const [review, ...others] = await list(`pulls/${pull}/reviews`);
    expect(others).toEqual([]);
    expect(review.body).toContain('2 problems');
    const comments = await list(`pulls/${pull}/comments`);
    const at = (text: string) => bad.split('\n').findIndex((line) => line.includes(text)) + 1;
    const places = comments.map((comment: { path: string; line: number }) => [comment.path, comment.line]);
    expect(places.sort()).toEqual(
      [
        ['constraints/faulty.yaml', at('threads: two')],
        ['constraints/faulty.yaml', at('weights: bf61')],
      ].sort(),
    );
    const misspelt = comments.find(({ line }: { line: number }) => line === at('bf61'));
    expect(misspelt.body).toMatch(/```suggestion\n {2,}weights: bf16.*\n```/);
    expect(await list(`issues/${pull}/comments`)).toEqual([]);

    await commit('faulty', await constraints('corrected'));
    const run = await waitForWorkflow(pull);
    expect(run.state.github!.baseBranch).toBe('faulty');
    expect((await list(`pulls/${pull}/reviews`)).at(-1).body).toContain('Plan for corrected');
  });

  it('takes no notice of a commit that leaves the file as it is', async () => {
    await commit('calm', await constraints('calm'));
    const pull = await openPull(world.ada, 'calm');
    const run = await waitForWorkflow(pull);
    const before = await app.store.counts();
    await commit('calm', 'something else\n', 'notes.md');
    await settled();
    const after = await app.store.counts();
    expect(after.deliveries.ignored).toBeGreaterThan(before.deliveries.ignored ?? 0);
    expect(after.runs).toEqual(before.runs);
    expect((await newestRun(pull))!.id).toBe(run.id);
    expect(await list(`pulls/${pull}/reviews`)).toHaveLength(1);
  });

  it('is stopped when that pull request is closed', async () => {
    await commit('dropped', await constraints('dropped'));
    const pull = await openPull(world.ada, 'dropped');
    const { state } = await waitForWorkflow(pull);
    await world.ada('PATCH', `${world.repository}/pulls/${pull}`, { state: 'closed' });
    await waitFor(pull, 'the cancelled run', (run) => run.state.status === 'cancelled');
    const workflow = await list(`actions/runs/${state.github!.workflowRunId}`);
    expect(workflow.conclusion).toBe('cancelled');
    expect((await list(`check-runs/${state.github!.checkRunId}`)).conclusion).toBe('cancelled');
  });

  it('is only planned while it is a draft, and goes on when it is ready', async () => {
    await commit('drafted', await constraints('drafted'));
    const pull = await openPull(world.ada, 'drafted', { draft: true });
    const held = await waitForApproval(pull);
    expect((await list(`pulls/${pull}/reviews`))[0].body).toContain('/metainfer generate');
    const { node_id: id } = await list(`pulls/${pull}`);
    const query =
      'mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { clientMutationId } }';
    await world.ada('POST', '/graphql', { query, variables: { id } });
    expect((await waitForWorkflow(pull)).id).toBe(held.id);
  });

  it('by somebody who may not have it made waits, and after the merge is made for the default branch', async () => {
    await commit('later', await constraints('later'));
    const trent = world.person('trent', 'triage');
    const pull = await openPull(trent, 'later');
    const held = await waitForApproval(pull);
    await trent('POST', `${world.repository}/issues/${pull}/comments`, { body: '/metainfer generate' });
    await settled();
    expect((await list(`issues/${pull}/comments`)).at(-1).body).toMatch(/takes write permission/);
    await world.ada('PUT', `${world.repository}/pulls/${pull}/merge`, {});
    await world.ada('POST', `${world.repository}/issues/${pull}/comments`, { body: '/metainfer generate' });
    const run = await waitForWorkflow(pull);
    expect([run.id, run.state.github!.baseBranch]).toEqual([held.id, 'main']);
    expect((await list(`pulls/${run.state.github!.pullNumber}`)).base.ref).toBe('main');
  });

  it('from a fork gets a plan and nothing more, until it is merged', async () => {
    const { github, seed, ada } = world;
    const stranger = world.person('mallory');
    const fork = await github.addRepository('mallory', 'inference');
    const everything = '+refs/heads/main:refs/heads/main';
    await github.world.git(fork, ['fetch', '--quiet', seed.repository.folder, everything]);
    await commitFile(stranger, '/repos/mallory/inference', {
      ...{ branch: 'mine', path: 'constraints/mine.yaml', text: await constraints('forked') },
    });
    const pull = await openPull(stranger, 'mallory:mine');
    const run = await waitForApproval(pull);
    const [review] = await list(`pulls/${pull}/reviews`);
    expect(review.body).toContain('**Plan for forked**');
    expect(review.body).toContain('comes from a fork');

    const ask = { body: '/metainfer generate' };
    await ada('POST', `${world.repository}/issues/${pull}/comments`, ask);
    await settled();
    expect((await list(`issues/${pull}/comments`)).at(-1).body).toContain('in a fork');
    expect((await newestRun(pull))!.state.waitingFor).toBe('approval');
    const branches = (await list('branches')).map(({ name }: { name: string }) => name);
    expect(branches).not.toContain(`metainfer/${pull}-forked`);

    await ada('PUT', `${world.repository}/pulls/${pull}/merge`, {});
    await ada('POST', `${world.repository}/issues/${pull}/comments`, ask);
    const made = await waitForWorkflow(pull);
    expect([made.id, made.state.github!.baseBranch]).toEqual([run.id, 'main']);
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
