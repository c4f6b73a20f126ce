import { type Commit, readChangedPaths, readCommit, readCommits, type Signature } from './read-commits.ts';
import { renderRepository, repositoryHtmlUrl, timestamp } from './render.ts';
import type { RefChange, Repository, World } from './world.ts';

const zeroSha = '0'.repeat(40);
/** GitHub names at most so many commits in one push. */
const maxCommits = 2048;

/** Emits `push`, and `create` or `delete` where a branch or tag came or went. */
export async function emitRefChange(world: World, repository: Repository, change: RefChange): Promise<void> {
  const { sender } = change;
  if (!/^refs\/(heads|tags)\//.test(change.ref)) return;
  world.emit(repository, 'push', await pushPayload(world, repository, change), sender);
  const name = change.ref.replace(/^refs\/(heads|tags)\//, '');
  const kind = { ref: name, ref_type: change.ref.startsWith('refs/tags/') ? 'tag' : 'branch' };
  const pusher = { pusher_type: 'user' };
  if (change.before === null) {
    const rest = { master_branch: repository.defaultBranch, description: null, ...pusher };
    world.emit(repository, 'create', { ...kind, ...rest }, sender);
  }
  if (change.after === null) world.emit(repository, 'delete', { ...kind, ...pusher }, sender);
}

async function pushPayload(
  world: World,
  repository: Repository,
  change: RefChange,
): Promise<Record<string, unknown>> {
  const { before, after, sender } = change;
  const commits = after === null ? [] : await newCommits(world, repository, change);
  const rendered: Record<string, unknown>[] = [];
  for (const commit of commits) rendered.push(await renderPushed(world, repository, commit));
  const last = rendered.at(-1) ?? (await renderHead(world, repository, after));
  const html = repositoryHtmlUrl(world, repository);
  return {
    ref: change.ref,
    before: before ?? zeroSha,
    after: after ?? zeroSha,
    repository: pushedRepository(world, repository),
    pusher: { name: sender.login, email: `${sender.id}+${sender.login}@users.noreply.github.com` },
    created: before === null,
    deleted: after === null,
    forced: await isForced(world, repository, change, commits[0]),
    base_ref: null,
    compare: `${html}/compare/${(before ?? zeroSha).slice(0, 12)}...${(after ?? zeroSha).slice(0, 12)}`,
    commits: rendered,
    head_commit: last,
  };
}

async function renderHead(
  world: World,
  repository: Repository,
  after: string | null,
): Promise<Record<string, unknown> | null> {
  if (after === null) return null;
  return renderPushed(world, repository, await readCommit(world, repository, after));
}

/** Push events alone give times of the repository in seconds. */
function pushedRepository(world: World, repository: Repository): Record<string, unknown> {
  return {
    ...renderRepository(world, repository),
    url: repositoryHtmlUrl(world, repository),
    created_at: Math.floor(repository.createdAt.getTime() / 1000),
    pushed_at: Math.floor(repository.pushedAt.getTime() / 1000),
    stargazers: 0,
    master_branch: repository.defaultBranch,
  };
}

/** Commits that the ref did not have, oldest first; on a new ref, those that no other branch has. */
async function newCommits(
  world: World,
  repository: Repository,
  { ref, before, after }: RefChange,
): Promise<readonly Commit[]> {
  const known = before === null ? ['--not', `--exclude=${ref}`, '--branches'] : [`^${before}`];
  return readCommits(world, repository, ['--reverse', `-${maxCommits}`, after!, ...known]);
}

async function isForced(
  world: World,
  repository: Repository,
  { before, after }: RefChange,
  first: Commit | undefined,
): Promise<boolean> {
  if (before === null || after === null || first?.parents.includes(before)) return false;
  return world.git(repository, ['merge-base', '--is-ancestor', before, after]).then(
    () => false,
    () => true,
  );
}

async function renderPushed(
  world: World,
  repository: Repository,
  commit: Commit,
): Promise<Record<string, unknown>> {
  const changes = await readChangedPaths(world, repository, commit.sha);
  const paths = (status: string) =>
    changes.filter((change) => change.status === status).map((change) => change.path);
  return {
    id: commit.sha,
    tree_id: commit.treeSha,
    distinct: true,
    message: commit.message,
    timestamp: timestamp(commit.committer.date),
    url: `${repositoryHtmlUrl(world, repository)}/commit/${commit.sha}`,
    author: pushedSignature(commit.author),
    committer: pushedSignature(commit.committer),
    added: paths('added'),
    removed: paths('removed'),
    modified: paths('modified'),
  };
}

function pushedSignature(signature: Signature): Record<string, unknown> {
  return { name: signature.name, email: signature.email, date: timestamp(signature.date) };
}
