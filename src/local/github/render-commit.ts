import type { Commit, Signature } from './read-commits.ts';
import { renderUser, repositoryApiUrl, repositoryHtmlUrl, timestamp } from './render.ts';
import type { Repository, World } from './world.ts';

/** A commit as `…/commits` gives it: with the accounts of its author and committer. */
export function renderCommit(world: World, repository: Repository, commit: Commit): Record<string, unknown> {
  const url = `${repositoryApiUrl(world, repository)}/commits/${commit.sha}`;
  const gitUrl = `${repositoryApiUrl(world, repository)}/git/commits/${commit.sha}`;
  return {
    sha: commit.sha,
    node_id: `C_${commit.sha}`,
    commit: {
      author: renderSignature(commit.author),
      committer: renderSignature(commit.committer),
      message: commit.message,
      tree: renderTreeLink(world, repository, commit.treeSha),
      url: gitUrl,
      comment_count: 0,
      verification,
    },
    url,
    html_url: `${repositoryHtmlUrl(world, repository)}/commit/${commit.sha}`,
    comments_url: `${url}/comments`,
    author: accountOf(world, commit.author),
    committer: accountOf(world, commit.committer),
    parents: renderParents(world, repository, commit, 'commits'),
  };
}

/** A commit as `…/git/commits` gives it: the bare git object. */
export function renderGitCommit(
  world: World,
  repository: Repository,
  commit: Commit,
): Record<string, unknown> {
  return {
    sha: commit.sha,
    node_id: `C_${commit.sha}`,
    url: `${repositoryApiUrl(world, repository)}/git/commits/${commit.sha}`,
    html_url: `${repositoryHtmlUrl(world, repository)}/commit/${commit.sha}`,
    author: renderSignature(commit.author),
    committer: renderSignature(commit.committer),
    tree: renderTreeLink(world, repository, commit.treeSha),
    message: commit.message,
    parents: renderParents(world, repository, commit, 'git/commits'),
    verification,
  };
}

const verification = {
  verified: false,
  reason: 'unsigned',
  signature: null,
  payload: null,
  verified_at: null,
};

function renderTreeLink(world: World, repository: Repository, sha: string): Record<string, unknown> {
  return { sha, url: `${repositoryApiUrl(world, repository)}/git/trees/${sha}` };
}

function renderParents(
  world: World,
  repository: Repository,
  commit: Commit,
  kind: string,
): readonly Record<string, unknown>[] {
  return commit.parents.map((sha) => ({
    sha,
    url: `${repositoryApiUrl(world, repository)}/${kind}/${sha}`,
    html_url: `${repositoryHtmlUrl(world, repository)}/commit/${sha}`,
  }));
}

function renderSignature(signature: Signature): Record<string, unknown> {
  return { name: signature.name, email: signature.email, date: timestamp(signature.date) };
}

/** GitHub finds accounts by their noreply address; null for everybody else. */
function accountOf(world: World, signature: Signature): Record<string, unknown> | null {
  const id = /^(\d+)\+.*@users\.noreply\.github\.com$/.exec(signature.email)?.[1];
  const user = id === undefined ? undefined : world.users.get(Number(id));
  return user === undefined ? null : renderUser(world, user);
}
