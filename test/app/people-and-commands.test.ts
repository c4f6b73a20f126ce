import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import type { ApiCall } from '../support/github-api.ts';

describe('who may do what', () => {
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

  async function newestRun(issue: number) {
    const [run] = await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 });
    return run;
  }

  async function waitFor(issue: number, waitingFor: 'approval' | 'workflow') {
    return eventually(`run of #${issue} that waits for ${waitingFor}`, async () => {
      const run = await newestRun(issue);
      return run?.state.waitingFor === waitingFor ? run : undefined;
    });
  }

  async function open(as: ApiCall, name: string): Promise<number> {
    const body = await engineRequest([[/^name: tiny-qwen3/m, `name: ${name}`]]);
    const { body: issue } = await as('POST', `${world.repository}/issues`, { title: name, body });
    return issue.number;
  }

  async function comment(as: ApiCall, issue: number, body: string) {
    const { body: made } = await as('POST', `${world.repository}/issues/${issue}/comments`, { body });
    await world.github.settled();
    return eventually(`an answer to ${body}`, async () => {
      const { body: reactions } = await world.ada(
        'GET',
        `${world.repository}/issues/comments/${made.id}/reactions`,
      );
      const contents = reactions.map(({ content }: { content: string }) => content);
      return contents.some((content: string) => content !== 'eyes') ? (contents as string[]) : undefined;
    });
  }

  async function lastComment(issue: number): Promise<string> {
    const { body } = await world.ada('GET', `${world.repository}/issues/${issue}/comments?per_page=100`);
    return body.at(-1).body;
  }

  it('a stranger gets a plan, and generation waits; their own command is refused with who can grant it', async () => {
    const stranger = world.person('mallory');
    const issue = await open(stranger, 'from-a-stranger');
    const run = await waitFor(issue, 'approval');
    expect(run.state.planSha256).toBeDefined();
    expect(await lastComment(issue)).toContain('metainfer:approved');
    expect(await comment(stranger, issue, '/metainfer generate')).toContain('-1');
    expect((await newestRun(issue))!.state.waitingFor).toBe('approval');
    expect(await lastComment(issue)).toMatch(/write/);
  });

  it("the label lets exactly this file through, and only a maintainer's label counts", async () => {
    const stranger = world.person('mallory');
    const issue = await open(stranger, 'to-approve');
    await waitFor(issue, 'approval');
    const triager = world.person('trent', 'triage');
    const labels = { labels: ['metainfer:approved'] };
    await triager('POST', `${world.repository}/issues/${issue}/labels`, labels);
    await eventually('a refusal', async () =>
      (await lastComment(issue)).includes('trent') ? true : undefined,
    );
    expect((await newestRun(issue))!.state.waitingFor).toBe('approval');
    await triager('DELETE', `${world.repository}/issues/${issue}/labels/metainfer:approved`);
    await world.ada('POST', `${world.repository}/issues/${issue}/labels`, labels);
    const first = await waitFor(issue, 'workflow');
    // The approval was for that file: another one waits again, and the first run gives way.
    const body = await engineRequest([
      [/^name: tiny-qwen3/m, 'name: to-approve'],
      [/threads: 2/, 'threads: 1'],
    ]);
    await stranger('PATCH', `${world.repository}/issues/${issue}`, { body });
    const second = await waitFor(issue, 'approval');
    expect(second.number).toBeGreaterThan(first.number);
    const superseded = await eventually('the end of the first run', async () => {
      const run = await app.store.findRun(first.id);
      return run?.state.status === 'superseded' ? run : undefined;
    });
    expect(superseded.supersededBy).toBe(second.number);
  });

  it('commands are understood only as they are, and each is answered', async () => {
    const issue = await open(world.ada, 'commands');
    await waitFor(issue, 'workflow');
    expect(await comment(world.ada, issue, '/metainfer stats')).toContain('confused');
    expect(await lastComment(issue)).toContain('status');
    expect(await comment(world.ada, issue, '/metainfer help')).toContain('+1');
    expect(await lastComment(issue)).toContain('/metainfer bench');
    expect(await comment(world.ada, issue, '/metainfer status')).toContain('+1');
    expect(await lastComment(issue)).toContain('metainfer-cpu-avx2');
    expect(await comment(world.ada, issue, '/metainfer generate')).toContain('+1');
    expect(await lastComment(issue)).toContain('under way');
    expect(await comment(world.ada, issue, '/metainfer cancel')).toContain('+1');
    const run = await eventually('the end', async () => {
      const current = await newestRun(issue);
      return current?.state.status === 'cancelled' ? current : undefined;
    });
    const { body: workflow } = await world.ada(
      'GET',
      `${world.repository}/actions/runs/${run.state.github!.workflowRunId}`,
    );
    expect([workflow.status, workflow.conclusion]).toEqual(['completed', 'cancelled']);
    const { body: check } = await world.ada(
      'GET',
      `${world.repository}/check-runs/${run.state.github!.checkRunId}`,
    );
    expect(check.conclusion).toBe('cancelled');
    expect(await comment(world.ada, issue, '/metainfer retry')).toContain('rocket');
    const again = await waitFor(issue, 'workflow');
    expect([again.id, again.state.attempt]).toEqual([run.id, 2]);
  });

  it("a bot's comment and a command inside a fence or a quotation start nothing", async () => {
    const issue = await open(world.ada, 'quotes');
    await waitFor(issue, 'workflow');
    const before = await app.store.counts();
    const text = '```\n/metainfer cancel\n```\n\n> /metainfer cancel\n\nas in `/metainfer cancel`';
    await world.ada('POST', `${world.repository}/issues/${issue}/comments`, { body: text });
    await world.github.settled();
    await eventually('the comment to be looked at', async () => {
      const { deliveries } = await app.store.counts();
      const isDone = (deliveries.queued ?? 0) === 0;
      return isDone && (deliveries.ignored ?? 0) > (before.deliveries.ignored ?? 0) ? true : undefined;
    });
    expect((await newestRun(issue))!.state.waitingFor).toBe('workflow');
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
