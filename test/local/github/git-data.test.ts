import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scene, startScene } from './start-scene.ts';

const repo = '/repos/octo/demo';
let scene: Scene;

beforeAll(async () => {
  scene = await startScene({
    files: {
      'README.md': '# demo\n',
      'src/one.txt': 'one\ntwo\nthree\n',
      '.github/workflows/build.yml': 'on: push\n',
    },
  });
});
afterAll(async () => {
  await scene.github.settled();
  await scene.stop();
  expect(scene.watch.problems).toEqual([]);
});

async function headOf(branch: string): Promise<string> {
  return (await scene.bot('GET', `${repo}/git/ref/heads/${branch}`)).body.object.sha;
}

async function commitOn(parent: string, tree: readonly unknown[], message = 'A change'): Promise<string> {
  const base = (await scene.bot('GET', `${repo}/git/commits/${parent}`)).body.tree.sha;
  const made = await scene.bot('POST', `${repo}/git/trees`, { base_tree: base, tree });
  const commit = await scene.bot('POST', `${repo}/git/commits`, {
    message,
    tree: made.body.sha,
    parents: [parent],
  });
  expect(commit.status).toBe(201);
  return commit.body.sha;
}

describe('git data through the API', () => {
  it('makes a commit from inline files on top of a base tree and a branch for it', async () => {
    const head = await headOf('main');
    const sha = await commitOn(head, [
      { path: 'engines/a/model.cpp', mode: '100644', type: 'blob', content: 'int main() {}\n' },
      { path: 'src/one.txt', mode: '100644', type: 'blob', sha: null },
    ]);
    const made = await scene.bot('POST', `${repo}/git/refs`, { ref: 'refs/heads/topic/one', sha });
    expect(made.status).toBe(201);
    expect(made.body.object).toMatchObject({ type: 'commit', sha });
    const tree = await scene.bot('GET', `${repo}/git/trees/topic%2Fone?recursive=1`);
    const paths = tree.body.tree.map((entry: { path: string }) => entry.path);
    expect(paths).toContain('engines/a/model.cpp');
    expect(paths).not.toContain('src/one.txt');
    const commit = (await scene.bot('GET', `${repo}/commits/topic%2Fone`)).body;
    expect(commit).toMatchObject({ sha, parents: [{ sha: head }], stats: { additions: 1, deletions: 3 } });
    expect(commit.author.login).toBe('metainfer-test[bot]');
  });

  it('refuses a branch name that is taken, a commit that is not there and a bad name', async () => {
    const sha = await headOf('main');
    const create = (ref: string, at = sha) => scene.bot('POST', `${repo}/git/refs`, { ref, sha: at });
    expect(await create('refs/heads/main')).toMatchObject({
      status: 422,
      body: { message: 'Reference already exists' },
    });
    expect((await create('refs/heads/x', '0'.repeat(40))).body.message).toBe('Object does not exist');
    expect((await create('heads/x')).status).toBe(422);
    expect((await create('refs/heads/a..b')).status).toBe(422);
  });

  it('moves a branch forward only, unless it is forced', async () => {
    const head = await headOf('main');
    const left = await commitOn(head, [{ path: 'a', mode: '100644', type: 'blob', content: 'left\n' }]);
    const right = await commitOn(head, [{ path: 'a', mode: '100644', type: 'blob', content: 'right\n' }]);
    await scene.bot('POST', `${repo}/git/refs`, { ref: 'refs/heads/forward', sha: left });
    const path = `${repo}/git/refs/heads/forward`;
    const refused = await scene.bot('PATCH', path, { sha: right });
    expect(refused).toMatchObject({ status: 422, body: { message: 'Update is not a fast forward' } });
    expect(await headOf('forward')).toBe(left);
    expect((await scene.bot('PATCH', path, { sha: right, force: true })).status).toBe(200);
    expect(await headOf('forward')).toBe(right);
    expect((await scene.bot('DELETE', path)).status).toBe(204);
    expect((await scene.bot('GET', `${repo}/git/ref/heads/forward`)).status).toBe(404);
    expect((await scene.bot('PATCH', path, { sha: left })).body.message).toBe('Reference does not exist');
  });

  it('refuses tree entries that leave the repository or name nothing', async () => {
    const entry = (fields: object) =>
      scene.bot('POST', `${repo}/git/trees`, {
        tree: [{ path: 'a', mode: '100644', type: 'blob', ...fields }],
      });
    expect((await entry({ path: '../a', content: 'x' })).status).toBe(422);
    expect((await entry({ path: '.git/config', content: 'x' })).status).toBe(422);
    expect((await entry({ path: '/a', content: 'x' })).status).toBe(422);
    expect((await entry({ mode: '777', content: 'x' })).status).toBe(422);
    expect((await entry({ sha: 'f'.repeat(40) })).body.message).toContain('is not a valid blob');
  });

  it('keeps an app without the workflows permission from changing workflow files in any way', async () => {
    const file = { path: '.github/workflows/evil.yml', mode: '100644', type: 'blob', content: 'on: push\n' };
    const viaTree = await scene.bot('POST', `${repo}/git/trees`, { tree: [file] });
    expect(viaTree).toMatchObject({
      status: 403,
      body: { message: 'Resource not accessible by integration' },
    });
    const content = Buffer.from('on: push\n').toString('base64');
    const put = { message: 'x', content };
    expect((await scene.bot('PUT', `${repo}/contents/.github/workflows/evil.yml`, put)).status).toBe(403);
    const head = await headOf('main');
    const without = await scene.owner('POST', `${repo}/git/trees`, { tree: [{ ...file, path: 'other' }] });
    const commit = { message: 'x', tree: without.body.sha, parents: [head] };
    const { sha } = (await scene.owner('POST', `${repo}/git/commits`, commit)).body;
    const viaRef = await scene.bot('POST', `${repo}/git/refs`, { ref: 'refs/heads/evil', sha });
    expect(viaRef.status).toBe(403);
    expect((await scene.owner('PUT', `${repo}/contents/.github/workflows/fine.yml`, put)).status).toBe(201);
  });

  it('gives files, folders and raw bytes of any ref, and 404 for what is not there', async () => {
    const file = await scene.bot('GET', `${repo}/contents/src/one.txt`);
    expect(Buffer.from(file.body.content, 'base64').toString()).toBe('one\ntwo\nthree\n');
    expect(file.body).toMatchObject({ type: 'file', size: 14, encoding: 'base64' });
    const raw = await scene.bot('GET', `${repo}/contents/src%2Fone.txt`, undefined, {
      accept: 'application/vnd.github.raw+json',
    });
    expect(raw.body).toBe('one\ntwo\nthree\n');
    const root = await scene.bot('GET', `${repo}/contents/`);
    expect(root.body.map((entry: { path: string }) => entry.path)).toContain('src');
    const folder = await scene.bot('GET', `${repo}/contents/src?ref=main`);
    expect(folder.body).toMatchObject([{ path: 'src/one.txt', type: 'file' }]);
    expect((await scene.bot('GET', `${repo}/contents/nope.txt`)).status).toBe(404);
    expect((await scene.bot('GET', `${repo}/contents/src?ref=nope`)).status).toBe(404);
  });

  it('replaces a file only for who knows what is there', async () => {
    const content = Buffer.from('new\n').toString('base64');
    const path = `${repo}/contents/notes.md`;
    const put = (fields: object) => scene.owner('PUT', path, { message: 'Notes', content, ...fields });
    const made = await put({});
    expect(made.status).toBe(201);
    expect((await put({})).status).toBe(422);
    expect((await put({ sha: '0'.repeat(40) })).status).toBe(409);
    expect((await put({ sha: made.body.content.sha })).status).toBe(200);
    expect((await put({ branch: 'nope' })).status).toBe(404);
  });

  it('stores bytes as a blob and gives them back unchanged', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const content = bytes.toString('base64');
    const made = await scene.bot('POST', `${repo}/git/blobs`, { content, encoding: 'base64' });
    const got = await scene.bot('GET', `${repo}/git/blobs/${made.body.sha}`);
    expect(Buffer.from(got.body.content, 'base64')).toEqual(bytes);
  });

  it('compares two branches from where they parted', async () => {
    const main = await headOf('main');
    const side = await commitOn(main, [
      { path: 'side.txt', mode: '100644', type: 'blob', content: 'a\nb\n' },
    ]);
    await scene.bot('POST', `${repo}/git/refs`, { ref: 'refs/heads/side', sha: side });
    const content = Buffer.from('m\n').toString('base64');
    await scene.owner('PUT', `${repo}/contents/moved.md`, { message: 'Main moves on', content });
    const compared = (await scene.bot('GET', `${repo}/compare/main...side`)).body;
    expect(compared).toMatchObject({ status: 'diverged', ahead_by: 1, behind_by: 1 });
    expect(compared.merge_base_commit.sha).toBe(main);
    expect(compared.files).toMatchObject([
      { filename: 'side.txt', status: 'added', patch: '@@ -0,0 +1,2 @@\n+a\n+b' },
    ]);
    expect((await scene.bot('GET', `${repo}/compare/main...nope`)).status).toBe(404);
  });

  it('lists branches and commits a page at a time, linked as GitHub links them', async () => {
    const first = await scene.bot('GET', `${repo}/commits?per_page=1`);
    expect(first.body).toHaveLength(1);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await scene.bot('GET', next.slice(scene.github.apiUrl.length));
    expect(second.body[0].sha).toBe(first.body[0].parents[0].sha);
    const branch = await scene.bot('GET', `${repo}/branches/main`);
    expect(branch.body.commit.sha).toBe(await headOf('main'));
    const branches = await scene.bot('GET', `${repo}/branches?per_page=100`);
    expect(branches.body.map(({ name }: { name: string }) => name)).toContain('main');
    expect((await scene.bot('GET', `${repo}/branches/nope`)).status).toBe(404);
  });
});
