import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKnowledgeAt } from '../../src/preparation/open-knowledge-at.ts';
import { validTree } from '../knowledge/knowledge-tree.ts';

const scratch = mkdtempSync(join(tmpdir(), 'metainfer-at-'));
const repository = join(scratch, 'home');
const cache = join(scratch, 'cache');
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function git(...args: string[]): void {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', ['-C', repository, ...who, ...args], { stdio: 'pipe' });
}

function write(files: Readonly<Record<string, string>>, root = join(repository, 'knowledge')): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const realization = 'contracts/norm-rms/realizations/cpu-f32.cpp';

beforeAll(() => {
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'README.md'), 'Nothing yet.\n');
  git('add', '.');
  git('commit', '-qm', 'nothing yet');
  git('tag', 'empty');
  write(validTree());
  git('add', '.');
  git('commit', '-qm', 'first');
  git('tag', 'first');
  rmSync(join(repository, 'knowledge', realization));
  write({ 'contracts/norm-rms/gate.yaml': 'broken: [' });
  git('add', '-A');
  git('commit', '-qm', 'broken');
});

const open = (place: string) => openKnowledgeAt(place, cache, repository);

describe('knowledge of another place', () => {
  it('is that of a tag, whatever the working tree holds', async () => {
    const { catalog } = await open('first');
    expect(catalog.contracts.flatMap(({ realizations }) => realizations.map(({ file }) => file))).toContain(
      'cpu-f32.cpp',
    );
  });

  it('is that of a folder, with or without knowledge/ in it', async () => {
    const folder = join(scratch, 'theirs');
    write(validTree(), join(folder, 'knowledge'));
    const [whole, inner] = [await open(folder), await open(join(folder, 'knowledge'))];
    expect(whole.catalog).toEqual(inner.catalog);
    expect(whole.catalog.sha256).toBe((await open('first')).catalog.sha256);
  });

  it.each(['nowhere', '--help', '-o/tmp/x', 'first..main', ' ', '$(touch x)'])(
    'cannot be had of "%s", and says what it may be',
    async (place) => {
      await expect(open(place)).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringMatching(/is neither a folder with contracts\/ nor a commit, branch or tag/),
      });
    },
  );

  it('cannot be had of a commit without it', async () => {
    await expect(open('empty')).rejects.toMatchObject({
      code: 'USAGE',
      message: 'empty has no folder knowledge/.',
    });
  });

  it('tells the faults of a commit whose knowledge is broken', async () => {
    await expect(open('main')).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(
        /^The knowledge of main cannot be used by this program\.[\s\S]*gate\.yaml:1/,
      ),
    });
  });
});
