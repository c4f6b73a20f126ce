import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pressCheckButton, rerunCheck } from '../../../src/local/github/check-buttons.ts';
import { apiOf } from '../../support/github-api.ts';
import {
  base,
  type ConversationWorld,
  installationToken,
  installTestApp,
  openConversationWorld,
} from './conversation-world.ts';

const annotation = (line: number) => ({
  path: 'README.md',
  start_line: line,
  end_line: line,
  annotation_level: 'failure',
  message: `line ${line}`,
});
const annotations = (count: number) => Array.from({ length: count }, (_, index) => annotation(index + 1));
const button = { label: 'Retry', description: 'Judge once more', identifier: 'retry' };

describe('checks of the local GitHub', () => {
  let world: ConversationWorld;
  let sha: string;
  beforeAll(async () => {
    world = await openConversationWorld();
    sha = await world.push('topic', { 'a.txt': '1\n' });
    await world.bot('POST', `${base}/pulls`, { title: 'Topic', head: 'topic', base: 'main' });
  });
  afterAll(() => world.stop());

  const create = (fields: object = {}) =>
    world.bot('POST', `${base}/check-runs`, { name: 'metainfer', head_sha: sha, ...fields });
  const output = (fields: object = {}) => ({ output: { title: 'Title', summary: 'Summary', ...fields } });

  it('runs from queued to completed, on the pull request of its commit', async () => {
    world.takeEvents();
    const { body, status } = await create({ external_id: 'run-1', details_url: 'http://localhost/runs/1' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'queued',
      conclusion: null,
      external_id: 'run-1',
      details_url: 'http://localhost/runs/1',
      app: { slug: 'metainfer-test' },
      pull_requests: [{ number: 1, head: { ref: 'topic', sha } }],
    });
    const path = `${base}/check-runs/${body.id}`;
    const running = await world.bot('PATCH', path, { status: 'in_progress' });
    expect(running.body).toMatchObject({ status: 'in_progress', completed_at: null });
    const done = await world.bot('PATCH', path, { conclusion: 'failure', ...output() });
    expect(done.body).toMatchObject({
      status: 'completed',
      conclusion: 'failure',
      output: { title: 'Title' },
    });
    expect(done.body.completed_at).not.toBeNull();
    const again = await world.bot('PATCH', path, { status: 'in_progress' });
    expect(again.body).toMatchObject({ status: 'in_progress', conclusion: null, completed_at: null });
    expect(world.takeEvents()).toEqual(['check_run.created', 'check_run.completed']);
    expect(world.lastEvent('check_run.completed').check_run.check_suite).toMatchObject({
      head_branch: 'topic',
    });
  });

  it('appends annotations with every request and keeps a title that is left out', async () => {
    const { body } = await create(output({ annotations: annotations(50) }));
    const path = `${base}/check-runs/${body.id}`;
    const more = await world.bot('PATCH', path, { output: { summary: 'More', annotations: annotations(3) } });
    expect(more.body.output).toMatchObject({ title: 'Title', summary: 'More', annotations_count: 53 });
    const { body: page } = await world.bot('GET', `${path}/annotations?per_page=100`);
    expect(page).toHaveLength(53);
    expect(page[0]).toMatchObject({ path: 'README.md', message: 'line 1', start_column: null });
    expect((await world.bot('GET', `${path}/annotations`)).body).toHaveLength(30);
  });

  it('refuses what is over the limits, in the words of GitHub', async () => {
    const message = async (fields: object) => {
      const answer = await create(fields);
      expect(answer.status).toBe(422);
      return answer.body.message as string;
    };
    const actions = (changes: object) => ({ actions: [{ ...button, ...changes }] });
    expect(await message(output({ annotations: annotations(51) }))).toBe(
      'Invalid request.\n\nNo more than 50 items are allowed; 51 were supplied.',
    );
    expect(await message(output({ summary: 'x'.repeat(65_536) }))).toBe(
      'Invalid request.\n\nOnly 65535 characters are allowed; 65536 were supplied.',
    );
    expect(await message(output({ text: 'x'.repeat(65_536) }))).toContain('Only 65535 characters');
    expect(await message(output({ title: 'x'.repeat(256) }))).toContain('Only 255 characters');
    expect(await message(actions({ label: 'x'.repeat(21) }))).toContain('Only 20 characters');
    expect(await message(actions({ description: 'x'.repeat(41) }))).toContain('Only 40 characters');
    expect(await message(actions({ identifier: 'x'.repeat(21) }))).toContain('Only 20 characters');
    expect(await message({ actions: Array(4).fill(button) })).toContain('No more than 3 items');
    expect(await message({ output: {} })).toBe('Invalid request.\n\n"title", "summary" weren\'t supplied.');
    expect(await message({ status: 'completed' })).toContain('"conclusion" wasn\'t supplied.');
    expect(await message({ conclusion: 'great' })).toContain(
      'Must be one of the following: success, failure',
    );
    expect(await message({ head_sha: '0'.repeat(40) })).toBe(`No commit found for SHA: ${'0'.repeat(40)}`);
  });

  it('counts the bytes of the summary too, as the database does', async () => {
    const { status, body } = await create(output({ summary: 'ü'.repeat(40_000) }));
    expect(status).toBe(422);
    expect(body.errors[0].message).toBe('summary exceeds a maximum bytesize of 65535');
  });

  it('lets only apps write checks, and only their own', async () => {
    const { body } = await create();
    const path = `${base}/check-runs/${body.id}`;
    const person = await world.mona('POST', `${base}/check-runs`, { name: 'x', head_sha: sha });
    expect(person).toMatchObject({
      status: 403,
      body: { message: 'You must authenticate via a GitHub App.' },
    });
    const { installation } = installTestApp(world.github, 'Another', world.repository);
    const other = apiOf(world.github, installationToken(world.github, installation));
    const stolen = await other('PATCH', path, { conclusion: 'success' });
    expect(stolen.status).toBe(403);
    expect(stolen.body.message).toContain('can only be modified by the GitHub App that created it');
    expect((await other('GET', path)).body.status).toBe('queued');
  });

  it('lists the newest check of a name on a commit or branch, and all where asked', async () => {
    const { body: older } = await create({ name: 'listed' });
    const { body: newer } = await create({ name: 'listed' });
    const ids = async (query: string) => {
      const { body } = await world.bot('GET', `${base}/commits/topic/check-runs?check_name=listed${query}`);
      expect(body.total_count).toBe(body.check_runs.length);
      return body.check_runs.map((run: { id: number }) => run.id);
    };
    expect(await ids('')).toEqual([newer.id]);
    expect(await ids('&filter=all')).toEqual([newer.id, older.id]);
    expect(await ids('&status=completed')).toEqual([]);
  });

  it('tells the app, and nobody else, which button a person pressed', async () => {
    const { body } = await create({ actions: [button], external_id: 'run-7' });
    const { github, repository, app } = world;
    world.takeEvents();
    pressCheckButton(github.world, repository, body.id, 'retry', repository.owner);
    rerunCheck(github.world, repository, body.id, repository.owner);
    expect(world.takeEvents()).toEqual(['check_run.requested_action', 'check_run.rerequested']);
    expect(world.lastEvent('check_run.requested_action')).toMatchObject({
      requested_action: { identifier: 'retry' },
      check_run: { id: body.id, external_id: 'run-7', app: { id: app.id } },
      sender: { login: 'mona' },
    });
    expect(() => pressCheckButton(github.world, repository, body.id, 'nope', repository.owner)).toThrow(
      'has no button "nope"; its buttons: retry',
    );
  });

  it('keeps statuses beside the checks, the newest of each context counting', async () => {
    const path = `${base}/statuses/${sha}`;
    await world.bot('POST', path, { state: 'failure', context: 'ci' });
    await world.bot('POST', path, { state: 'success', context: 'ci', description: 'All good' });
    const combined = await world.bot('GET', `${base}/commits/topic/status`);
    expect(combined.body).toMatchObject({ state: 'success', total_count: 1, sha });
    await world.bot('POST', path, { state: 'pending' });
    expect((await world.bot('GET', `${base}/commits/topic/status`)).body.state).toBe('pending');
    const { body: all } = await world.bot('GET', `${base}/commits/topic/statuses`);
    expect(all.map((status: { state: string }) => status.state)).toEqual(['pending', 'success', 'failure']);
    expect(world.lastEvent('status.null')).toMatchObject({ state: 'pending', context: 'default' });
  });

  it('says what a person may do, folded and unfolded, to those who may write', async () => {
    const { github, repository } = world;
    for (const role of ['maintain', 'triage'] as const) {
      repository.collaborators.set(github.addUser(`has-${role}`).id, role);
    }
    const permission = async (login: string) => {
      const { body } = await world.bot('GET', `${base}/collaborators/${login}/permission`);
      return [body.permission, body.role_name];
    };
    expect(await permission('mona')).toEqual(['admin', 'admin']);
    expect(await permission('wilma')).toEqual(['write', 'write']);
    expect(await permission('has-maintain')).toEqual(['write', 'maintain']);
    expect(await permission('has-triage')).toEqual(['read', 'triage']);
    expect(await permission('rita')).toEqual(['read', 'read']);
    expect((await world.bot('GET', `${base}/collaborators/nobody/permission`)).status).toBe(404);
    expect((await world.rita('GET', `${base}/collaborators/mona/permission`)).status).toBe(403);
  });

  it('answered and sent only what GitHub publishes', () => {
    expect(world.watch.problems).toEqual([]);
  });
});
