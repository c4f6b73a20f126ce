import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RepositoryClient } from '../../../src/adapters/github/repository-client.ts';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const root = '/repos/octo/engines';
const branch = 'metainfer/7-tiny';
const badGateway = { status: 502, body: { message: 'Server Error' } };
const shaOf = (number: number) => String(number).padStart(40, '0');

let github: ScriptedGitHub;
let app: AppUnderTest;

beforeEach(async () => {
  github = await startScriptedGitHub();
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);

describe('a pull request', () => {
  const draft = { head: branch, base: 'main', title: 'Engine for tiny', body: 'What it is.' };
  const key = { scope: 'run-1', key: 'pull' };
  const pullsPath = new RegExp(`^${root}/pulls$`);
  let pulls: Record<string, unknown>[];

  function addPull(body: Record<string, unknown>): Record<string, unknown> {
    const number = 20 + pulls.length;
    const pull = {
      number,
      node_id: `PR_${number}`,
      html_url: `https://x/pull/${number}`,
      state: 'open',
      draft: body.draft,
      merged_at: null,
      body: body.body,
      head: { ref: body.head, sha: shaOf(2), repo: { id: 1 } },
      base: { ref: body.base, repo: { id: 1 } },
    };
    pulls.push(pull);
    return pull;
  }

  beforeEach(() => {
    pulls = [];
    github.on('GET', pullsPath, () => ({ status: 200, body: pulls }));
    github.on('POST', pullsPath, ({ body }) => {
      if (pulls.some((pull) => (pull.head as { ref: string }).ref === body.head)) {
        const errors = [{ message: `A pull request already exists for octo:${body.head}.` }];
        return { status: 422, body: { message: 'Validation Failed', errors } };
      }
      return { status: 201, body: addPull(body) };
    });
    github.on('GET', new RegExp(`^${root}/pulls/(\\d+)$`), (_request, [, number]) => {
      const pull = pulls.find((it) => it.number === Number(number));
      return pull === undefined ? { status: 404, body: {} } : { status: 200, body: pull };
    });
  });

  const expected = {
    number: 20,
    nodeId: 'PR_20',
    url: 'https://x/pull/20',
    state: 'open',
    isDraft: true,
    isMerged: false,
    headRef: branch,
    headSha: shaOf(2),
    baseRef: 'main',
    isFork: false,
  } satisfies Awaited<ReturnType<RepositoryClient['openPull']>>;

  it('is opened as a draft once', async () => {
    expect(await repository().openPull(key, draft)).toEqual(expected);
    expect(await repository().openPull(key, draft)).toEqual(expected);
    expect(pulls).toHaveLength(1);
    expect(pulls[0]?.body).toBe('<!-- metainfer:pull run-1 -->\nWhat it is.');
  });

  it('is found by its branch after a lost answer and after a crash', async () => {
    github.faults.push({ method: 'POST', path: pullsPath, reply: badGateway, lands: true });
    expect(await repository().openPull(key, draft)).toEqual(expected);
    app.effects.records.clear();
    await app.effects.begin(key.scope, key.key);
    expect(await repository().openPull(key, draft)).toEqual(expected);
    expect(pulls).toHaveLength(1);
  });

  it('is taken over where a person was faster to open it from our branch', async () => {
    addPull({ head: branch, base: 'main', draft: false, body: 'mine' });
    expect((await repository().openPull(key, draft)).number).toBe(20);
    expect(pulls).toHaveLength(1);
  });

  it('is not mistaken for another one that GitHub lists beside it', async () => {
    addPull({ head: 'other', base: 'main', draft: true, body: '' });
    await app.effects.begin(key.scope, key.key);
    expect((await repository().openPull(key, draft)).number).toBe(21);
  });

  it('of a deleted fork counts as from a fork', async () => {
    const pull = addPull({ head: 'x', base: 'main', draft: false, body: '' });
    pull.head = { ref: 'x', sha: shaOf(2), repo: null };
    expect(await repository().readPull(20)).toMatchObject({ isFork: true, isDraft: false });
  });

  it('gets its new body and is marked ready in one GraphQL request', async () => {
    github.on('POST', /^\/graphql$/, () => ({ status: 200, body: { data: {} } }));
    const ready = { scope: 'run-1', key: 'ready' };
    await repository().markReady(ready, { nodeId: 'PR_20', body: 'Closes #7' });
    await repository().markReady(ready, { nodeId: 'PR_20', body: 'Closes #7' });
    const [request, ...more] = github.seen.filter(({ path }) => path === '/graphql');
    expect(more).toEqual([]);
    expect(request?.body.variables).toEqual({
      id: 'PR_20',
      body: '<!-- metainfer:ready run-1 -->\nCloses #7',
    });
    expect(request?.body.query).toContain('markPullRequestReadyForReview');
  });

  it('that a person marked ready meanwhile is no fault, a missing permission is', async () => {
    const answers = (type: string, message: string, at: string) => ({
      status: 200,
      body: { data: { [at]: null }, errors: [{ type, message, path: [at] }] },
    });
    const ready = { scope: 'run-1', key: 'ready' };
    const at = 'markPullRequestReadyForReview';
    github.on('POST', /^\/graphql$/, () => answers('UNPROCESSABLE', 'Pull request is not a draft', at));
    await repository().markReady(ready, { nodeId: 'PR_20', body: 'one' });
    github.on('POST', /^\/graphql$/, () =>
      answers('FORBIDDEN', 'Resource not accessible by integration', 'updatePullRequest'),
    );
    await expect(repository().markReady(ready, { nodeId: 'PR_20', body: 'two' })).rejects.toMatchObject({
      code: 'NOT_PERMITTED',
      message: expect.stringContaining('pull_requests: write'),
    });
  });

  it('is still made where GitHub refuses its reviewers', async () => {
    const reviewers = /\/pulls\/20\/requested_reviewers$/;
    github.on('POST', reviewers, () => ({ status: 422, body: { message: 'Reviews may only be requested' } }));
    const request = { users: ['ada'], teams: ['core'] };
    await repository().requestReviewers({ scope: 'run-1', key: 'reviewers' }, 20, request);
    await repository().requestReviewers({ scope: 'run-1', key: 'reviewers' }, 20, request);
    await repository().requestReviewers({ scope: 'run-1', key: 'nobody' }, 20, { users: [], teams: [] });
    const sent = github.seen.filter(({ path }) => reviewers.test(path));
    expect(sent.map(({ body }) => body)).toEqual([{ reviewers: ['ada'], team_reviewers: ['core'] }]);
  });
});
