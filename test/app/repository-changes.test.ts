import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../../src/app.ts';
import { shortRepository } from '../../src/local/github/accounts.ts';
import { renderInstallation } from '../../src/local/github/render.ts';
import type { Repository } from '../../src/local/github/world.ts';
import type { RunRecord } from '../../src/model/run-record.ts';
import { isOpen } from '../../src/pipeline.ts';
import { type BotWorld, engineRequest, eventually, log, startBotWorld } from '../support/bot-world.ts';

type Changes = Partial<Pick<Repository, 'name' | 'owner' | 'isPrivate' | 'defaultBranch'>>;

describe('a repository that changes while the app is installed', () => {
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

  const path = () => `/repos/${world.seed.repository.owner.login}/${world.seed.repository.name}`;

  async function dispatched(name: string): Promise<RunRecord> {
    const body = await engineRequest([[/^name: tiny-qwen3/m, `name: ${name}`]]);
    const { body: issue } = await world.ada('POST', `${path()}/issues`, { title: name, body });
    return eventually('the dispatch', async () => {
      const [run] = await app.store.listRuns({
        ...{ sourceKind: 'issue', sourceNumber: issue.number, limit: 1 },
      });
      return run?.state.waitingFor === 'workflow' ? run : undefined;
    });
  }

  const runOf = async (id: string) => (await app.store.findRun(id))!;

  async function ended(id: string): Promise<RunRecord> {
    return eventually('the end', async () => {
      const run = await runOf(id);
      return isOpen(run.state) ? undefined : run;
    });
  }

  /** As somebody changes the settings of the repository on GitHub. */
  function change(action: string, to: Changes): void {
    const { repository } = world.seed;
    const from = repository.name;
    Object.assign(repository, to);
    const changes = action === 'renamed' ? { changes: { repository: { name: { from } } } } : {};
    const [ada] = [...world.github.world.users.values()].filter(({ login }) => login === 'ada');
    world.github.world.emit(repository, 'repository', { action, ...changes }, ada!);
  }

  let first: RunRecord;

  it('is spoken to by its new name, in the middle of a run too', async () => {
    first = await dispatched('moving');
    change('renamed', { name: 'moved' });
    await eventually('the new name', async () =>
      (await runOf(first.id)).repository.name === 'moved' ? true : undefined,
    );
    const runner = world.startRunner('passes');
    const end = await ended(first.id);
    await runner.stop();
    expect(end.state).toMatchObject({ status: 'passed' });
    const { body: pull } = await world.ada('GET', `${path()}/pulls/${end.state.github!.pullNumber}`);
    expect([path(), pull.draft]).toEqual(['/repos/example/moved', false]);
  });

  it('and was made private is shown to nobody any more', async () => {
    const page = async () => (await fetch(`${app.url}/runs/${first.number}`)).status;
    expect(await page()).toBe(200);
    change('privatized', { isPrivate: true });
    await eventually('the page to be gone', async () => ((await page()) === 404 ? true : undefined));
    expect(await (await fetch(`${app.url}/runs`)).text()).not.toContain('moving');
    change('publicized', { isPrivate: false });
    await eventually('the page to be back', async () => ((await page()) === 200 ? true : undefined));
  });

  it('where the app was taken away and came back is reached by the new installation', async () => {
    const { world: github } = world.github;
    const run = await dispatched('reinstalled');
    const [old] = [...github.installations.values()].filter(({ app: { id } }) => id === world.settings.appId);
    github.emit(
      old!,
      'installation',
      {
        action: 'deleted',
        installation: renderInstallation(github, old!),
        repositories: [shortRepository(github, world.seed.repository)],
        requester: null,
      },
      old!.account,
    );
    github.installations.delete(old!.id);
    expect((await ended(run.id)).state.status).toBe('cancelled');
    world.seed.install();
    await world.ada('POST', `${path()}/issues/${run.source.number}/comments`, { body: '/metainfer retry' });
    const again = await eventually('the second dispatch', async () => {
      const current = await runOf(run.id);
      return current.state.waitingFor === 'workflow' ? current : undefined;
    });
    expect(again.state.attempt).toBe(2);
    expect(again.repository.installationId).toBeGreaterThan(old!.id);
  });

  it('used only answers and webhooks that are as GitHub publishes them', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
