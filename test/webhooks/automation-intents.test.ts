import { describe, expect, it } from 'vitest';
import type { Intent } from '../../src/model/github.ts';
import { repositoryUpdatedAt } from '../../src/webhooks/repository-updated-at.ts';
import { toIntent } from '../../src/webhooks/to-intent.ts';
import { bot, githubPayload, githubUser, person, repositoryRef } from './github-payload.ts';
import { ignoredBecause, intentOf, schemas } from './intent-of.ts';

const ada = { id: 1001, login: 'ada', isBot: false };
const _sha = 'a'.repeat(40);

describe('checks', () => {
  const check = { id: 500, name: 'metainfer', external_id: 'run-1' };
  const press = (identifier: string, over: object = {}) =>
    intentOf('check_run', 'requested_action', {
      check_run: { ...check, ...over },
      requested_action: { identifier },
    });

  it('reads its two buttons', () => {
    expect(press('cancel')).toEqual({
      kind: 'check-button',
      repository: repositoryRef,
      actor: ada,
      action: 'cancel',
      checkRunId: 500,
      externalId: 'run-1',
    });
    expect(press('retry')).toMatchObject({ action: 'retry' });
  });

  it('takes "Re-run" as retry', () => {
    expect(intentOf('check_run', 'rerequested', { check_run: check })).toMatchObject({ action: 'retry' });
  });

  it('ignores unknown buttons and other checks', () => {
    expect(ignoredBecause(press('accept'))).toBe('the check has no such button');
    expect(ignoredBecause(press('retry', { name: 'lint' }))).toBe('the check is not ours');
  });

  it('ignores the creation of a check, which is its own doing', () => {
    expect(ignoredBecause(intentOf('check_run', 'created', { check_run: check }))).toBe(
      'check_run.created is not used',
    );
  });
});

describe('workflows', () => {
  const run = {
    id: 700,
    path: '.github/workflows/metainfer-engine.yml',
    event: 'workflow_dispatch',
    display_title: 'metainfer run-1-1',
    status: 'completed',
    conclusion: 'success',
  };

  it('takes the end of an engine run, although a bot dispatched it', () => {
    expect(intentOf('workflow_run', 'completed', { workflow_run: run, sender: bot })).toEqual({
      kind: 'workflow-moved',
      repository: repositoryRef,
      workflowRunId: 700,
      path: '.github/workflows/metainfer-engine.yml',
      event: 'workflow_dispatch',
      displayTitle: 'metainfer run-1-1',
      status: 'completed',
      conclusion: 'success',
    });
  });

  it('reads a path with the ref behind it', () => {
    const withRef = { ...run, path: `${run.path}@refs/heads/trunk` };
    expect(intentOf('workflow_run', 'completed', { workflow_run: withRef })).toMatchObject({
      path: run.path,
    });
  });

  it.each([
    ['another workflow', { path: '.github/workflows/ci.yml' }, 'it is another workflow'],
    ['a look-alike path', { path: 'x/.github/workflows/metainfer-engine.yml' }, 'it is another workflow'],
    ['our workflow, pushed to', { event: 'push' }, 'the workflow was not dispatched'],
  ])('ignores %s', (_, over, because) => {
    expect(ignoredBecause(intentOf('workflow_run', 'completed', { workflow_run: { ...run, ...over } }))).toBe(
      because,
    );
  });

  it('takes a queued job with its labels and no runner yet', () => {
    const job = { run_id: 700, status: 'queued', labels: ['self-hosted', 'metainfer-cpu-avx2'] };
    expect(intentOf('workflow_job', 'queued', { workflow_job: job })).toEqual({
      kind: 'job-moved',
      repository: repositoryRef,
      workflowRunId: 700,
      status: 'queued',
      labels: ['self-hosted', 'metainfer-cpu-avx2'],
      runnerName: null,
    });
  });

  it('names the runner of a job that began', () => {
    const job = { run_id: 700, status: 'in_progress', labels: [], runner_name: 'bench-1' };
    expect(intentOf('workflow_job', 'in_progress', { workflow_job: job })).toMatchObject({
      runnerName: 'bench-1',
    });
  });
});

describe('installations and repositories', () => {
  const organization = githubUser(9, 'acme', 'Organization');
  const installation = { id: 5, account: organization };
  const listed = (id: number, name: string) => ({
    id,
    name,
    full_name: `acme/${name}`,
    node_id: 'x',
    private: false,
  });
  const intentWithout = (event: string, action: string, fields: object): Intent => {
    const payload = githubPayload(event, action, { sender: person, installation, ...fields });
    expect(schemas.checkWebhook(event, action, payload)).toEqual([]);
    return toIntent(event, payload);
  };

  it('names the repositories of a new installation', () => {
    expect(intentWithout('installation', 'created', { repositories: [listed(77, 'engines')] })).toEqual({
      kind: 'installation-changed',
      installationId: 5,
      action: 'created',
      account: 'acme',
      added: ['acme/engines'],
      removedRepositoryIds: [],
    });
  });

  it('names the repositories that an uninstalled app has lost', () => {
    expect(intentWithout('installation', 'deleted', { repositories: [listed(77, 'engines')] })).toMatchObject(
      {
        added: [],
        removedRepositoryIds: [77],
      },
    );
  });

  it('names what was added to and removed from an installation', () => {
    expect(
      intentWithout('installation_repositories', 'added', { repositories_added: [listed(78, 'more')] }),
    ).toMatchObject({ added: ['acme/more'], removedRepositoryIds: [] });
    expect(
      intentWithout('installation_repositories', 'removed', {
        repositories_removed: [listed(77, 'engines')],
      }),
    ).toMatchObject({ added: [], removedRepositoryIds: [77] });
  });

  it('notices a renamed repository', () => {
    expect(intentOf('repository', 'renamed', {})).toEqual({
      kind: 'repository-changed',
      repositoryId: 77,
      repository: repositoryRef,
      action: 'renamed',
    });
  });

  it('notices that a repository is gone of which little is told', () => {
    const payload = { action: 'deleted', repository: { id: 77 }, installation: { id: 5 } };
    expect(toIntent('repository', payload)).toEqual({
      kind: 'repository-changed',
      repositoryId: 77,
      action: 'deleted',
    });
  });
});

describe("GitHub's time of a repository", () => {
  it.each([
    [{ repository: { updated_at: '2026-11-30T09:00:00Z' } }, new Date('2026-11-30T09:00:00Z')],
    [{ repository: { updated_at: 'yesterday' } }, null],
    [{ repository: { updated_at: 1764493200 } }, null],
    [{ installation: {} }, null],
    ['nothing', null],
  ])('in %j', (payload, expected) => {
    expect(repositoryUpdatedAt(payload)).toEqual(expected);
  });
});
