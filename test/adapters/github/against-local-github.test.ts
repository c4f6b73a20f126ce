import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepositoryClient } from '../../../src/adapters/github/repository-client.ts';
import { type LocalGitHub, startLocalGitHub } from '../../../src/local/github/local-github.ts';
import type { Repository } from '../../../src/local/github/world.ts';
import { type AppUnderTest, openApp } from './app-under-test.ts';

const workflowPath = '.github/workflows/metainfer-engine.yml';
const workflow = `name: metainfer engine
run-name: metainfer \${{ inputs.request_id }}
on:
  workflow_dispatch:
    inputs:
      request_id:
        required: true
        type: string
jobs:
  judge:
    runs-on: [self-hosted, metainfer]
    steps: []
`;
const source = Array.from({ length: 30 }, (_, index) => `int value_${index + 1};\n`).join('');
const branch = 'metainfer/1-tiny';
const once = (key: string) => ({ scope: 'run-1', key });

let github: LocalGitHub;
let app: AppUnderTest;
let client: RepositoryClient;
let stored: Repository;
/** Requests that land although their answer is a 502, once each: method and the end of the path. */
const lostAnswers: { readonly method: string; readonly path: RegExp }[] = [];

beforeAll(async () => {
  github = await startLocalGitHub({
    intercept: ({ method, path }) => {
      const index = lostAnswers.findIndex((it) => it.method === method && it.path.test(path));
      if (index < 0) return undefined;
      lostAnswers.splice(index, 1);
      return 'drop-after';
    },
  });
  stored = await github.addRepository('octo', 'engines', {
    files: { 'README.md': '# engines\n', [workflowPath]: workflow },
  });
  const permissions = {
    contents: 'write',
    issues: 'write',
    pull_requests: 'write',
    checks: 'write',
    actions: 'write',
  };
  const hooks = { events: [], webhookUrl: 'http://127.0.0.1:9/', webhookSecret: 'secret' };
  const { app: registered, appId, privateKey } = github.addApp({ name: 'MetaInfer', permissions, ...hooks });
  const installation = github.install(registered, [stored]);
  app = openApp(github.apiUrl, { appId, privateKey });
  client = app.client.repository({
    id: stored.id,
    owner: 'octo',
    name: 'engines',
    isPrivate: false,
    defaultBranch: 'main',
    installationId: installation.id,
  });
  await asPerson('POST', '/issues', { title: 'An engine, please', body: 'constraints' });
}, 60_000);
afterAll(() => github.stop());

async function asPerson(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${github.apiUrl}/repos/octo/engines${path}`, {
    method,
    headers: {
      authorization: `token ${github.userToken('octo')}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

const engine = {
  branch,
  base: 'main',
  expectedHead: undefined,
  files: [{ path: 'engines/tiny/main.cpp', text: source }],
  message: 'Engine',
  trailers: { 'Metainfer-Run': 'run-1' },
};

// The steps of one run, in order: each needs what the one before left on GitHub.
describe('the adapter against the local GitHub', () => {
  it('mints tokens and reads the app, its permissions, an issue and people under a base URL', async () => {
    expect((await app.client.whoami()).slug).toBe('metainfer');
    expect(await client.grantedPermissions()).toMatchObject({ checks: 'write', metadata: 'read' });
    expect(await client.readIssue(1)).toMatchObject({ body: 'constraints', state: 'open', isPull: false });
    const owner = { id: stored.owner.id, login: 'octo' };
    expect(await client.permissionOf(owner)).toBe('admin');
    expect(await client.permissionOf({ ...owner, id: 1 })).toBe('none');
    expect(await client.readFile('README.md')).toBe('# engines\n');
    expect(await client.readFile('nothing.md', 'main')).toBeUndefined();
  });

  it('reacts, labels and keeps one sticky comment', async () => {
    await client.react({ kind: 'issue', number: 1 }, 'eyes');
    await client.react({ kind: 'issue', number: 1 }, 'eyes');
    await client.addLabel(1, 'metainfer:needs-knowledge');
    expect((await client.readIssue(1)).labels).toEqual(['metainfer:needs-knowledge']);
    await client.removeLabel(1, 'metainfer:needs-knowledge');
    await client.removeLabel(1, 'metainfer:needs-knowledge');
    lostAnswers.push({ method: 'POST', path: /\/issues\/1\/comments$/ });
    const first = await client.upsertComment(once('status'), 1, 'planning');
    expect(await client.upsertComment(once('status'), 1, 'planned')).toEqual(first);
    const comments = (await asPerson('GET', '/issues/1/comments')) as unknown as { body: string }[];
    expect(comments.map(({ body }) => body)).toEqual(['<!-- metainfer:status run-1 -->\nplanned']);
  });

  it('commits onto a branch of its own, through lost answers, and moves nothing by force', async () => {
    lostAnswers.push({ method: 'POST', path: /\/git\/refs$/ });
    const first = await client.commitFiles(once('engine'), engine);
    expect((await client.readBranch(branch))?.sha).toBe(first.sha);
    expect(await client.readFile('engines/tiny/main.cpp', branch)).toBe(source);
    expect(await client.readFile('README.md', branch)).toBe('# engines\n');
    await expect(client.commitFiles(once('again'), engine)).rejects.toMatchObject({ code: 'BRANCH_MOVED' });
    await app.effects.begin('run-1', 'engine');
    expect(await client.commitFiles(once('engine'), engine)).toEqual(first);
  });

  it('opens one draft pull request, however often it is asked', async () => {
    const draft = { head: branch, base: 'main', title: 'Engine', body: 'Being judged.' };
    lostAnswers.push({ method: 'POST', path: /\/pulls$/ });
    const pull = await client.openPull(once('pull'), draft);
    expect(pull).toMatchObject({ number: 2, isDraft: true, headRef: branch, isFork: false, state: 'open' });
    app.effects.records.delete('run-1 pull');
    expect(await client.openPull(once('pull'), draft)).toEqual(pull);
    const files = await client.listPullFiles(2);
    expect(files.map(({ path, status }) => [path, status])).toEqual([['engines/tiny/main.cpp', 'added']]);
  });

  it('gives every finding a place, although one line is not in the diff', async () => {
    const pull = await client.readPull(2);
    lostAnswers.push({ method: 'POST', path: /\/pulls\/2\/reviews$/ });
    const review = await client.createReview(once('review'), 2, pull.headSha, {
      body: 'Two findings.',
      comments: [
        { path: 'engines/tiny/main.cpp', line: 5, startLine: 4, body: 'inline' },
        { path: 'engines/tiny/main.cpp', line: 99, body: 'beyond the file' },
      ],
      fileComments: [],
    });
    expect(review.url).toContain('/pull/2');
    const reviews = (await asPerson('GET', '/pulls/2/reviews')) as unknown as { state: string }[];
    expect(reviews.map(({ state }) => state)).toContain('COMMENTED');
    const comments = (await asPerson('GET', '/pulls/2/comments')) as unknown as {
      id: number;
      body: string;
      subject_type: string;
    }[];
    expect(comments.map(({ body, subject_type }) => [body.split('\n').at(-1), subject_type])).toEqual([
      ['inline', 'line'],
      ['beyond the file', 'file'],
    ]);
    const [inline] = comments;
    await client.replyToReviewComment(once('reply'), 2, inline?.id ?? 0, 'As you wish.');
    await client.react({ kind: 'review-comment', id: inline?.id ?? 0 }, 'rocket');
  });

  it('keeps one check with all its annotations', async () => {
    const { headSha } = await client.readPull(2);
    const annotations = Array.from({ length: 60 }, (_, index) => ({
      path: 'engines/tiny/main.cpp',
      startLine: index + 1,
      endLine: index + 1,
      level: 'warning' as const,
      message: `finding ${index + 1}`,
    }));
    const running = {
      status: 'in_progress' as const,
      title: 'Judging',
      summary: 'on its way',
      annotations: [],
      actions: [{ label: 'Cancel', description: 'Stop this run', identifier: 'cancel' as const }],
    };
    lostAnswers.push({ method: 'POST', path: /\/check-runs$/ });
    const check = await client.createCheck(once('check'), headSha, 'run-1-1', running, 'https://x/runs/1');
    lostAnswers.push({ method: 'PATCH', path: /\/check-runs\/\d+$/ });
    await client.updateCheck(once('check-end'), check.id, {
      ...running,
      status: 'completed',
      conclusion: 'failure',
      annotations,
      actions: [],
    });
    const { check_runs: checks } = await asPerson('GET', `/commits/${headSha}/check-runs`);
    expect(checks).toMatchObject([
      { id: check.id, conclusion: 'failure', external_id: 'run-1-1', output: { annotations_count: 60 } },
    ]);
  });

  it('dispatches once, finds the run again and can cancel it', async () => {
    expect(await client.readWorkflow(workflowPath)).toEqual({ state: 'active', text: workflow });
    expect(await client.readWorkflow('.github/workflows/other.yml')).toBeUndefined();
    lostAnswers.push({ method: 'POST', path: /\/dispatches$/ });
    const inputs = { request_id: 'run-1-1' };
    const { workflowRunId } = await client.dispatchWorkflow(once('dispatch'), workflowPath, inputs);
    const found = await client.findWorkflowRun(workflowPath, 'run-1-1');
    expect(found).toMatchObject({ id: workflowRunId, path: workflowPath, event: 'workflow_dispatch' });
    expect(await client.listWorkflowJobs(workflowRunId ?? 0)).toMatchObject([
      { status: 'queued', labels: ['self-hosted', 'metainfer'], runnerName: null },
    ]);
    expect(await client.downloadArtifact(workflowRunId ?? 0, 'metainfer-run-1-1', 1000)).toBeUndefined();
    await client.cancelWorkflowRun(workflowRunId ?? 0);
    await client.cancelWorkflowRun(workflowRunId ?? 0);
    expect(await client.readWorkflowRun(workflowRunId ?? 0)).toMatchObject({ conclusion: 'cancelled' });
    await expect(
      client.dispatchWorkflow(once('bad'), workflowPath, { unknown: 'input', request_id: 'x' }),
    ).rejects.toMatchObject({ code: 'WORKFLOW_MISSING' });
  });

  it('commits the report on top and marks the pull request ready with its new body', async () => {
    const head = await client.readBranch(branch);
    const report = await client.commitFiles(once('report'), {
      ...engine,
      expectedHead: head?.sha,
      files: [{ path: 'engines/tiny/report.json', text: '{}\n' }],
      deletions: ['engines/tiny/main.cpp', 'engines/tiny/never-there.cpp'],
    });
    expect(await client.readFile('engines/tiny/main.cpp', report.sha)).toBeUndefined();
    const { nodeId, headSha } = await client.readPull(2);
    expect(headSha).toBe(report.sha);
    await client.markReady(once('ready'), { nodeId, body: 'Closes #1' });
    expect((await client.readPull(2)).isDraft).toBe(false);
    expect((await client.readIssue(2)).body).toBe('<!-- metainfer:ready run-1 -->\nCloses #1');
    await client.updatePullBody(once('body'), 2, 'Closes #1 soon');
    await client.requestReviewers(once('reviewers'), 2, { users: ['nobody-here'], teams: [] });
    expect(lostAnswers).toEqual([]);
  });
});
