import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository, World } from './world.ts';

export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly date: Date;
}

export interface Commit {
  readonly sha: string;
  readonly treeSha: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

export interface ChangedPath {
  readonly path: string;
  readonly status: 'added' | 'removed' | 'modified';
}

const format = ['%H', '%T', '%P', '%an', '%ae', '%at', '%cn', '%ce', '%ct', '%B'].join('%x1f');

/** Commits as `git log` selects them by `args`, newest first: `['main']`, `['--reverse', 'a..b']`. */
export async function readCommits(
  world: World,
  repository: Repository,
  args: readonly string[],
): Promise<readonly Commit[]> {
  const text = await world.git(repository, ['log', '-z', `--format=${format}`, ...args]);
  return text
    .split('\0')
    .filter((entry) => entry !== '')
    .map(parseCommit);
}

function parseCommit(entry: string): Commit {
  const [sha = '', tree = '', parents = '', ...rest] = entry.split('\x1f');
  const [authorName = '', authorEmail = '', authored = '', name = '', email = '', committed = ''] = rest;
  return {
    sha,
    treeSha: tree,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author: { name: authorName, email: authorEmail, date: new Date(Number(authored) * 1000) },
    committer: { name, email, date: new Date(Number(committed) * 1000) },
    message: rest.slice(6).join('\x1f').replace(/\n+$/, ''),
  };
}

/** Commits never change, and the same few are asked for all the time. */
const known = new WeakMap<Repository, Map<string, Commit>>();

/** One commit by its SHA. @throws GitFailure where there is none */
export async function readCommit(world: World, repository: Repository, sha: string): Promise<Commit> {
  const commits = known.get(repository) ?? new Map<string, Commit>();
  known.set(repository, commits);
  const found = commits.get(sha) ?? (await readCommits(world, repository, ['-1', sha]))[0]!;
  commits.set(sha, found);
  return found;
}

/** The full SHA of whatever names a commit: branch, tag, short SHA; undefined where nothing does. */
export async function resolveCommit(
  world: World,
  repository: Repository,
  name: string,
): Promise<string | undefined> {
  if (name === '' || name.startsWith('-') || /[\s^:~?*[\\]|\.\./.test(name)) return undefined;
  const head = await readLooseRef(repository, `refs/heads/${name}`);
  if (head !== undefined) return head;
  if (known.get(repository)?.has(name)) return name;
  const names = [`refs/heads/${name}`, `refs/tags/${name}`, name];
  const questions = names.map((candidate) => `${candidate}^{commit}\n`).join('');
  const answers = await world.git(repository, ['cat-file', '--batch-check=%(objectname)'], questions);
  return answers.split('\n').find((answer) => /^[0-9a-f]{40}$/.test(answer));
}

/**
 * What a ref's own file says; undefined tells nothing. Refs are read often, and nothing packs them here, so that git
 * itself is seldom needed.
 */
export async function readLooseRef(repository: Repository, ref: string): Promise<string | undefined> {
  if (!/^refs\/[\w./-]+$/.test(ref) || ref.includes('..')) return undefined;
  const text = await readFile(join(repository.folder, ref), 'utf8').catch(() => '');
  return /^[0-9a-f]{40}\n$/.test(text) ? text.trim() : undefined;
}

/** What one commit changed against its first parent. */
export async function readChangedPaths(
  world: World,
  repository: Repository,
  sha: string,
): Promise<readonly ChangedPath[]> {
  const args = ['diff-tree', '--root', '--no-commit-id', '--no-renames', '-r', '-z', '--name-status', '-m'];
  const text = await world.git(repository, [...args, '--first-parent', sha]);
  const parts = text.split('\0').filter((part) => part !== '');
  const changes: ChangedPath[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const letter = parts[index];
    const status = letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'modified';
    changes.push({ path: parts[index + 1]!, status });
  }
  return changes;
}
