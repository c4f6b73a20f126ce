import type { LinePlace, Pull, Review, ReviewComment } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { renderSimplePull } from './render-pull.ts';
import { renderReviewComment, renderReviewForEvent } from './render-review.ts';
import type { Repository, User, World } from './world.ts';

/** A comment whose place in the diff was found. */
export interface CommentDraft {
  readonly path: string;
  readonly body: string;
  /** Null: at the file as a whole. */
  readonly place: LinePlace | null;
  readonly diffHunk: string;
  readonly inReplyTo: number | null;
}

/**
 * Adds a review with its comments and says so: one `pull_request_review.submitted`, then
 * `pull_request_review_comment.created` for each comment.
 */
export function addReview(
  world: World,
  repository: Repository,
  pull: Pull,
  from: {
    readonly user: User;
    readonly body: string;
    readonly state: Review['state'];
    readonly commitId: string;
    readonly comments: readonly CommentDraft[];
  },
): { readonly review: Review; readonly comments: readonly ReviewComment[] } {
  const { user, body, state, commitId } = from;
  const id = world.nextId();
  const now = world.now();
  const review: Review = { id, nodeId: nodeId('PRR', id), user, body, state, commitId, submittedAt: now };
  const comments = from.comments.map((draft) => makeComment(world, review, draft));
  pull.reviews.push(review);
  pull.reviewComments.push(...comments);
  pull.requestedReviewers = pull.requestedReviewers.filter((requested) => requested.id !== user.id);
  pull.issue.updatedAt = now;
  emitReview(world, repository, pull, review);
  for (const comment of comments) emitReviewComment(world, repository, pull, comment, 'created', user);
  return { review, comments };
}

function makeComment(world: World, review: Review, draft: CommentDraft): ReviewComment {
  const id = world.nextId();
  return {
    id,
    nodeId: nodeId('PRRC', id),
    reviewId: review.id,
    user: review.user,
    ...draft,
    originalCommitId: review.commitId,
    commitId: review.commitId,
    isOutdated: false,
    reactions: [],
    createdAt: review.submittedAt,
    updatedAt: review.submittedAt,
  };
}

function emitReview(world: World, repository: Repository, pull: Pull, review: Review): void {
  const payload = {
    action: 'submitted',
    review: renderReviewForEvent(world, repository, pull, review),
    pull_request: renderSimplePull(world, repository, pull),
  };
  world.emit(repository, 'pull_request_review', payload, review.user);
}

export function emitReviewComment(
  world: World,
  repository: Repository,
  pull: Pull,
  comment: ReviewComment,
  action: 'created' | 'edited' | 'deleted',
  sender: User,
  extra: Readonly<Record<string, unknown>> = {},
): void {
  const payload = {
    action,
    comment: renderReviewComment(world, repository, pull, comment),
    pull_request: renderSimplePull(world, repository, pull),
    ...extra,
  };
  world.emit(repository, 'pull_request_review_comment', payload, sender);
}
