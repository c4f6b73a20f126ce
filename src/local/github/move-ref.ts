import { readLooseRef } from './read-commits.ts';
import { emitRefChange } from './ref-events.ts';
import { GitHubError } from './router.ts';
import type { RefChange, Repository, World } from './world.ts';

/** Commit of a branch (short or full ref name), undefined where there is none. */
export async function readRef(
  world: World,
  repository: Repository,
  ref: string,
): Promise<string | undefined> {
  const full = ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
  const sha = await readLooseRef(repository, full);
  if (sha !== undefined) return sha;
  const text = await world.git(repository, ['for-each-ref', '--format=%(refname) %(objectname)', full]);
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${full} `));
  return line?.slice(full.length + 1);
}

/**
 * Makes, moves or deletes (`to` null) a ref, then emits `push`, `create` or `delete` and runs the ref listeners, so
 * that pull requests follow. Not forced, a branch moves forward only.
 * @throws GitHubError 422 for a non-fast-forward or an unknown commit, 409 where the ref moved meanwhile
 */
export async function moveRef(
  world: World,
  repository: Repository,
  move: {
    /** Full name: refs/heads/main. */
    readonly ref: string;
    readonly to: string | null;
    readonly force?: boolean;
    readonly sender: RefChange['sender'];
  },
): Promise<RefChange> {
  const before = (await readRef(world, repository, move.ref)) ?? null;
  const change: RefChange = { ref: move.ref, before, after: move.to, sender: move.sender };
  if (before === move.to) return change;
  if (move.to !== null) {
    await requireCommit(world, repository, move.to);
    if (before !== null && move.force !== true) await requireFastForward(world, repository, before, move.to);
  }
  const zero = '0'.repeat(40);
  const line =
    move.to === null ? `delete ${move.ref} ${before}\n` : `update ${move.ref} ${move.to} ${before ?? zero}\n`;
  try {
    await world.git(repository, ['update-ref', '--stdin'], line);
  } catch {
    throw new GitHubError(409, `Cannot update ${move.ref}: it is not at ${before ?? zero} any more`);
  }
  await announceRefChange(world, repository, change);
  return change;
}

/** What follows a change of a ref that git has made already (a push). */
export async function announceRefChange(
  world: World,
  repository: Repository,
  change: RefChange,
): Promise<void> {
  repository.pushedAt = world.now();
  await emitRefChange(world, repository, change);
  for (const listener of world.refListeners) await listener(world, repository, change);
}

async function requireCommit(world: World, repository: Repository, sha: string): Promise<void> {
  const type = await world.git(repository, ['cat-file', '-t', sha]).catch(() => '');
  if (!/^[0-9a-f]{40}$/.test(sha) || type !== 'commit\n') {
    throw new GitHubError(422, 'Object does not exist');
  }
}

async function requireFastForward(
  world: World,
  repository: Repository,
  before: string,
  after: string,
): Promise<void> {
  try {
    await world.git(repository, ['merge-base', '--is-ancestor', before, after]);
  } catch {
    throw new GitHubError(422, 'Update is not a fast forward');
  }
}
