import type { Pull, Review, ReviewComment } from './conversation-data.ts';
import { GitHubError, numberParam, type RequestContext } from './router.ts';

/** The review comment of `{comment_id}` and its pull request. @throws GitHubError 404 */
export function findReviewComment(context: RequestContext): {
  readonly pull: Pull;
  readonly comment: ReviewComment;
} {
  const id = numberParam(context, 'comment_id');
  for (const pull of context.repository.pulls.values()) {
    const comment = pull.reviewComments.find((other) => other.id === id);
    if (comment !== undefined) return { pull, comment };
  }
  throw new GitHubError(404, 'Not Found');
}

/** The review of `{review_id}` in a pull request. @throws GitHubError 404 */
export function findReview(context: RequestContext, pull: Pull): Review {
  const id = numberParam(context, 'review_id');
  const review = pull.reviews.find((other) => other.id === id);
  if (review === undefined) throw new GitHubError(404, 'Not Found');
  return review;
}
