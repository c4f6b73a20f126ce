import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scene, signAppToken, startScene } from './start-scene.ts';

const repo = '/repos/octo/demo';
const hour = 3_600_000;
let scene: Scene;
let late = 0;

beforeAll(async () => {
  scene = await startScene({ now: () => new Date(Date.now() + late) });
});
afterAll(async () => {
  await scene.stop();
  expect(scene.watch.problems).toEqual([]);
});

function mint(body?: unknown) {
  const asApp = scene.call(signAppToken(scene.app.id, scene.privateKey));
  return asApp('POST', `/app/installations/${scene.installation.id}/access_tokens`, body);
}

describe("an app's JWT", () => {
  it('opens the app, by its id and by its client id', async () => {
    for (const issuer of [scene.app.id, String(scene.app.id), scene.app.clientId]) {
      const answer = await scene.call(signAppToken(issuer, scene.privateKey))('GET', '/app');
      expect(answer).toMatchObject({ status: 200, body: { slug: 'metainfer-test', installations_count: 1 } });
    }
  });

  it('is refused with a wrong key, an unknown issuer, past its time, too long a life or garbage', async () => {
    const now = Math.floor(Date.now() / 1000);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const other = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string;
    const { id } = scene.app;
    const tokens = [
      signAppToken(id, other),
      signAppToken(1, scene.privateKey),
      signAppToken(id, scene.privateKey, { exp: now - 1 }),
      signAppToken(id, scene.privateKey, { exp: now + 700 }),
      signAppToken(id, scene.privateKey, { iat: now + 300 }),
      signAppToken(id, scene.privateKey, { exp: undefined }),
      'not.a.token',
    ];
    for (const token of tokens) expect((await scene.call(token)('GET', '/app')).status).toBe(401);
  });

  it('does not open a repository', async () => {
    const asApp = scene.call(signAppToken(scene.app.id, scene.privateKey));
    expect((await asApp('GET', `${repo}/contents/README.md`)).status).toBe(401);
    expect((await asApp('GET', `${repo}/installation`)).body.id).toBe(scene.installation.id);
    expect((await scene.bot('GET', '/app')).status).toBe(401);
  });
});

describe('an installation token', () => {
  it('says what it may do and sees the repositories it is for', async () => {
    const minted = await mint();
    expect(minted.status).toBe(201);
    expect(minted.body.permissions).toMatchObject({ contents: 'write', metadata: 'read' });
    const seen = await scene.call(minted.body.token)('GET', '/installation/repositories');
    expect(seen.body).toMatchObject({ total_count: 1, repositories: [{ full_name: 'octo/demo' }] });
  });

  it('ends after an hour', async () => {
    const asBot = scene.call((await mint()).body.token);
    expect((await asBot('GET', repo)).status).toBe(200);
    late = hour + 1000;
    expect((await asBot('GET', repo)).status).toBe(401);
    late = 0;
  });

  it('can be narrowed to a permission, and then names the one it lacks', async () => {
    const asReader = scene.call((await mint({ permissions: { contents: 'read' } })).body.token);
    expect((await asReader('GET', `${repo}/contents/README.md`)).status).toBe(200);
    const refused = await asReader('POST', `${repo}/git/refs`, { ref: 'refs/heads/x', sha: 'x' });
    expect(refused).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
    expect(refused.headers.get('x-accepted-github-permissions')).toBe('contents=write');
  });

  it('cannot get more than the installation has', async () => {
    expect((await mint({ permissions: { administration: 'write' } })).status).toBe(422);
    expect((await mint({ repositories: ['elsewhere'] })).status).toBe(422);
    expect((await mint({ repositories: ['demo'] })).body.repositories).toMatchObject([{ name: 'demo' }]);
  });

  it('does not see a private repository where the app is not installed', async () => {
    await scene.github.addRepository('octo', 'secret', { isPrivate: true });
    expect((await scene.bot('GET', '/repos/octo/secret')).status).toBe(404);
    expect((await scene.owner('GET', '/repos/octo/secret')).status).toBe(200);
    const stranger = scene.call(scene.github.userToken('stranger'));
    expect((await stranger('GET', '/repos/octo/secret')).status).toBe(404);
    expect((await scene.call(undefined)('GET', '/repos/octo/secret')).status).toBe(404);
  });
});

describe("a person's token", () => {
  it('writes where the person may, and nowhere else', async () => {
    const stranger = scene.call(scene.github.userToken('stranger'));
    const content = Buffer.from('x').toString('base64');
    const put = { message: 'x', content };
    expect((await stranger('GET', `${repo}/contents/README.md`)).status).toBe(200);
    expect((await stranger('PUT', `${repo}/contents/x`, put)).status).toBe(404);
    expect((await scene.owner('PUT', `${repo}/contents/x`, put)).status).toBe(201);
    expect((await stranger('GET', '/user')).body.login).toBe('stranger');
    expect((await stranger('GET', repo)).body.permissions).toMatchObject({ pull: true, push: false });
  });

  it('is refused where nobody knows it', async () => {
    expect((await scene.call('ghp_garbage')('GET', repo)).body.message).toBe('Bad credentials');
    expect((await scene.call(undefined)('GET', '/user')).status).toBe(401);
  });
});
