import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

let github: ScriptedGitHub;
let app: AppUnderTest;

beforeEach(async () => {
  github = await startScriptedGitHub();
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);

function serveRole(user: object | null, permission: string, roleName: string): void {
  github.on('GET', /\/collaborators\/ada\/permission$/, () => ({
    status: 200,
    body: { permission, role_name: roleName, user },
  }));
}

describe('the permission of a person', () => {
  it('is the role, which is finer than the permission', async () => {
    serveRole({ id: 11, login: 'ada' }, 'write', 'maintain');
    expect(await repository().permissionOf({ id: 11, login: 'ada' })).toBe('maintain');
  });

  it('is none where the name belongs to another account by now', async () => {
    serveRole({ id: 12, login: 'ada' }, 'admin', 'admin');
    expect(await repository().permissionOf({ id: 11, login: 'ada' })).toBe('none');
  });

  it('is none for an account that GitHub does not know', async () => {
    expect(await repository().permissionOf({ id: 11, login: 'ada' })).toBe('none');
  });

  it('folds a custom role to the strongest base role that it holds', async () => {
    const flags = { pull: true, triage: true, push: false, maintain: false, admin: false };
    serveRole({ id: 11, login: 'ada', permissions: flags }, 'read', 'gatekeeper');
    expect(await repository().permissionOf({ id: 11, login: 'ada' })).toBe('triage');
  });

  it('is not guessed where GitHub does not answer', async () => {
    for (let fault = 0; fault < 4; fault += 1) {
      github.faults.push({ method: 'GET', path: /\/collaborators\//, reply: { status: 500, body: {} } });
    }
    await expect(repository().permissionOf({ id: 11, login: 'ada' })).rejects.toMatchObject({
      code: 'GITHUB_UNAVAILABLE',
    });
  });
});

describe('a file of the repository', () => {
  const path = /^\/repos\/octo\/engines\/contents\/\.github\/metainfer\.yml$/;
  const text = 'größe: 1\r\n';
  const content = Buffer.from(text).toString('base64');

  it('is read at a ref as text, with its line ends', async () => {
    github.on('GET', path, ({ query }) => ({
      status: 200,
      body: {
        type: 'file',
        size: 11,
        encoding: 'base64',
        content: query.get('ref') === 'abc' ? content : '',
      },
    }));
    expect(await repository().readFile('.github/metainfer.yml', 'abc')).toBe(text);
  });

  it('is undefined where nothing, or a folder, is there', async () => {
    github.on('GET', path, () => ({ status: 200, body: [] }));
    expect(await repository().readFile('.github/metainfer.yml')).toBeUndefined();
    expect(await repository().readFile('elsewhere')).toBeUndefined();
  });

  it('is refused where it is larger than 1 MiB', async () => {
    const body = { type: 'file', size: 2_000_000, encoding: 'none', content: '' };
    github.on('GET', path, () => ({ status: 200, body }));
    await expect(repository().readFile('.github/metainfer.yml')).rejects.toThrow(
      /metainfer\.yml in octo\/engines has 2000000 bytes/,
    );
  });
});

describe('reactions and labels', () => {
  it('go to the issue, the comment or the review comment', async () => {
    github.on('POST', /\/reactions$/, () => ({ status: 201, body: { id: 1 } }));
    await repository().react({ kind: 'issue', number: 7 }, 'eyes');
    await repository().react({ kind: 'issue-comment', id: 8 }, 'rocket');
    await repository().react({ kind: 'review-comment', id: 9 }, '-1');
    const sent = github.seen.filter(({ path }) => path.endsWith('/reactions'));
    expect(sent.map(({ path, body }) => [path.replace('/repos/octo/engines', ''), body.content])).toEqual([
      ['/issues/7/reactions', 'eyes'],
      ['/issues/comments/8/reactions', 'rocket'],
      ['/pulls/comments/9/reactions', '-1'],
    ]);
    expect(app.client.requestCounts).toEqual({ reads: 0, writes: 3, notifying: 0 });
  });

  it('may be taken away although they are gone already', async () => {
    await repository().removeLabel(7, 'metainfer:needs-knowledge');
    expect(github.count('DELETE', /\/issues\/7\/labels\/metainfer:needs-knowledge$/)).toBe(1);
  });
});

describe('the app itself', () => {
  it('knows its slug and asks once', async () => {
    expect(await app.client.whoami()).toEqual({ slug: 'metainfer', url: 'https://x/app' });
    await app.client.whoami();
    expect(github.count('GET', /^\/app$/)).toBe(1);
    const request = github.seen.find(({ path }) => path === '/app');
    expect(request?.headers.authorization).toMatch(/^bearer ey/i);
  });

  it('reads what the installation granted by its own JWT, not by a token', async () => {
    github.on('GET', /^\/repos\/octo\/engines\/installation$/, () => ({
      status: 200,
      body: { id: 5, permissions: { actions: 'write' } },
    }));
    expect(await repository().grantedPermissions()).toEqual({ actions: 'write' });
    expect(github.count('POST', /access_tokens/)).toBe(0);
  });

  it('lists deliveries back to a time over several pages, with ids larger than a number holds', async () => {
    const deliver = (id: string, at: string) =>
      `{"id":${id},"guid":"g${id}","event":"issues","status_code":500,"delivered_at":"${at}","redelivery":false}`;
    const first = `[${deliver('3804004623172239366', '2026-11-30T10:00:00Z')}]`;
    const second = `[${deliver('41', '2026-11-30T09:00:00Z')},${deliver('40', '2026-11-30T07:00:00Z')}]`;
    github.on('GET', /^\/app\/hook\/deliveries$/, ({ query }) => ({
      status: 200,
      raw: Buffer.from(query.get('cursor') === 'c2' ? second : first),
      headers: {
        'content-type': 'application/json',
        link: `<${github.url}/api/v3/app/hook/deliveries?per_page=100&cursor=${query.get('cursor') === 'c2' ? 'c3' : 'c2'}>; rel="next"`,
      },
    }));
    const deliveries = await app.client.listDeliveries(new Date('2026-11-30T08:00:00Z'));
    expect(deliveries.map(({ id }) => id)).toEqual(['3804004623172239366', '41']);
    expect(deliveries[0]).toMatchObject({ guid: 'g3804004623172239366', status: 500, isRedelivery: false });
    expect(github.count('GET', /deliveries$/)).toBe(2);
  });

  it('asks for a redelivery by the exact id', async () => {
    const path = /^\/app\/hook\/deliveries\/3804004623172239366\/attempts$/;
    github.on('POST', path, () => ({ status: 202, body: {} }));
    await app.client.redeliver('3804004623172239366');
    expect(github.count('POST', path)).toBe(1);
  });
});
