import {
  type Issue,
  type IssueComment,
  type Label,
  type Reactable,
  type Reaction,
  reactionContents,
} from './conversation-data.ts';
import { renderApp, renderUser, repositoryApiUrl, repositoryHtmlUrl, timestamp } from './render.ts';
import { associationOf } from './repository-role.ts';
import type { Repository, World } from './world.ts';

export function renderLabel(world: World, repository: Repository, label: Label): Record<string, unknown> {
  return {
    id: label.id,
    node_id: label.nodeId,
    url: `${repositoryApiUrl(world, repository)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: label.description,
  };
}

export function renderReaction(world: World, reaction: Reaction): Record<string, unknown> {
  return {
    id: reaction.id,
    node_id: reaction.nodeId,
    user: renderUser(world, reaction.user),
    content: reaction.content,
    created_at: timestamp(reaction.createdAt),
  };
}

/** Counts of a thing's reactions; `url` is the thing's API address. */
export function renderReactionCounts(target: Reactable, url: string): Record<string, unknown> {
  const counts = reactionContents.map((content) => [
    content,
    target.reactions.filter((reaction) => reaction.content === content).length,
  ]);
  return {
    url: `${url}/reactions`,
    total_count: target.reactions.length,
    ...Object.fromEntries(counts),
  };
}

/** An issue, or a pull request seen as one. */
export function renderIssue(world: World, repository: Repository, issue: Issue): Record<string, unknown> {
  const url = `${repositoryApiUrl(world, repository)}/issues/${issue.number}`;
  const pull = repository.pulls.get(issue.number);
  const kind = pull === undefined ? 'issues' : 'pull';
  return {
    url,
    repository_url: repositoryApiUrl(world, repository),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `${repositoryHtmlUrl(world, repository)}/${kind}/${issue.number}`,
    id: issue.id,
    node_id: issue.nodeId,
    number: issue.number,
    title: issue.title,
    user: renderUser(world, issue.user),
    labels: issue.labels.map((label) => renderLabel(world, repository, label)),
    state: issue.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: issue.comments.length,
    created_at: timestamp(issue.createdAt),
    updated_at: timestamp(issue.updatedAt),
    closed_at: issue.closedAt === null ? null : timestamp(issue.closedAt),
    author_association: associationOf(repository, issue.user),
    active_lock_reason: null,
    body: issue.body,
    closed_by: issue.closedBy === null ? null : renderUser(world, issue.closedBy),
    reactions: renderReactionCounts(issue, url),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: issue.viaApp === null ? null : renderApp(world, issue.viaApp),
    state_reason: issue.stateReason,
    ...(pull === undefined
      ? {}
      : { draft: pull.isDraft, pull_request: pullLinks(world, repository, issue.number, pull.mergedAt) }),
  };
}

function pullLinks(
  world: World,
  repository: Repository,
  number: number,
  mergedAt: Date | null,
): Record<string, unknown> {
  const html = `${repositoryHtmlUrl(world, repository)}/pull/${number}`;
  return {
    url: `${repositoryApiUrl(world, repository)}/pulls/${number}`,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    merged_at: mergedAt === null ? null : timestamp(mergedAt),
  };
}

export function renderIssueComment(
  world: World,
  repository: Repository,
  issue: Issue,
  comment: IssueComment,
): Record<string, unknown> {
  const api = `${repositoryApiUrl(world, repository)}/issues`;
  const kind = repository.pulls.has(issue.number) ? 'pull' : 'issues';
  const url = `${api}/comments/${comment.id}`;
  return {
    url,
    html_url: `${repositoryHtmlUrl(world, repository)}/${kind}/${issue.number}#issuecomment-${comment.id}`,
    issue_url: `${api}/${issue.number}`,
    id: comment.id,
    node_id: comment.nodeId,
    user: renderUser(world, comment.user),
    created_at: timestamp(comment.createdAt),
    updated_at: timestamp(comment.updatedAt),
    author_association: associationOf(repository, comment.user),
    body: comment.body,
    reactions: renderReactionCounts(comment, url),
    performed_via_github_app: comment.viaApp === null ? null : renderApp(world, comment.viaApp),
  };
}
