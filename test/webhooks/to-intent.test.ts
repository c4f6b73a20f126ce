import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Intent } from '../../src/model/github.ts';
import { repositoryUpdatedAt } from '../../src/webhooks/repository-updated-at.ts';
import { toIntent } from '../../src/webhooks/to-intent.ts';
import { openGitHubSchemas } from '../support/github-schemas.ts';
import { bot, githubPayload, githubUser, person, place, repositoryRef } from './github-payload.ts';

const schemas = openGitHubSchemas();
const ada = { id: 1001, login: 'ada', isBot: false };
const sha = 'a'.repeat(40);

/** The intent of a payload that GitHub's published schema accepts. */
function intentOf(event: string, action: string, fields: object): Intent {
  const payload = githubPayload(event, action, { ...place, sender: person, ...fields });
  expect(schemas.checkWebhook(event, action, payload)).toEqual([]);
  return toIntent(event, payload);
}

function ignoredBecause(intent: Intent): string | undefined {
  return intent.kind === 'ignored' ? intent.because : undefined;
}

describe('issues', () => {
  const issue = { number: 12, title: 'Engine', body: 'text', user: person, state: 'open' };

  it('takes a newly opened issue with everything that the run needs to know', () => {
    expect(intentOf('issues', 'opened', { issue })).toEqual({
      kind: 'consider-issue',
      repository: repositoryRef,
      actor: ada,
      issue: 12,
      title: 'Engine',
      body: 'text',
      author: ada,
      labels: [],
      reason: 'opened',
    });
  });

  it('takes the sender of the event as the actor, not the author of the issue', () => {
    const grace = githubUser(1003, 'grace', 'User');
    expect(
      intentOf('issues', 'edited', { issue, sender: grace, changes: { body: { from: 'old' } } }),
    ).toMatchObject({ reason: 'edited', actor: { login: 'grace' }, author: { login: 'ada' } });
  });

  it('reads an empty body as no text', () => {
    expect(intentOf('issues', 'reopened', { issue: { ...issue, body: null } })).toMatchObject({
      reason: 'reopened',
      body: '',
    });
  });

  it('names ghost as the author where the account was deleted', () => {
    expect(intentOf('issues', 'reopened', { issue: { ...issue, user: null } })).toMatchObject({
      author: { login: 'ghost', isBot: false },
    });
  });

  it('ignores an edit of the title alone', () => {
    const changes = { title: { from: 'old' } };
    expect(ignoredBecause(intentOf('issues', 'edited', { issue, changes }))).toBe('the body was not edited');
  });

  const label = (name: string) => ({
    id: 3,
    node_id: 'x',
    url: 'https://api.github.com/x',
    name,
    color: 'ededed',
    default: false,
    description: null,
  });

  it('takes the label that lets a request through, with the labels of the issue', () => {
    const approved = label('metainfer:approved');
    const labelled = { ...issue, labels: [approved] };
    expect(intentOf('issues', 'labeled', { issue: labelled, label: approved })).toMatchObject({
      reason: 'labeled',
      label: 'metainfer:approved',
      labels: ['metainfer:approved'],
    });
  });

  it('ignores labels of other kinds: opening an issue with labels sends one event for each', () => {
    expect(ignoredBecause(intentOf('issues', 'labeled', { issue, label: label('bug') }))).toBe(
      'the label is not one of ours',
    );
  });

  it('ignores closed issues', () => {
    const changes = { body: { from: 'old' } };
    const closed = { ...issue, state: 'closed' };
    expect(ignoredBecause(intentOf('issues', 'edited', { issue: closed, changes }))).toBe(
      'the issue is closed',
    );
  });

  it('ignores what a bot did, its own edits included', () => {
    expect(ignoredBecause(intentOf('issues', 'opened', { issue, sender: bot }))).toBe('a bot did it');
  });

  it('ignores actions that it has no use for', () => {
    expect(
      ignoredBecause(
        toIntent('issues', githubPayload('issues', 'pinned', { ...place, issue, sender: person })),
      ),
    ).toBe('issues.pinned is not used');
  });
});

describe('comments', () => {
  const comment = (body: string) => ({ id: 900, body, user: person });

  it('reads the commands of a comment on an issue', () => {
    const fields = { issue: { number: 12, user: person }, comment: comment('please\r\n/metainfer status') };
    expect(intentOf('issue_comment', 'created', fields)).toEqual({
      kind: 'command',
      repository: repositoryRef,
      actor: ada,
      place: { number: 12, isPull: false, comment: { kind: 'issue-comment', id: 900 } },
      commands: [{ kind: 'command', name: 'status', arguments: {} }],
    });
  });

  it('tells a comment on a pull request from one on an issue', () => {
    const link = 'https://api.github.com/x';
    const pull = { url: link, html_url: link, diff_url: link, patch_url: link };
    const fields = {
      issue: { number: 13, user: person, pull_request: pull },
      comment: comment('/metainfer retry'),
    };
    expect(intentOf('issue_comment', 'created', fields)).toMatchObject({
      place: { number: 13, isPull: true },
    });
  });

  it('reads the commands of a comment on a line of a pull request', () => {
    const fields = { pull_request: { number: 13 }, comment: comment('/metainfer help') };
    expect(intentOf('pull_request_review_comment', 'created', fields)).toMatchObject({
      kind: 'command',
      place: { number: 13, isPull: true, comment: { kind: 'review-comment', id: 900, threadId: 900 } },
    });
  });

  it('keeps a line that is not understood, so that its writer gets an answer', () => {
    const fields = { issue: { number: 12, user: person }, comment: comment('/metainfer genrate') };
    expect(intentOf('issue_comment', 'created', fields)).toMatchObject({
      commands: [{ kind: 'not-understood', line: '/metainfer genrate' }],
    });
  });

  it('ignores edited comments, comments without a command, and comments of bots', () => {
    const issue = { number: 12, user: person };
    const command = comment('/metainfer generate');
    expect(ignoredBecause(intentOf('issue_comment', 'edited', { issue, comment: command }))).toBe(
      'issue_comment.edited is not used',
    );
    expect(ignoredBecause(intentOf('issue_comment', 'created', { issue, comment: comment('thanks!') }))).toBe(
      'the comment holds no command',
    );
    expect(
      ignoredBecause(intentOf('issue_comment', 'created', { issue, comment: command, sender: bot })),
    ).toBe('a bot wrote it');
  });
});

describe('pull requests', () => {
  const pull = (over: object = {}) => ({
    number: 13,
    user: person,
    draft: false,
    head: { ref: 'add-engine', sha, repo: { id: 77 } },
    base: { ref: 'trunk' },
    ...over,
  });

  it.each(['opened', 'synchronize', 'ready_for_review', 'reopened'])('looks at one that was %s', (action) => {
    const more = action === 'synchronize' ? { before: 'b'.repeat(40), after: sha } : {};
    expect(intentOf('pull_request', action, { number: 13, pull_request: pull(), ...more })).toEqual({
      kind: 'consider-pull',
      repository: repositoryRef,
      actor: ada,
      pull: 13,
      author: ada,
      headSha: sha,
      headRef: 'add-engine',
      baseRef: 'trunk',
      isFork: false,
      isDraft: false,
      reason: action,
    });
  });

  it('knows a fork by the id of its repository, also where the fork was deleted', () => {
    const fork = pull({ head: { ref: 'x', sha, repo: { id: 78 } } });
    const gone = pull({ head: { ref: 'x', sha, repo: null } });
    expect(intentOf('pull_request', 'opened', { pull_request: fork })).toMatchObject({ isFork: true });
    expect(
      toIntent('pull_request', { action: 'opened', ...place, sender: person, pull_request: gone }),
    ).toMatchObject({ kind: 'consider-pull', isFork: true });
  });

  it('looks at pull requests of bots, but not at the engines that this app pushed', () => {
    const own = pull({ user: bot, head: { ref: 'metainfer/12-qwen', sha, repo: { id: 77 } } });
    expect(
      intentOf('pull_request', 'opened', { pull_request: pull({ user: bot }), sender: bot }),
    ).toMatchObject({
      kind: 'consider-pull',
      actor: { isBot: true },
    });
    expect(ignoredBecause(intentOf('pull_request', 'opened', { pull_request: own, sender: bot }))).toBe(
      'it is an engine of our own',
    );
    expect(intentOf('pull_request', 'opened', { pull_request: own }).kind).toBe('consider-pull');
  });

  it('tells a merge from a close', () => {
    const closed = (merged: boolean) =>
      intentOf('pull_request', 'closed', { pull_request: pull({ merged }) });
    expect(closed(true)).toEqual({
      kind: 'pull-closed',
      repository: repositoryRef,
      actor: ada,
      pull: 13,
      headRef: 'add-engine',
      isMerged: true,
    });
    expect(closed(false)).toMatchObject({ isMerged: false });
  });
});

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

describe('anything else', () => {
  it('ignores events that it has no use for', () => {
    expect(toIntent('star', { action: 'created' })).toEqual({
      kind: 'ignored',
      because: 'the event "star" is not used',
    });
  });

  it('says where a payload is not as expected', () => {
    expect(ignoredBecause(toIntent('issues', { action: 'opened', ...place, sender: person }))).toMatch(
      /^the payload is not as expected at issue: /,
    );
  });

  it('ignores what came without an installation: a webhook of the repository and not of the app', () => {
    const { installation: _, ...rest } = place;
    const payload = githubPayload('workflow_job', 'queued', { ...rest, sender: person });
    expect(ignoredBecause(toIntent('workflow_job', payload))).toMatch(/at installation: /);
  });

  const events = ['issues', 'issue_comment', 'pull_request', 'check_run', 'workflow_run', 'installation'];
  it('never throws, whatever the event and the payload', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...events), fc.string()), fc.anything(), (event, payload) => {
        expect(toIntent(event, payload)).toHaveProperty('kind');
      }),
      { numRuns: 500 },
    );
  });

  it('never throws where one field of a real payload is something else', () => {
    const payload = githubPayload('issue_comment', 'created', {
      ...place,
      sender: person,
      issue: { number: 12, user: person },
      comment: { id: 900, body: '/metainfer status' },
    });
    const paths = fc.constantFrom(
      ...[['comment'], ['comment', 'body'], ['issue', 'number'], ['sender', 'type'], ['repository', 'owner']],
    );
    fc.assert(
      fc.property(paths, fc.anything(), ([outer, inner], value) => {
        const broken = inner === undefined ? value : { ...(payload[outer!] as object), [inner]: value };
        expect(toIntent('issue_comment', { ...payload, [outer!]: broken })).toHaveProperty('kind');
      }),
    );
  });
});
