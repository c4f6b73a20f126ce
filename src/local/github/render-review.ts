import type { Pull, Review, ReviewComment } from './conversation-data.ts';
import { renderUser, repositoryApiUrl, timestamp } from './render.ts';
import { renderReactionCounts } from './render-conversation.ts';
import { pullApiUrl, pullHtmlUrl } from './render-pull.ts';
import { associationOf } from './repository-role.ts';
import type { Repository, World } from './world.ts';

/** GitHub writes states in capitals in answers and in small letters in webhooks. */
export function renderReview(
  world: World,
  repository: Repository,
  pull: Pull,
  review: Review,
): Record<string, unknown> {
  const html = `${pullHtmlUrl(world, repository, pull)}#pullrequestreview-${review.id}`;
  const url = pullApiUrl(world, repository, pull);
  return {
    id: review.id,
    node_id: review.nodeId,
    user: renderUser(world, review.user),
    body: review.body,
    state: review.state,
    html_url: html,
    pull_request_url: url,
    author_association: associationOf(repository, review.user),
    _links: { html: { href: html }, pull_request: { href: url } },
    submitted_at: timestamp(review.submittedAt),
    commit_id: review.commitId,
  };
}

/** As `pull_request_review` events carry it. */
export function renderReviewForEvent(
  world: World,
  repository: Repository,
  pull: Pull,
  review: Review,
): Record<string, unknown> {
  const rendered = renderReview(world, repository, pull, review);
  return {
    ...rendered,
    body: review.body === '' ? null : review.body,
    state: review.state.toLowerCase(),
    updated_at: rendered.submitted_at,
  };
}

/**
 * A review comment as webhooks and `…/reviews/{id}/comments` give it: null for the lines of comments that have none
 * (at file level, or outdated).
 */
export function renderReviewComment(
  world: World,
  repository: Repository,
  pull: Pull,
  comment: ReviewComment,
): Record<string, unknown> {
  const url = `${repositoryApiUrl(world, repository)}/pulls/comments/${comment.id}`;
  const html = `${pullHtmlUrl(world, repository, pull)}#discussion_r${comment.id}`;
  const pullUrl = pullApiUrl(world, repository, pull);
  return {
    url,
    pull_request_review_id: comment.reviewId,
    id: comment.id,
    node_id: comment.nodeId,
    diff_hunk: comment.diffHunk,
    path: comment.path,
    commit_id: comment.commitId,
    original_commit_id: comment.originalCommitId,
    user: renderUser(world, comment.user),
    body: comment.body,
    created_at: timestamp(comment.createdAt),
    updated_at: timestamp(comment.updatedAt),
    html_url: html,
    pull_request_url: pullUrl,
    author_association: associationOf(repository, comment.user),
    _links: { self: { href: url }, html: { href: html }, pull_request: { href: pullUrl } },
    reactions: renderReactionCounts(comment, url),
    ...placeOf(comment),
    ...(comment.inReplyTo === null ? {} : { in_reply_to_id: comment.inReplyTo }),
  };
}

function placeOf(comment: ReviewComment): Record<string, unknown> {
  const { place } = comment;
  const now = comment.isOutdated ? null : place;
  return {
    start_line: now?.startLine ?? null,
    original_start_line: place?.startLine ?? null,
    start_side: place?.startSide ?? null,
    line: now?.line ?? null,
    original_line: place?.line ?? null,
    side: place?.side ?? 'RIGHT',
    position: place === null ? 1 : (now?.position ?? null),
    original_position: place?.position ?? 1,
    subject_type: place === null ? 'file' : 'line',
  };
}

/**
 * A review comment as the other answers give it. GitHub's schema knows no null for `line` and `position` there: a
 * comment without them leaves them out.
 */
export function renderReviewCommentStrictly(
  world: World,
  repository: Repository,
  pull: Pull,
  comment: ReviewComment,
): Record<string, unknown> {
  const optional = ['line', 'original_line', 'position'];
  return Object.fromEntries(
    Object.entries(renderReviewComment(world, repository, pull, comment)).filter(
      ([name, value]) => value !== null || !optional.includes(name),
    ),
  );
}
