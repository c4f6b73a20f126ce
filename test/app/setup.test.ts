import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderWorkflow, workflowPath } from '../../src/adapters/runner/workflow-text.ts';
import { type RunningApp, startApp } from '../../src/app.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';
import { commitFile } from '../support/commit-file.ts';
import type { ApiCall } from '../support/github-api.ts';

describe('what must be set up in a repository', () => {
  let world: BotWorld;
  let app: RunningApp;
  /** The file that the bot starts, and nothing else. */
  let pinned: string;

  beforeAll(async () => {
    world = await startBotWorld({ withWorkflow: false });
    app = await startApp(world.settings, log);
    const { repository, sha } = world.settings.home;
    pinned = renderWorkflow({ homeRepository: repository, homeSha: sha });
  });

  afterAll(async () => {
    await app.stop(5);
    await world.stop();
  });

  async function request(name: string, as: ApiCall = world.ada): Promise<number> {
    const body = await engineRequest([[/^name: tiny-qwen3/m, `name: ${name}`]]);
    const { body: issue } = await as('POST', `${world.repository}/issues`, { title: name, body });
    return issue.number;
  }

  const runOf = async (issue: number) =>
    (await app.store.listRuns({ sourceKind: 'issue', sourceNumber: issue, limit: 1 }))[0];
  const waitFor = (issue: number, what: string, isThere: (run: RunRecord) => boolean) =>
    eventually(`${what} (#${issue})`, async () => {
      const run = await runOf(issue);
      return run !== undefined && isThere(run) ? run : undefined;
    });
  const failed = (issue: number) => waitFor(issue, 'the failure', ({ state }) => state.status === 'failed');
  const dispatched = (issue: number) =>
    waitFor(issue, 'the dispatch', ({ state }) => state.waitingFor === 'workflow');

  async function commentsOf(number: number): Promise<readonly string[]> {
    const { body } = await world.ada('GET', `${world.repository}/issues/${number}/comments?per_page=100`);
    return body.map((comment: { body: string }) => comment.body);
  }

  const setupWords = async (pull: number) =>
    (await commentsOf(pull)).filter((body) =>
      /not ready to verify engines: \d+ things? to set up/.test(body),
    );

  const commit = (path: string, text: string) =>
    commitFile(world.ada, world.repository, { branch: 'main', path, text });

  /** Asks again, and gives what the bot then says about the set-up. */
  async function retry(issue: number, pull: number): Promise<string> {
    const before = (await setupWords(pull)).length;
    await world.ada('POST', `${world.repository}/issues/${issue}/comments`, { body: '/metainfer retry' });
    return eventually('another word about the set-up', async () => {
      const words = await setupWords(pull);
      const isOver = (await runOf(issue))!.state.status === 'failed';
      return words.length > before && isOver ? words.at(-1) : undefined;
    });
  }

  it('the workflow file: missing, different and switched off are each said with what to do; then it goes on', async () => {
    const issue = await request('first');
    const run = await failed(issue);
    expect(run.state.failure?.code).toBe('WORKFLOW_MISSING');
    const pull = run.state.github!.pullNumber;
    const [missing, ...others] = await setupWords(pull);
    expect(others).toEqual([]);
    expect(missing).toContain('`.github/workflows/metainfer-engine.yml` is not on `main`');
    const shown = /```yaml\n([\s\S]*?)\n *```/.exec(missing!)![1]!;
    expect(shown.replace(/^ {3}/gm, '').trim()).toBe(pinned.trim());
    const link = new URL(/\]\((http[^)\s]*\/new\/main\?[^)\s]*)\)/.exec(missing!)![1]!);
    expect(link.searchParams.get('filename')).toBe(workflowPath);
    expect(link.searchParams.get('value')).toBe(pinned);
    expect((await commentsOf(issue)).at(-1)).toContain('/metainfer retry');

    await commit(workflowPath, pinned.replace('workflow_dispatch', 'push'));
    expect(await retry(issue, pull)).toContain('another text than the one the bot starts');
    // A person who asks is answered, each time.
    expect(
      (await commentsOf(issue)).filter((body) => body.includes('The attempt stays a draft')),
    ).toHaveLength(2);

    await commit(workflowPath, pinned);
    const { body: list } = await world.ada('GET', `${world.repository}/actions/workflows`);
    const workflow = `${world.repository}/actions/workflows/${list.workflows[0].id}`;
    await world.ada('PUT', `${workflow}/disable`);
    expect(await retry(issue, pull)).toMatch(/is switched off.*Enable workflow/s);

    await world.ada('PUT', `${workflow}/enable`);
    await world.ada('POST', `${world.repository}/issues/${issue}/comments`, { body: '/metainfer retry' });
    const again = await dispatched(issue);
    expect([again.id, again.state.attempt]).toEqual([run.id, 1]);
    expect(again.state.github!.engineCommit).toBe(run.state.github!.engineCommit);
    expect(await setupWords(pull)).toHaveLength(3);
  });

  it('a permission that the installation lacks is named, with who can grant it', async () => {
    const { installations } = world.github.world;
    const [installation] = [...installations.values()];
    const { actions: _, ...permissions } = installation!.permissions;
    installations.set(installation!.id, { ...installation!, permissions });
    const issue = await request('second');
    const run = await failed(issue);
    const [words] = await setupWords(run.state.github!.pullNumber);
    expect(words).toContain('lacks the permission `actions: write`');
    expect(words).toContain('An owner of the account that installed it can accept');

    installations.set(installation!.id, installation!);
    await world.ada('POST', `${world.repository}/issues/${issue}/comments`, { body: '/metainfer retry' });
    await dispatched(issue);
  });

  it('a broken .github/metainfer.yml is said where somebody asks, and lets nobody do more', async () => {
    await commit('.github/metainfer.yml', 'allow:\n  generate: anyone\n  runer: anyone\n');
    const mallory = world.person('mallory');
    const issue = await request('fourth', mallory);
    const [words] = await eventually('the answer', async () => {
      const comments = await commentsOf(issue);
      return comments.length > 0 ? comments : undefined;
    });
    expect(words).toContain('.github/metainfer.yml on main cannot be used');
    expect(words).toMatch(/metainfer\.yml:3:3.*runer.*Did you mean runner\?/s);
    expect(await runOf(issue)).toBeUndefined();

    await commitFile(world.ada, world.repository, {
      ...{ branch: 'asked', path: 'constraints/asked.yaml', text: 'apiVersion: metainfer/v1\n' },
    });
    const draft = { title: 'asked', head: 'asked', base: 'main' };
    const { body: pull } = await world.ada('POST', `${world.repository}/pulls`, draft);
    await eventually('the answer on the pull request', async () =>
      (await commentsOf(pull.number)).some((body) => body.includes('cannot be used')) ? true : undefined,
    );

    // Corrected, and asked again by an edit: the stranger is one again.
    await commit('.github/metainfer.yml', 'allow:\n  generate: write\n');
    const body = await engineRequest([[/^name: tiny-qwen3/m, 'name: fourth']]);
    await mallory('PATCH', `${world.repository}/issues/${issue}`, { body: `${body}\r\nThank you.` });
    await waitFor(issue, 'the held plan', ({ state }) => state.waitingFor === 'approval');
  });

  it('a label that no runner serves is said within five minutes, with the label and the runners seen', async () => {
    const runner = world.startRunner('passes');
    await waitFor(1, 'the verdict', ({ state }) => state.status === 'passed');
    await runner.stop();
    await commit('.github/metainfer.yml', 'runner:\n  extra_labels: [big-memory]\n');
    const issue = await request('unserved');
    const run = await dispatched(issue);
    const { pullNumber } = run.state.github!;
    const isSaid = async () =>
      (await commentsOf(pullNumber)).filter((body) => body.includes('No runner has taken the job'));

    // Two instances later: the first looks too early, the second before five minutes are over.
    for (const minutes of [1, 4.5]) {
      await app.stop(5);
      const reads = world.watch.counts.responses;
      app = await startApp({ ...world.settings, now: () => new Date(Date.now() + minutes * 60_000) }, log);
      await eventually('a look at GitHub', async () =>
        world.watch.counts.responses > reads + 2 ? true : undefined,
      );
      if (minutes < 2) expect(await isSaid()).toEqual([]);
    }
    const [words] = await eventually('the word', async () => {
      const said = await isSaid();
      return said.length > 0 ? said : undefined;
    });
    expect(words).toContain('`metainfer-cpu-avx2` and `big-memory`');
    expect(words).toContain('No runner seen here has `big-memory`');
    expect(words).toContain('`scripted-runner` with `self-hosted`');
    expect(await isSaid()).toHaveLength(1);
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
