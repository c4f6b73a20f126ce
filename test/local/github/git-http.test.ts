import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scene, signAppToken, startScene } from './start-scene.ts';

const run = promisify(execFile);
let scene: Scene;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'metainfer-git-http-'));
  scene = await startScene({ isPrivate: true });
});
afterAll(async () => {
  await scene.stop();
  await rm(folder, { recursive: true });
  expect(scene.watch.problems).toEqual([]);
});

async function git(args: readonly string[], cwd = folder): Promise<string> {
  const identity = ['-c', 'user.name=Octo', '-c', 'user.email=octo@example.org'];
  const env = {
    PATH: '/usr/bin:/bin',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: folder,
  };
  return (await run('git', [...identity, ...args], { cwd, env })).stdout;
}

function remote(token?: string): string {
  const credentials = token === undefined ? '' : `x-access-token:${token}@`;
  return `${scene.github.url.replace('//', `//${credentials}`)}/octo/demo.git`;
}

async function mintToken(permissions: object): Promise<string> {
  const asApp = scene.call(signAppToken(scene.app.id, scene.privateKey));
  const path = `/app/installations/${scene.installation.id}/access_tokens`;
  return (await asApp('POST', path, { permissions })).body.token;
}

async function cloneAndCommit(name: string, token: string, file: string): Promise<string> {
  const clone = join(folder, name);
  await git(['clone', '--quiet', remote(token), clone]);
  await run('mkdir', ['-p', join(clone, '.github/workflows')]);
  await writeFile(join(clone, file), 'new\n');
  await git(['add', '-A'], clone);
  await git(['commit', '--quiet', '-m', `Add ${file}`], clone);
  return clone;
}

describe('git over smart HTTP', () => {
  it('clones and pushes with a token as password, and the push becomes an event', async () => {
    const clone = await cloneAndCommit('person', scene.github.userToken('octo'), 'pushed.txt');
    await git(['push', '--quiet', 'origin', 'HEAD:main', 'HEAD:topic'], clone);
    await scene.github.settled();
    const events = scene.received.filter(({ event }) => event === 'push' || event === 'create');
    expect(events.map(({ event, payload }) => `${event} ${payload.ref}`)).toEqual([
      'push refs/heads/main',
      'push refs/heads/topic',
      'create topic',
    ]);
    const sha = (await git(['rev-parse', 'HEAD'], clone)).trim();
    expect(events[0]!.payload).toMatchObject({
      after: sha,
      sender: { login: 'octo' },
      commits: [{ id: sha }],
    });
    const got = await scene.bot('GET', '/repos/octo/demo/contents/pushed.txt?ref=topic');
    expect(got.status).toBe(200);
  });

  it('gives one commit by its SHA, without history', async () => {
    const { sha } = (await scene.bot('GET', '/repos/octo/demo/commits/main')).body;
    await git(['init', '--quiet', 'shallow']);
    const shallow = join(folder, 'shallow');
    const token = await mintToken({ contents: 'read' });
    await git(['fetch', '--quiet', '--depth=1', remote(token), sha], shallow);
    expect(await git(['rev-list', '--count', 'FETCH_HEAD'], shallow)).toBe('1\n');
  });

  it('hides a private repository from strangers and from anybody without a token', async () => {
    await expect(git(['ls-remote', remote()])).rejects.toThrow(/could not read Username|Authentication/);
    await expect(git(['ls-remote', remote('ghp_garbage')])).rejects.toThrow();
    await expect(git(['ls-remote', remote(scene.github.userToken('stranger'))])).rejects.toThrow(/not found/);
  });

  it('lets an app push with contents: write only, and never workflow files', async () => {
    const clone = await cloneAndCommit('bot', await mintToken({ contents: 'write' }), 'fine.txt');
    await git(['push', '--quiet', 'origin', 'HEAD:bot'], clone);
    const reader = remote(await mintToken({ contents: 'read' }));
    await expect(git(['push', '--quiet', reader, 'HEAD:reader'], clone)).rejects.toThrow(/403/);
    await writeFile(join(clone, '.github/workflows/evil.yml'), 'on: push\n');
    await git(['add', '-A'], clone);
    await git(['commit', '--quiet', '-m', 'Evil'], clone);
    const pushed = git(['push', '--quiet', 'origin', 'HEAD:bot', 'HEAD:other'], clone);
    await expect(pushed).rejects.toThrow(/refusing to allow a GitHub App to create or update workflow/);
    const branches = (await scene.bot('GET', '/repos/octo/demo/branches')).body;
    expect(branches.map(({ name }: { name: string }) => name)).toEqual(['bot', 'main', 'topic']);
  });
});
