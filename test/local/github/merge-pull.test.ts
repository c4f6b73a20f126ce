import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closingNumbers } from '../../../src/local/github/pull-changes.ts';
import { base, type ConversationWorld, openConversationWorld } from './conversation-world.ts';

describe('merging in the local GitHub', () => {
  let world: ConversationWorld;
  beforeAll(async () => {
    world = await openConversationWorld({ 'README.md': 'engines\n', 'shared.txt': 'start\n' });
  });
  afterAll(() => world.stop());

  async function openPull(branch: string, files: Record<string, string>, fields: object = {}) {
    const sha = await world.push(branch, files);
    const { body } = await world.wilma('POST', `${base}/pulls`, {
      title: `Title of ${branch}`,
      head: branch,
      base: 'main',
      ...fields,
    });
    return { sha, path: `${base}/pulls/${body.number}`, number: body.number as number };
  }

  const textOf = async (path: string) => {
    const { status, body } = await world.mona('GET', `${base}/contents/${path}`);
    return status === 200 ? Buffer.from(body.content, 'base64').toString() : undefined;
  };

  it('keeps what happened on the base meanwhile and closes the issues that the body names', async () => {
    const { body: issue } = await world.rita('POST', `${base}/issues`, { title: 'Wanted' });
    const { path, number, sha } = await openPull(
      'feature',
      { 'feature.txt': 'f\n' },
      { body: `Closes #${issue.number}, but not \`Fixes #${issue.number + 1}\`` },
    );
    await world.push('main', { 'meanwhile.txt': 'm\n' });
    expect((await world.mona('GET', `${path}/merge`)).status).toBe(404);
    world.takeEvents();
    const merged = await world.wilma('PUT', `${path}/merge`, {});
    expect(merged.body).toMatchObject({ merged: true, message: 'Pull Request successfully merged' });
    expect(await textOf('meanwhile.txt')).toBe('m\n');
    expect(await textOf('feature.txt')).toBe('f\n');
    expect(world.takeEvents()).toEqual(['pull_request.closed', 'issues.closed']);
    expect(world.lastEvent('pull_request.closed').pull_request).toMatchObject({
      merged: true,
      merge_commit_sha: merged.body.sha,
      merged_by: { login: 'wilma' },
    });
    expect((await world.mona('GET', `${base}/issues/${issue.number}`)).body).toMatchObject({
      state: 'closed',
      state_reason: 'completed',
    });
    const { body: commit } = await world.mona('GET', `${base}/commits/${merged.body.sha}`);
    expect(commit.commit.message).toBe(`Merge pull request #${number} from mona/feature\n\nTitle of feature`);
    expect(commit.parents.map((parent: { sha: string }) => parent.sha)[1]).toBe(sha);
    expect((await world.mona('GET', `${path}/merge`)).status).toBe(204);
    const { body: files } = await world.mona('GET', `${path}/files`);
    expect(files.map((file: { filename: string }) => file.filename)).toEqual(['feature.txt']);
    expect((await world.wilma('PUT', `${path}/merge`, {})).status).toBe(405);
  });

  it('refuses conflicts, drafts, a head that moved, rebases and people who may not', async () => {
    const conflict = await openPull('conflict', { 'shared.txt': 'theirs\n' });
    const draft = await openPull('draft', { 'draft.txt': 'd\n' }, { draft: true });
    await world.push('main', { 'shared.txt': 'ours\n' });
    expect((await world.mona('GET', conflict.path)).body).toMatchObject({
      mergeable: false,
      mergeable_state: 'dirty',
    });
    const before = await textOf('shared.txt');
    const merge = (path: string, body: object = {}) => world.wilma('PUT', `${path}/merge`, body);
    expect(await merge(conflict.path)).toMatchObject({
      status: 405,
      body: { message: 'Pull Request is not mergeable' },
    });
    expect(await textOf('shared.txt')).toBe(before);
    expect(await merge(draft.path)).toMatchObject({
      status: 405,
      body: { message: 'Pull Request is still a draft' },
    });
    const plain = await openPull('plain', { 'plain.txt': 'p\n' });
    expect(await merge(plain.path, { sha: draft.sha })).toMatchObject({
      status: 409,
      body: { message: 'Head branch was modified. Review and try the merge again.' },
    });
    expect((await merge(plain.path, { merge_method: 'rebase' })).status).toBe(405);
    expect((await world.rita('PUT', `${plain.path}/merge`, {})).status).not.toBe(200);
    expect((await merge(plain.path, { sha: plain.sha })).status).toBe(200);
  });

  it('squashes into one commit on the base', async () => {
    const { path, number } = await openPull('squash', { 'squash.txt': 's\n' });
    const merged = await world.wilma('PUT', `${path}/merge`, { merge_method: 'squash' });
    const { body: commit } = await world.mona('GET', `${base}/commits/${merged.body.sha}`);
    expect(commit.commit.message).toBe(`Title of squash (#${number})`);
    expect(commit.parents).toHaveLength(1);
  });

  it('moves pull requests on when the merged branch they stand on is deleted', async () => {
    const lower = await openPull('lower', { 'lower.txt': 'l\n' });
    await world.push('upper', { 'upper.txt': 'u\n' }, { from: 'lower' });
    const { body: upper } = await world.wilma('POST', `${base}/pulls`, {
      title: 'Upper',
      head: 'upper',
      base: 'lower',
    });
    await world.wilma('PUT', `${lower.path}/merge`, {});
    world.takeEvents();
    await world.wilma('DELETE', `${base}/git/refs/heads/lower`);
    const moved = await world.mona('GET', `${base}/pulls/${upper.number}`);
    expect(moved.body).toMatchObject({ state: 'open', base: { ref: 'main' }, changed_files: 1 });
    expect(world.takeEvents()).toEqual(['pull_request.edited']);
    expect(world.lastEvent('pull_request.edited').changes.base.ref.from).toBe('lower');
  });

  it('closes no issue from a branch that is not merged into the default branch', async () => {
    const { body: issue } = await world.rita('POST', `${base}/issues`, { title: 'Later' });
    await world.push('side', { 'side.txt': 's\n' });
    const { path } = await openPull(
      'into-side',
      { 'into-side.txt': 'i\n' },
      { base: 'side', body: `Closes #${issue.number}` },
    );
    expect((await world.wilma('PUT', `${path}/merge`, {})).status).toBe(200);
    expect((await world.mona('GET', `${base}/issues/${issue.number}`)).body.state).toBe('open');
  });

  it('answered and sent only what GitHub publishes', () => {
    expect(world.watch.problems).toEqual([]);
  });
});

describe('closing keywords', () => {
  it('reads every form of the three verbs, with and without a colon', () => {
    expect(closingNumbers('Closes #1, fixed: #2 and RESOLVE #3.')).toEqual([1, 2, 3]);
    expect(closingNumbers('close #4\nfixes #5\nresolved #6')).toEqual([4, 5, 6]);
  });

  it('reads none in code, none without a verb and none in the middle of a word', () => {
    expect(closingNumbers('see #1, discloses #2, closes 3')).toEqual([]);
    expect(closingNumbers('```\ncloses #1\n```\n`fixes #2`')).toEqual([]);
  });
});
