import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiOf } from '../../support/github-api.ts';
import {
  base,
  type ConversationWorld,
  installationToken,
  openConversationWorld,
} from './conversation-world.ts';

describe('issues of the local GitHub', () => {
  let world: ConversationWorld;
  beforeAll(async () => {
    world = await openConversationWorld();
  });
  afterAll(() => world.stop());

  const openIssue = async (fields: Record<string, unknown> = {}) =>
    (await world.rita('POST', `${base}/issues`, { title: 'An engine', ...fields })).body;

  it('opens an issue of anybody, keeps its body to the byte and says who did it', async () => {
    world.takeEvents();
    const issue = await openIssue({ body: 'a: 1\r\nb: 2\r\n' });
    expect(issue).toMatchObject({ state: 'open', body: 'a: 1\r\nb: 2\r\n', author_association: 'NONE' });
    expect(world.takeEvents()).toEqual(['issues.opened']);
    expect(world.lastEvent('issues.opened')).toMatchObject({
      issue: { number: issue.number },
      sender: { login: 'rita', type: 'User' },
    });
  });

  it('takes labels from people who may label and drops those of others without a word', async () => {
    const strangers = await openIssue({ labels: ['bug'] });
    expect(strangers.labels).toEqual([]);
    world.takeEvents();
    const owners = await world.mona('POST', `${base}/issues`, {
      title: 'Mine',
      labels: ['Bug', { name: 'new' }],
    });
    expect(owners.body.labels.map((label: { name: string }) => label.name)).toEqual(['Bug', 'new']);
    expect(world.takeEvents()).toEqual(['issues.opened', 'issues.labeled', 'issues.labeled']);
  });

  it('says what changed in an edit, and nothing about an edit that changes nothing', async () => {
    const { number } = await openIssue({ body: 'old' });
    world.takeEvents();
    await world.rita('PATCH', `${base}/issues/${number}`, { title: 'An engine', body: 'old' });
    expect(world.takeEvents()).toEqual([]);
    await world.rita('PATCH', `${base}/issues/${number}`, { body: 'new' });
    expect(world.takeEvents()).toEqual(['issues.edited']);
    const { changes } = world.lastEvent('issues.edited');
    expect(changes).toEqual({ body: { from: 'old' } });
  });

  it('closes and reopens', async () => {
    const { number } = await openIssue();
    world.takeEvents();
    const closed = await world.rita('PATCH', `${base}/issues/${number}`, {
      state: 'closed',
      state_reason: 'not_planned',
    });
    expect(closed.body).toMatchObject({
      state: 'closed',
      state_reason: 'not_planned',
      closed_by: { login: 'rita' },
    });
    const open = await world.mona('PATCH', `${base}/issues/${number}`, { state: 'open' });
    expect(open.body).toMatchObject({ state: 'open', state_reason: 'reopened', closed_at: null });
    expect(world.takeEvents()).toEqual(['issues.closed', 'issues.reopened']);
  });

  it("lets nobody without a role change another person's issue", async () => {
    const { body: issue } = await world.mona('POST', `${base}/issues`, { title: 'Mine' });
    const answer = await world.rita('PATCH', `${base}/issues/${issue.number}`, { title: 'Yours' });
    expect(answer.status).toBe(403);
    const labels = await world.rita('POST', `${base}/issues/${issue.number}/labels`, { labels: ['x'] });
    expect(labels.status).toBe(403);
  });

  it('names what is missing or too long', async () => {
    expect(await world.rita('POST', `${base}/issues`, { body: 'x' })).toMatchObject({
      status: 422,
      body: { message: 'Invalid request.\n\n"title" wasn\'t supplied.' },
    });
    expect(await world.rita('POST', `${base}/issues`, { title: ' ' })).toMatchObject({
      status: 422,
      body: { errors: [{ resource: 'Issue', field: 'title', code: 'missing_field' }] },
    });
    const long = await world.rita('POST', `${base}/issues`, { title: 'x', body: 'y'.repeat(65_537) });
    expect(long.body.errors[0].message).toBe('body is too long (maximum is 65536 characters)');
    expect(await world.rita('GET', `${base}/issues/99999`)).toMatchObject({ status: 404 });
  });

  it('lists open issues newest first, by label, state and page', async () => {
    const { body: first } = await world.mona('POST', `${base}/issues`, { title: '1', labels: ['listed'] });
    const { body: second } = await world.mona('POST', `${base}/issues`, { title: '2', labels: ['listed'] });
    const listed = await world.mona('GET', `${base}/issues?labels=LISTED&per_page=1`);
    expect(listed.body.map((issue: { number: number }) => issue.number)).toEqual([second.number]);
    expect(listed.headers.get('link')).toContain('rel="next"');
    await world.mona('PATCH', `${base}/issues/${first.number}`, { state: 'closed' });
    const closed = await world.mona('GET', `${base}/issues?labels=listed&state=closed`);
    expect(closed.body.map((issue: { number: number }) => issue.number)).toEqual([first.number]);
  });

  it('puts a label on once, takes it off, and knows when it is not there', async () => {
    const { number } = await openIssue();
    const path = `${base}/issues/${number}/labels`;
    world.takeEvents();
    await world.bot('POST', path, { labels: ['metainfer:needs-knowledge'] });
    const again = await world.bot('POST', path, ['METAINFER:needs-knowledge']);
    expect(again.body).toHaveLength(1);
    expect(world.takeEvents()).toEqual(['issues.labeled']);
    expect(world.lastEvent('issues.labeled').label.name).toBe('metainfer:needs-knowledge');
    const removed = await world.bot('DELETE', `${path}/metainfer%3Aneeds-knowledge`);
    expect(removed).toMatchObject({ status: 200, body: [] });
    expect(world.takeEvents()).toEqual(['issues.unlabeled']);
    const missing = await world.bot('DELETE', `${path}/metainfer%3Aneeds-knowledge`);
    expect(missing).toMatchObject({ status: 404, body: { message: 'Label does not exist' } });
  });

  it('takes labels that differ in case only as one label', async () => {
    const made = await world.mona('POST', `${base}/labels`, { name: 'metainfer:approved', color: '0e8a16' });
    expect(made.status).toBe(201);
    const twice = await world.mona('POST', `${base}/labels`, { name: 'MetaInfer:approved' });
    expect(twice).toMatchObject({ status: 422, body: { errors: [{ code: 'already_exists' }] } });
    const found = await world.bot('GET', `${base}/labels/METAINFER%3Aapproved`);
    expect(found.body.color).toBe('0e8a16');
  });

  it('makes, edits and deletes comments, as the app with its name on them', async () => {
    const { number } = await openIssue();
    world.takeEvents();
    const { body: comment } = await world.bot('POST', `${base}/issues/${number}/comments`, { body: 'one' });
    expect(comment).toMatchObject({
      user: { login: 'metainfer-test[bot]', type: 'Bot' },
      performed_via_github_app: { slug: 'metainfer-test' },
    });
    const path = `${base}/issues/comments/${comment.id}`;
    await world.bot('PATCH', path, { body: 'two' });
    await world.bot('PATCH', path, { body: 'two' });
    expect((await world.rita('PATCH', path, { body: 'mine' })).status).toBe(403);
    expect((await world.bot('GET', path)).body.body).toBe('two');
    expect((await world.bot('DELETE', path)).status).toBe(204);
    expect((await world.bot('GET', path)).status).toBe(404);
    expect(world.takeEvents()).toEqual([
      'issue_comment.created',
      'issue_comment.edited',
      'issue_comment.deleted',
    ]);
    expect(world.lastEvent('issue_comment.edited').changes.body.from).toBe('one');
  });

  it('takes comments of 65,536 code points and not one more', async () => {
    const { number } = await openIssue();
    const path = `${base}/issues/${number}/comments`;
    expect((await world.bot('POST', path, { body: '🙂'.repeat(65_536) })).status).toBe(201);
    expect(await world.bot('POST', path, { body: 'x'.repeat(65_537) })).toMatchObject({
      status: 422,
      body: {
        message: 'Validation Failed',
        errors: [
          {
            resource: 'IssueComment',
            field: 'data',
            message: 'Body is too long (maximum is 65536 characters)',
          },
        ],
      },
    });
    expect((await world.bot('POST', path, { body: '  \n' })).status).toBe(422);
  });

  it('answers 201 to a new reaction and 200 to the same one again', async () => {
    const { number } = await openIssue();
    const path = `${base}/issues/${number}/reactions`;
    const first = await world.bot('POST', path, { content: 'eyes' });
    const second = await world.bot('POST', path, { content: 'eyes' });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.id).toBe(first.body.id);
    expect((await world.rita('POST', path, { content: 'eyes' })).status).toBe(201);
    const issue = await world.bot('GET', `${base}/issues/${number}`);
    expect(issue.body.reactions).toMatchObject({ eyes: 2, total_count: 2, rocket: 0 });
    const wrong = await world.bot('POST', path, { content: 'party' });
    expect(wrong.body.message).toContain(
      '"party" is not a possible value. Must be one of the following: +1, -1',
    );
    expect((await world.rita('DELETE', `${path}/${first.body.id}`)).status).toBe(403);
    expect((await world.bot('DELETE', `${path}/${first.body.id}`)).status).toBe(204);
  });

  it('lets an app do only what its installation was granted', async () => {
    const { number } = await openIssue();
    const [installation] = world.github.world.installations.values();
    const reader = apiOf(world.github, installationToken(world.github, installation!, { issues: 'read' }));
    expect((await reader('GET', `${base}/issues/${number}`)).status).toBe(200);
    const refused = await reader('POST', `${base}/issues/${number}/comments`, { body: 'x' });
    expect(refused).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
    expect(refused.headers.get('x-accepted-github-permissions')).toBe('issues=write; pull_requests=write');
  });

  it('answered and sent only what GitHub publishes', () => {
    expect(world.watch.counts.responses).toBeGreaterThan(40);
    expect(world.watch.counts.webhooks).toBeGreaterThan(20);
    expect(world.watch.problems).toEqual([]);
  });
});
