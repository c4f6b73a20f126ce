import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGit } from '../../../src/local/github/git.ts';
import { base, type ConversationWorld, openConversationWorld } from './conversation-world.ts';

const lines = (change: (line: number) => string | undefined = () => undefined) =>
  Array.from({ length: 40 }, (_, index) => `${change(index + 1) ?? `line ${index + 1}`}\n`).join('');

describe('pull requests of the local GitHub', () => {
  let world: ConversationWorld;
  beforeAll(async () => {
    world = await openConversationWorld({ 'README.md': 'engines\n', 'long.txt': lines() });
  });
  afterAll(() => world.stop());

  async function openPull(branch: string, files: Record<string, string>, fields: object = {}) {
    const sha = await world.push(branch, files);
    const { body } = await world.bot('POST', `${base}/pulls`, {
      title: branch,
      head: branch,
      base: 'main',
      ...fields,
    });
    return { sha, number: body.number as number, path: `${base}/pulls/${body.number}`, body };
  }

  it('opens a draft from a pushed branch with real counts, and is an issue as well', async () => {
    world.takeEvents();
    const { sha, path, number, body } = await openPull('first', { 'new.txt': 'a\nb\n' }, { draft: true });
    expect(body).toMatchObject({
      draft: true,
      mergeable: null,
      mergeable_state: 'unknown',
      additions: 2,
      deletions: 0,
      changed_files: 1,
      commits: 1,
      head: { ref: 'first', sha, label: 'mona:first' },
      user: { login: 'metainfer-test[bot]' },
    });
    expect(world.takeEvents()).toEqual(['pull_request.opened']);
    expect((await world.bot('GET', path)).body).toMatchObject({ mergeable: true, mergeable_state: 'draft' });
    const issue = await world.bot('GET', `${base}/issues/${number}`);
    expect(issue.body).toMatchObject({ draft: true, pull_request: { merged_at: null } });
    await world.bot('POST', `${base}/issues/${number}/comments`, { body: 'hello' });
    expect(world.lastEvent('issue_comment.created').issue.pull_request.html_url).toContain(`/pull/${number}`);
    const fetched = await runGit(world.repository.folder, ['rev-parse', `refs/pull/${number}/head`]);
    expect(fetched.toString().trim()).toBe(sha);
  });

  it('refuses branches that make no pull request, in the words of GitHub', async () => {
    await openPull('twice', { 'twice.txt': '2\n' });
    const open = (fields: object) =>
      world.bot('POST', `${base}/pulls`, { title: 'x', head: 'twice', base: 'main', ...fields });
    const errors = async (fields: object) => {
      const answer = await open(fields);
      expect(answer.status).toBe(422);
      return answer.body.errors;
    };
    const resource = 'PullRequest';
    expect(await errors({ head: 'nowhere' })).toEqual([{ resource, field: 'head', code: 'invalid' }]);
    expect(await errors({ head: 'nobody:twice' })).toEqual([{ resource, field: 'head', code: 'invalid' }]);
    expect(await errors({ base: 'nowhere' })).toEqual([{ resource, field: 'base', code: 'invalid' }]);
    expect(await errors({ head: 'main' })).toEqual([
      { resource, code: 'custom', message: 'No commits between main and main' },
    ]);
    expect(await errors({})).toEqual([
      { resource, code: 'custom', message: 'A pull request already exists for mona:twice.' },
    ]);
    expect((await open({ title: undefined, head: undefined })).body.message).toBe(
      'Invalid request.\n\n"title", "head" weren\'t supplied.',
    );
  });

  it('lists files with the patches that git makes, without one for binary files and pure renames', async () => {
    const changed = lines((line) => (line === 3 ? 'three' : line === 30 ? 'thirty' : undefined));
    const { path, sha } = await openPull('files', {
      'long.txt': changed,
      'grüße.txt': 'no end of line',
      'binary.bin': 'a\0b',
      'empty.txt': '',
    });
    const { body: files } = await world.bot('GET', `${path}/files`);
    const byName = new Map(files.map((file: { filename: string }) => [file.filename, file]));
    expect([...byName.keys()].sort()).toEqual(['binary.bin', 'empty.txt', 'grüße.txt', 'long.txt']);
    expect(byName.get('long.txt')).toMatchObject({
      status: 'modified',
      additions: 2,
      deletions: 2,
      changes: 4,
    });
    const { patch } = byName.get('long.txt') as { patch: string };
    expect(patch.match(/^@@/gm)).toHaveLength(2);
    expect(patch.startsWith('@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+three\n')).toBe(true);
    expect(byName.get('grüße.txt')).toMatchObject({
      status: 'added',
      patch: '@@ -0,0 +1 @@\n+no end of line\n\\ No newline at end of file',
      blob_url: expect.stringContaining(`/blob/${sha}/gr%C3%BC%C3%9Fe.txt`),
    });
    expect(byName.get('binary.bin')).not.toHaveProperty('patch');
    expect(byName.get('empty.txt')).not.toHaveProperty('patch');
    const page = await world.bot('GET', `${path}/files?per_page=3&page=2`);
    expect(page.body).toHaveLength(1);
  });

  it('compares with the point where the branches parted, not with the base as it is now', async () => {
    const { path } = await openPull('parted', { 'parted.txt': 'x\n' });
    await world.push('main', { 'elsewhere.txt': 'y\n' });
    const { body: files } = await world.bot('GET', `${path}/files`);
    expect(files.map((file: { filename: string }) => file.filename)).toEqual(['parted.txt']);
    const { body: commits } = await world.bot('GET', `${path}/commits`);
    expect(commits).toHaveLength(1);
  });

  it('follows a push to its branch and says so once', async () => {
    const { path, sha } = await openPull('moving', { 'moving.txt': '1\n' });
    world.takeEvents();
    const next = await world.push('moving', { 'moving.txt': '2\n' });
    expect((await world.bot('GET', path)).body).toMatchObject({ head: { sha: next }, commits: 2 });
    expect(world.takeEvents()).toEqual(['pull_request.synchronize']);
    expect(world.lastEvent('pull_request.synchronize')).toMatchObject({
      before: sha,
      after: next,
      pull_request: { head: { sha: next } },
      sender: { login: 'wilma' },
    });
  });

  it('follows a real git push over smart HTTP', async () => {
    const { path } = await openPull('cloned', { 'cloned.txt': '1\n' });
    const clone = await mkdtemp(join(tmpdir(), 'metainfer-clone-'));
    const token = world.github.userToken('wilma');
    const url = `${world.github.url.replace('//', `//wilma:${token}@`)}/mona/engines.git`;
    const identity = ['-c', 'user.name=Wilma', '-c', 'user.email=wilma@example.org'];
    try {
      await runGit(clone, ['clone', '--quiet', '--branch', 'cloned', url, '.']);
      await runGit(clone, [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'From a clone']);
      world.takeEvents();
      await runGit(clone, ['push', '--quiet', 'origin', 'cloned']);
      const pushed = (await runGit(clone, ['rev-parse', 'HEAD'])).toString().trim();
      expect((await world.bot('GET', path)).body).toMatchObject({ head: { sha: pushed }, commits: 2 });
      expect(world.takeEvents()).toEqual(['pull_request.synchronize']);
    } finally {
      await rm(clone, { recursive: true });
    }
  });

  it('is found by owner and branch; a branch without an owner filters nothing', async () => {
    const { number } = await openPull('findme', { 'findme.txt': '1\n' });
    const numbers = async (query: string) =>
      (await world.bot('GET', `${base}/pulls?${query}`)).body.map((pull: { number: number }) => pull.number);
    expect(await numbers('head=mona:findme')).toEqual([number]);
    expect(await numbers('head=rita:findme')).toEqual([]);
    expect((await numbers('head=findme')).length).toBeGreaterThan(1);
    expect(await numbers('head=mona:findme&state=closed')).toEqual([]);
  });

  it('is edited and closed; the draft flag is not for REST to change', async () => {
    const { path } = await openPull('edited', { 'edited.txt': '1\n' }, { draft: true, body: 'old' });
    world.takeEvents();
    const edited = await world.bot('PATCH', path, { body: 'new', draft: false });
    expect(edited.body).toMatchObject({ body: 'new', draft: true });
    expect(world.lastEvent('pull_request.edited').changes).toEqual({ body: { from: 'old' } });
    await world.mona('PATCH', path, { state: 'closed' });
    expect(world.takeEvents()).toEqual(['pull_request.edited', 'pull_request.closed']);
    expect(world.lastEvent('pull_request.closed').pull_request).toMatchObject({ merged: false });
    const frozen = await world.push('edited', { 'edited.txt': '2\n' });
    expect((await world.bot('GET', path)).body.head.sha).not.toBe(frozen);
    const reopened = await world.bot('PATCH', path, { state: 'open' });
    expect(reopened.body).toMatchObject({ state: 'open', head: { sha: frozen } });
  });

  it('is labelled and closed through its issue, with events of its own', async () => {
    const { number, path } = await openPull('labelled', { 'labelled.txt': '1\n' });
    world.takeEvents();
    await world.mona('POST', `${base}/issues/${number}/labels`, { labels: ['metainfer:approved'] });
    await world.mona('PATCH', `${base}/issues/${number}`, { state: 'closed', labels: [] });
    expect(world.takeEvents()).toEqual([
      'pull_request.labeled',
      'pull_request.closed',
      'pull_request.unlabeled',
    ]);
    expect(world.lastEvent('pull_request.labeled')).toMatchObject({
      number,
      label: { name: 'metainfer:approved' },
      sender: { login: 'mona' },
    });
    expect((await world.bot('GET', path)).body).toMatchObject({ state: 'closed', labels: [] });
  });

  it('is closed with its branch and cannot be opened again without it', async () => {
    const { path } = await openPull('gone', { 'gone.txt': '1\n' });
    const deleted = await world.bot('DELETE', `${base}/git/refs/heads/gone`);
    expect(deleted.status).toBe(204);
    expect((await world.bot('GET', path)).body.state).toBe('closed');
    const reopened = await world.bot('PATCH', path, { state: 'open' });
    expect(reopened.body.errors[0].message).toBe(
      'state cannot be changed. The gone branch has been deleted.',
    );
  });

  it('comes from a fork too', async () => {
    const { github, repository } = world;
    const fork = await github.addRepository('rita', 'engines');
    await runGit(fork.folder, ['fetch', '--quiet', repository.folder, 'main:refs/heads/topic']);
    const tip = (await runGit(repository.folder, ['rev-parse', 'main'])).toString().trim();
    const file = await world.rita('PUT', '/repos/rita/engines/contents/forked.txt', {
      message: 'forked',
      content: Buffer.from('x\n').toString('base64'),
      branch: 'topic',
    });
    const sha = file.body.commit.sha;
    const { body, status } = await world.rita('POST', `${base}/pulls`, {
      title: 'From a fork',
      head: 'rita:topic',
      base: 'main',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      head: { sha, label: 'rita:topic', repo: { full_name: 'rita/engines' } },
      base: { sha: tip, repo: { full_name: 'mona/engines' } },
    });
    const { body: files } = await world.bot('GET', `${base}/pulls/${body.number}/files`);
    expect(files.map((entry: { filename: string }) => entry.filename)).toEqual(['forked.txt']);
  });

  it('asks for reviews of collaborators only, and not of the author', async () => {
    const { path } = await openPull('reviewed', { 'reviewed.txt': '1\n' });
    world.takeEvents();
    const asked = await world.bot('POST', `${path}/requested_reviewers`, { reviewers: ['wilma'] });
    expect(asked.status).toBe(201);
    expect(asked.body.requested_reviewers).toMatchObject([{ login: 'wilma' }]);
    expect(world.takeEvents()).toEqual(['pull_request.review_requested']);
    const stranger = await world.bot('POST', `${path}/requested_reviewers`, { reviewers: ['rita'] });
    expect(stranger).toMatchObject({ status: 422 });
    expect(stranger.body.message).toContain('Reviews may only be requested from collaborators.');
    const team = await world.bot('POST', `${path}/requested_reviewers`, { team_reviewers: ['kernels'] });
    expect(team.status).toBe(422);
    const own = await world.bot('POST', `${path}/requested_reviewers`, {
      reviewers: ['metainfer-test[bot]'],
    });
    expect(own.body.message).toBe('Review cannot be requested from pull request author.');
  });

  it('answered and sent only what GitHub publishes', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
