import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const root = '/repos/octo/engines';
const once = { scope: 'run-1', key: 'engine-commit' };
const branch = 'metainfer/7-tiny';
const refsPath = /\/git\/refs$/;
const refPath = /\/git\/refs\/heads\/(.+)$/;
const badGateway = { status: 502, body: { message: 'Server Error' } };

interface Commit {
  readonly message: string;
  readonly tree: string;
  readonly parents: readonly string[];
}

let github: ScriptedGitHub;
let app: AppUnderTest;
let commits: Map<string, Commit>;
let branches: Map<string, string>;

const shaOf = (number: number) => String(number).padStart(40, '0');

/** Commits and branches as far as the adapter uses them: fast-forward is decided by the first parent. */
function serveGitData(): void {
  commits = new Map([[shaOf(1), { message: 'start', tree: 'tree-0', parents: [] }]]);
  branches = new Map([['main', shaOf(1)]]);
  github.on('GET', new RegExp(`^${root}/branches/(.+)$`), (_request, [, name = '']) => {
    const sha = branches.get(name);
    const commit = sha === undefined ? undefined : commits.get(sha);
    if (sha === undefined || commit === undefined)
      return { status: 404, body: { message: 'Branch not found' } };
    const parents = commit.parents.map((it) => ({ sha: it }));
    const detail = { message: commit.message, tree: { sha: commit.tree } };
    return { status: 200, body: { name, commit: { sha, parents, commit: detail } } };
  });
  github.on('POST', /\/git\/trees$/, () => ({ status: 201, body: { sha: 'tree-1' } }));
  github.on('POST', /\/git\/commits$/, ({ body }) => {
    const sha = shaOf(commits.size + 1);
    commits.set(sha, body as unknown as Commit);
    return { status: 201, body: { sha } };
  });
  github.on('POST', refsPath, ({ body }) => {
    const name = String(body.ref).replace('refs/heads/', '');
    if (branches.has(name)) return { status: 422, body: { message: 'Reference already exists' } };
    branches.set(name, String(body.sha));
    return { status: 201, body: {} };
  });
  github.on('PATCH', refPath, ({ body }, [, name = '']) => {
    const sha = String(body.sha);
    if (!branches.has(name)) return { status: 422, body: { message: 'Reference does not exist' } };
    const isForward = commits.get(sha)?.parents.includes(branches.get(name) ?? '') === true;
    if (!isForward || body.force !== false) {
      return { status: 422, body: { message: 'Update is not a fast forward' } };
    }
    branches.set(name, sha);
    return { status: 200, body: {} };
  });
}

function addCommit(name: string, message: string, parents: readonly string[]): string {
  const sha = shaOf(commits.size + 1);
  commits.set(sha, { message, tree: 'tree-x', parents });
  branches.set(name, sha);
  return sha;
}

beforeEach(async () => {
  github = await startScriptedGitHub();
  serveGitData();
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);

const change = {
  branch,
  base: 'main',
  expectedHead: undefined as string | undefined,
  files: [{ path: 'engines/tiny/main.cpp', text: 'int main() {}\n' }],
  message: 'Engine for tiny\n',
  trailers: { 'Metainfer-Run': 'run-1', 'Metainfer-Phase': 'engine' },
};
const ourMessage = 'Engine\n\nMetainfer-Run: run-1\nMetainfer-Effect: run-1/engine-commit\n';

describe('a commit of generated files', () => {
  it('is one tree, one commit and one ref on a new branch, with its trailers', async () => {
    const { sha } = await repository().commitFiles(once, change);
    expect(branches.get(branch)).toBe(sha);
    expect(commits.get(sha)).toMatchObject({ tree: 'tree-1', parents: [shaOf(1)] });
    expect(commits.get(sha)?.message).toBe(
      'Engine for tiny\n\nMetainfer-Run: run-1\nMetainfer-Phase: engine\nMetainfer-Effect: run-1/engine-commit\n',
    );
    const tree = github.seen.find(({ path }) => path.endsWith('/git/trees'));
    expect(tree?.body).toEqual({
      base_tree: 'tree-0',
      tree: [{ path: 'engines/tiny/main.cpp', mode: '100644', type: 'blob', content: 'int main() {}\n' }],
    });
    expect(app.client.requestCounts).toEqual({ reads: 1, writes: 3, notifying: 0 });
  });

  it('goes on top of the expected head without force', async () => {
    const first = await repository().commitFiles(once, change);
    const second = await repository().commitFiles(
      { scope: 'run-1', key: 'report-commit' },
      { ...change, expectedHead: first.sha },
    );
    expect(branches.get(branch)).toBe(second.sha);
    expect(commits.get(second.sha)?.parents).toEqual([first.sha]);
  });

  it('stops with BRANCH_MOVED where somebody pushed meanwhile, and overwrites nothing', async () => {
    const first = await repository().commitFiles(once, change);
    const theirs = addCommit(branch, 'a person was here', [first.sha]);
    const key = { scope: 'run-1', key: 'report-commit' };
    await expect(repository().commitFiles(key, { ...change, expectedHead: first.sha })).rejects.toMatchObject(
      { code: 'BRANCH_MOVED', message: expect.stringContaining(branch) },
    );
    expect(branches.get(branch)).toBe(theirs);
  });

  it('stops with BRANCH_MOVED where the push came between the look and the ref', async () => {
    const first = await repository().commitFiles(once, change);
    github.on('POST', /\/git\/commits$/, ({ body }) => {
      const sha = shaOf(90);
      commits.set(sha, body as unknown as Commit);
      branches.set(branch, shaOf(1));
      return { status: 201, body: { sha } };
    });
    const key = { scope: 'run-1', key: 'report-commit' };
    await expect(repository().commitFiles(key, { ...change, expectedHead: first.sha })).rejects.toMatchObject(
      { code: 'BRANCH_MOVED' },
    );
    expect(branches.get(branch)).toBe(shaOf(1));
  });

  it('does not take over a branch of the same name that it did not make', async () => {
    const theirs = addCommit(branch, 'my own work\n\nMetainfer-Run: run-0', []);
    await expect(repository().commitFiles(once, change)).rejects.toMatchObject({ code: 'BRANCH_MOVED' });
    expect(branches.get(branch)).toBe(theirs);
  });

  it('is adopted after a crash between the ref and its record', async () => {
    const left = addCommit(branch, ourMessage, [shaOf(1)]);
    await app.effects.begin(once.scope, once.key);
    expect(await repository().commitFiles(once, change)).toEqual({ sha: left });
    expect(app.client.requestCounts.writes).toBe(0);
  });

  it('that landed later than anybody looked is known by its trailer', async () => {
    const late = addCommit(branch, ourMessage, [shaOf(1)]);
    expect(await repository().commitFiles(once, change)).toEqual({ sha: late });
    expect(branches.get(branch)).toBe(late);
  });

  it('does not adopt a commit that stands on another head than expected', async () => {
    const first = addCommit(branch, 'engine', [shaOf(1)]);
    const message = 'Report\n\nMetainfer-Effect: run-1/report-commit';
    addCommit(branch, message, [shaOf(1)]);
    const key = { scope: 'run-1', key: 'report-commit' };
    await app.effects.begin(key.scope, key.key);
    await expect(repository().commitFiles(key, { ...change, expectedHead: first })).rejects.toMatchObject({
      code: 'BRANCH_MOVED',
    });
  });

  it('makes one commit where the answer to the new ref was lost', async () => {
    github.faults.push({ method: 'POST', path: refsPath, reply: badGateway, lands: true });
    const { sha } = await repository().commitFiles(once, change);
    expect(branches.get(branch)).toBe(sha);
    expect(github.count('POST', /\/git\/commits$/)).toBe(1);
    expect(github.count('POST', refsPath)).toBe(1);
  });

  it('sends only the ref again where it did not land', async () => {
    github.faults.push({ method: 'POST', path: refsPath, reply: badGateway });
    await repository().commitFiles(once, change);
    expect(github.count('POST', /\/git\/trees$/)).toBe(1);
    expect(github.count('POST', refsPath)).toBe(2);
  });

  it('is adopted where the caller takes our own unrecorded commit for the expected head', async () => {
    const left = addCommit(branch, ourMessage, [shaOf(1)]);
    await app.effects.begin(once.scope, once.key);
    const again = { ...change, expectedHead: left };
    expect(await repository().commitFiles(once, again)).toEqual({ sha: left });
    expect(app.client.requestCounts.writes).toBe(0);
  });

  it('takes files away, but only those that are there', async () => {
    github.on('GET', /\/git\/trees\/tree-0$/, () => ({
      status: 200,
      body: { tree: [{ path: 'engines/tiny/old.cpp' }, { path: 'README.md' }] },
    }));
    const deletions = ['engines/tiny/old.cpp', 'engines/tiny/report.json'];
    await repository().commitFiles(once, { ...change, deletions });
    const tree = github.seen.find(({ path }) => path.endsWith('/git/trees'));
    expect(tree?.body.tree).toEqual([
      { path: 'engines/tiny/main.cpp', mode: '100644', type: 'blob', content: 'int main() {}\n' },
      { path: 'engines/tiny/old.cpp', mode: '100644', type: 'blob', sha: null },
    ]);
  });

  it('never touches .github, whatever asks for it', async () => {
    for (const path of ['.github/workflows/x.yml', '/etc/x', 'engines/../.github/x', 'engines/.git/config']) {
      const files = [{ path, text: '' }];
      await expect(repository().commitFiles(once, { ...change, files })).rejects.toThrow(
        /Nothing may be written/,
      );
    }
    expect(github.seen).toEqual([]);
  });

  it('says where the base branch is missing', async () => {
    branches.delete('main');
    await expect(repository().commitFiles(once, change)).rejects.toThrow(
      /The branch main of octo\/engines is not there/,
    );
    expect(await repository().readBranch('main')).toBeUndefined();
  });
});
