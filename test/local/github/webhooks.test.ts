import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scene, signAppToken, startScene } from './start-scene.ts';

let scene: Scene;
let isLost = false;

beforeAll(async () => {
  scene = await startScene({ isLost: () => isLost });
});
afterAll(async () => {
  await scene.stop();
  expect(scene.watch.problems).toEqual([]);
  expect(scene.watch.counts.webhooks).toBeGreaterThan(10);
});

const asApp = () => scene.call(signAppToken(scene.app.id, scene.privateKey));

/** A push by the owner, as the smallest event there is. */
async function change(name: string): Promise<void> {
  const content = Buffer.from(name).toString('base64');
  const made = await scene.owner('PUT', `/repos/octo/demo/contents/${name}`, { message: name, content });
  expect(made.status).toBe(201);
}

describe('webhooks', () => {
  it('tell the app of its installation first', async () => {
    await scene.github.settled();
    expect(scene.received[0]).toMatchObject({
      event: 'installation',
      payload: { action: 'created', repositories: [{ full_name: 'octo/demo' }], sender: { login: 'octo' } },
    });
  });

  it('are signed with the secret of the app over the bytes that were sent', async () => {
    await change('signed');
    await scene.github.settled();
    const { text, signature, guid } = scene.received.at(-1)!;
    const expected = createHmac('sha256', 'a secret of the test').update(text).digest('hex');
    expect(signature).toBe(`sha256=${expected}`);
    expect(guid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('name repository, installation and sender, and what a push changed', async () => {
    await change('pushed');
    await scene.github.settled();
    const { event, payload } = scene.received.at(-1)!;
    expect(event).toBe('push');
    expect(payload).toMatchObject({
      ref: 'refs/heads/main',
      created: false,
      forced: false,
      commits: [{ message: 'pushed', added: ['pushed'], modified: [], removed: [] }],
      repository: { full_name: 'octo/demo', default_branch: 'main' },
      installation: { id: scene.installation.id },
      sender: { login: 'octo' },
    });
    expect(payload.head_commit.id).toBe(payload.after);
  });

  it('arrive in the order of what happened', async () => {
    const before = scene.received.length;
    for (const name of ['first', 'second', 'third']) await change(name);
    await scene.github.settled();
    const messages = scene.received.slice(before).map(({ payload }) => payload.head_commit.message);
    expect(messages).toEqual(['first', 'second', 'third']);
  });

  it('tell of a branch that came and went', async () => {
    const before = scene.received.length;
    const head = (await scene.owner('GET', '/repos/octo/demo/git/ref/heads/main')).body.object.sha;
    await scene.bot('POST', '/repos/octo/demo/git/refs', { ref: 'refs/heads/brief', sha: head });
    await scene.bot('DELETE', '/repos/octo/demo/git/refs/heads/brief');
    await scene.github.settled();
    const seen = scene.received.slice(before);
    expect(seen.map(({ event }) => event)).toEqual(['push', 'create', 'push', 'delete']);
    expect(seen[1]!.payload).toMatchObject({ ref: 'brief', ref_type: 'branch', sender: { type: 'Bot' } });
    expect(seen[2]!.payload).toMatchObject({ deleted: true, after: '0'.repeat(40), head_commit: null });
  });

  it('go to no app that did not ask for the event or is not installed', async () => {
    await scene.github.addRepository('octo', 'elsewhere');
    const before = scene.received.length;
    const content = Buffer.from('x').toString('base64');
    await scene.owner('PUT', '/repos/octo/elsewhere/contents/x', { message: 'x', content });
    scene.github.world.emit(scene.repository, 'star', { action: 'created' }, scene.repository.owner);
    await scene.github.settled();
    expect(scene.received).toHaveLength(before);
  });

  it('stay in the log when they are lost, and are sent again with the same GUID and bytes', async () => {
    isLost = true;
    await change('lost');
    await scene.github.settled();
    isLost = false;
    const before = scene.received.length;
    const [lost] = (await asApp()('GET', '/app/hook/deliveries')).body;
    expect(lost).toMatchObject({ event: 'push', status_code: 502, redelivery: false });
    const whole = (await asApp()('GET', `/app/hook/deliveries/${lost.id}`)).body;
    expect(whole.request.payload.head_commit.message).toBe('lost');
    expect((await asApp()('POST', `/app/hook/deliveries/${lost.id}/attempts`)).status).toBe(202);
    await scene.github.settled();
    expect(scene.received.slice(before)).toMatchObject([{ event: 'push', guid: lost.guid }]);
    const [again] = (await asApp()('GET', '/app/hook/deliveries')).body;
    expect(again).toMatchObject({ guid: lost.guid, redelivery: true, status: 'OK', status_code: 200 });
  });

  it('log what the app answered', async () => {
    scene.answerWith(500);
    await change('refused');
    await scene.github.settled();
    scene.answerWith(200);
    const [last] = (await asApp()('GET', '/app/hook/deliveries')).body;
    expect(last).toMatchObject({ status_code: 500, event: 'push' });
  });

  it('are listed newest first, a page at a time by cursor', async () => {
    const all = (await asApp()('GET', '/app/hook/deliveries?per_page=100')).body;
    const first = await asApp()('GET', '/app/hook/deliveries?per_page=2');
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await asApp()('GET', next.slice(scene.github.apiUrl.length));
    expect([...first.body, ...second.body]).toEqual(all.slice(0, 4));
  });
});
