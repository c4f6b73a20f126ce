import type { Pull } from './conversation-data.ts';
import { countPullCommits, readPullFiles } from './pull-diff.ts';
import { renderRepository, renderUser, repositoryApiUrl, repositoryHtmlUrl, timestamp } from './render.ts';
import { renderLabel } from './render-conversation.ts';
import { associationOf } from './repository-role.ts';
import type { Repository, World } from './world.ts';

export function pullApiUrl(world: World, repository: Repository, pull: Pull): string {
  return `${repositoryApiUrl(world, repository)}/pulls/${pull.number}`;
}

export function pullHtmlUrl(world: World, repository: Repository, pull: Pull): string {
  return `${repositoryHtmlUrl(world, repository)}/pull/${pull.number}`;
}

function renderBranch(world: World, repository: Repository, ref: string, sha: string) {
  return {
    label: `${repository.owner.login}:${ref}`,
    ref,
    sha,
    user: renderUser(world, repository.owner),
    repo: renderRepository(world, repository),
  };
}

/** The addresses of a pull request's parts, by the name that `_links` gives them. */
function linksOf(world: World, repository: Repository, pull: Pull): Record<string, string> {
  const api = repositoryApiUrl(world, repository);
  const url = pullApiUrl(world, repository, pull);
  return {
    self: url,
    html: pullHtmlUrl(world, repository, pull),
    issue: `${api}/issues/${pull.number}`,
    comments: `${api}/issues/${pull.number}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${api}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses: `${api}/statuses/${pull.headSha}`,
  };
}

/** GitHub's "simple pull request", as lists and review events carry it. */
export function renderSimplePull(world: World, repository: Repository, pull: Pull): Record<string, unknown> {
  const { issue } = pull;
  const links = linksOf(world, repository, pull);
  const time = (date: Date | null) => (date === null ? null : timestamp(date));
  return {
    url: links.self,
    id: pull.id,
    node_id: pull.nodeId,
    html_url: links.html,
    diff_url: `${links.html}.diff`,
    patch_url: `${links.html}.patch`,
    issue_url: links.issue,
    number: pull.number,
    state: issue.state,
    locked: false,
    title: issue.title,
    user: renderUser(world, issue.user),
    body: issue.body,
    created_at: time(issue.createdAt),
    updated_at: time(issue.updatedAt),
    closed_at: time(issue.closedAt),
    merged_at: time(pull.mergedAt),
    merge_commit_sha: pull.mergeCommitSha,
    assignee: null,
    assignees: [],
    requested_reviewers: pull.requestedReviewers.map((user) => renderUser(world, user)),
    requested_teams: [],
    labels: issue.labels.map((label) => renderLabel(world, repository, label)),
    milestone: null,
    draft: pull.isDraft,
    commits_url: links.commits,
    review_comments_url: links.review_comments,
    review_comment_url: links.review_comment,
    comments_url: links.comments,
    statuses_url: links.statuses,
    head: renderBranch(world, pull.headRepository, pull.headRef, pull.headSha),
    base: renderBranch(world, repository, pull.baseRef, pull.baseSha),
    _links: Object.fromEntries(Object.entries(links).map(([name, href]) => [name, { href }])),
    author_association: associationOf(repository, issue.user),
    auto_merge: null,
    active_lock_reason: null,
  };
}

/**
 * A pull request with its counts. GitHub finds out whether it can be merged in the background: `mergeable` is null
 * where that was not asked for.
 */
export async function renderPull(
  world: World,
  repository: Repository,
  pull: Pull,
  mergeable: boolean | null = null,
): Promise<Record<string, unknown>> {
  const [files, commits] = await Promise.all([
    readPullFiles(world, repository, pull),
    countPullCommits(world, repository, pull),
  ]);
  const sum = (key: 'additions' | 'deletions') => files.reduce((total, file) => total + file[key], 0);
  return {
    ...renderSimplePull(world, repository, pull),
    merged: pull.mergedAt !== null,
    mergeable,
    rebaseable: mergeable,
    mergeable_state: mergeableState(pull, mergeable),
    merged_by: pull.mergedBy === null ? null : renderUser(world, pull.mergedBy),
    comments: pull.issue.comments.length,
    review_comments: pull.reviewComments.length,
    maintainer_can_modify: false,
    commits,
    additions: sum('additions'),
    deletions: sum('deletions'),
    changed_files: files.length,
  };
}

function mergeableState(pull: Pull, mergeable: boolean | null): string {
  if (mergeable === null) return 'unknown';
  if (!mergeable) return 'dirty';
  return pull.isDraft ? 'draft' : 'clean';
}

/** GitHub's "minimal pull request", as check runs name the pull requests that they are on. */
export function renderMinimalPull(world: World, repository: Repository, pull: Pull): Record<string, unknown> {
  const branch = (of: Repository, ref: string, sha: string) => ({
    ref,
    sha,
    repo: { id: of.id, url: repositoryApiUrl(world, of), name: of.name },
  });
  return {
    id: pull.id,
    number: pull.number,
    url: pullApiUrl(world, repository, pull),
    head: branch(pull.headRepository, pull.headRef, pull.headSha),
    base: branch(repository, pull.baseRef, pull.baseSha),
  };
}
