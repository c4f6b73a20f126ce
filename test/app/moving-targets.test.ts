import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { commitFile } from '../support/commit-file.ts';

describe('what people change while a run is under way', () => {
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

  async function newest(issue: number): Promise<RunRecord | undefined> {
    const [run] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
    return run;
  }

  async function request(name: string, threads = 2): Promise<string> {
    return engineRequest([
      [/^name: tiny-qwen3/m, `name: ${name}`],
      [/threads: 2/, `threads: ${threads}`],
    ]);
  }

  async function open(name: string): Promise<number> {
    const body = await request(name);
    const { body: issue } = await world.ada('POST', `${world.repository}/issues`, { title: name, body });
    return issue.number;
  }

  async function waiting(issue: number): Promise<RunRecord> {
    return eventually(`the run of #${issue} to wait for its runner`, async () => {
      const run = await newest(issue);
      return run?.state.waitingFor === 'workflow' ? run : undefined;
    });
  }

  async function ended(id: string): Promise<RunRecord> {
    return eventually('the end', async () => {
      const run = await app.store.findRun(id);
      return run !== undefined && !isOpen(run.state) ? run : undefined;
    });
  }

  async function commentsOf(number: number): Promise<string> {
    const { body } = await world.ada('GET', `${world.repository}/issues/${number}/comments?per_page=100`);
    return body.map((comment: { body: string }) => comment.body).join('\n---\n');
  }

  it('an edit and its undoing end with a run for what the issue asks', async () => {
    const issue = await open('back-and-forth');
    const first = await waiting(issue);
    const other = await request('back-and-forth', 1);
    await world.ada('PATCH', `${world.repository}/issues/${issue}`, { body: other });
    await world.ada('PATCH', `${world.repository}/issues/${issue}`, {
      body: await request('back-and-forth'),
    });
    const run = await eventually('a run for two threads', async () => {
      const current = await newest(issue);
      const isRight = current?.state.constraints?.hardware.threads === 2 && current.id !== first.id;
      // Where both edits were read after the second, the first run was never in question.
      if (current?.id === first.id) {
        const { deliveries } = await app.store.counts();
        return (deliveries.queued ?? 0) === 0 && !current.isCancelRequested ? current : undefined;
      }
      return isRight && current.state.waitingFor === 'workflow' ? current : undefined;
    });
    expect(run.state.constraints?.hardware.threads).toBe(2);
    expect(isOpen((await newest(issue))!.state)).toBe(true);
  });

  it('a run for the same file as one that gives way is a run of its own', async () => {
    const issue = await open('gives-way');
    const first = await waiting(issue);
    await app.store.requestCancel(first.id);
    const { run, isNew } = await app.store.createRun({
      id: 'a-twin-of-a-dying-run',
      repository: first.repository,
      source: first.source,
      requestedBy: first.requestedBy,
      state: { ...first.state, id: 'a-twin-of-a-dying-run', status: 'cancelled', next: null },
      requestSha256: first.state.constraintsSha256!,
    });
    expect([isNew, run.id]).toEqual([true, 'a-twin-of-a-dying-run']);
    expect((await ended(first.id)).state.status).toBe('cancelled');
  });

  it('a push onto the branch leaves the verdict to the commit it is about, and says so', async () => {
    const issue = await open('pushed-to');
    const run = await waiting(issue);
    const { branch, pullNumber } = run.state.github!;
    await commitFile(world.ada, world.repository, {
      branch,
      path: 'engines/pushed-to/extra.txt',
      text: 'mine\n',
    });
    const runner = world.startRunner('passes');
    const end = await ended(run.id);
    await runner.stop();
    expect(end.state.status).toBe('passed');
    const { body: pull } = await world.ada('GET', `${world.repository}/pulls/${pullNumber}`);
    expect([pull.draft, pull.body.includes('Closes #')]).toEqual([true, false]);
    for (const number of [issue, pullNumber]) {
      const text = await commentsOf(number);
      expect(text).toContain(run.state.github!.engineCommit.slice(0, 12));
      expect(text).not.toMatch(/[Rr]eady for review|Merging it closes/);
    }
  });

  it('what lies in the folder of the engine and is no part of it goes, visibly', async () => {
    const file = { branch: 'main', path: 'engines/left-over/old.cpp', text: 'int old;\n' };
    await commitFile(world.ada, world.repository, file);
    const issue = await open('left-over');
    const run = await waiting(issue);
    const { body: files } = await world.ada(
      'GET',
      `${world.repository}/pulls/${run.state.github!.pullNumber}/files?per_page=100`,
    );
    const removed = files.filter(({ status }: { status: string }) => status === 'removed');
    expect(removed.map(({ filename }: { filename: string }) => filename)).toEqual([
      'engines/left-over/old.cpp',
    ]);
  });

  it('a retry for a pull request that was closed is refused with what to do', async () => {
    const issue = await open('closed');
    const run = await waiting(issue);
    const { pullNumber } = run.state.github!;
    await world.ada('PATCH', `${world.repository}/pulls/${pullNumber}`, { state: 'closed' });
    expect((await ended(run.id)).state.status).toBe('cancelled');
    await world.ada('POST', `${world.repository}/issues/${issue}/comments`, { body: '/metainfer retry' });
    const again = await eventually('the retry to end', async () => {
      const current = await app.store.findRun(run.id);
      return current?.state.status === 'failed' ? current : undefined;
    });
    expect(again.state.failure?.message).toContain(`#${pullNumber} is closed`);
    expect(await commentsOf(issue)).toContain('Reopen');
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
