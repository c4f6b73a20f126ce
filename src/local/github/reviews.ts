import { z } from 'zod';
import type { Pull, Review } from './conversation-data.ts';
import { findPull } from './find-issue.ts';
import { findReview } from './find-review.ts';
import { renderPage } from './pagination.ts';
import { renderReview, renderReviewComment } from './render-review.ts';
import { invalidRequest, isTooLong, maxBodyLength, parseBody } from './request-body.ts';
import { addReview, type CommentDraft } from './review-changes.ts';
import { filesAtCommit, placeInFiles, sentenceOfProblems } from './review-places.ts';
import {
  GitHubError,
  type PermissionNeed,
  type Reply,
  type RequestContext,
  type Route,
  senderOf,
} from './router.ts';
import type { User } from './world.ts';

const reviewSchema = z.object({
  commit_id: z.string().nullish(),
  body: z.string().nullish(),
  event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']).nullish(),
  comments: z
    .array(
      z.object({
        path: z.string(),
        body: z.string(),
        position: z.number().int().optional(),
        line: z.number().int().optional(),
        side: z.enum(['LEFT', 'RIGHT']).optional(),
        start_line: z.number().int().nullish(),
        start_side: z.enum(['LEFT', 'RIGHT', 'side']).nullish(),
      }),
    )
    .optional(),
});

type ReviewRequest = z.infer<typeof reviewSchema>;

const states = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;

function unprocessable(...messages: readonly string[]): GitHubError {
  return new GitHubError(422, 'Unprocessable Entity', messages);
}

/** @throws GitHubError 422 for reviews that GitHub doesn't take from this person or without a body */
function readState(request: ReviewRequest, pull: Pull, sender: User): Review['state'] {
  const { event, comments = [] } = request;
  const body = request.body ?? '';
  if (event === undefined || event === null) {
    throw unprocessable(
      'Without `event` the review stays pending, which is not part of the local stand-in: send APPROVE, REQUEST_CHANGES or COMMENT.',
    );
  }
  if (event !== 'COMMENT' && sender.id === pull.issue.user.id) {
    const verb = event === 'APPROVE' ? 'approve' : 'request changes on';
    throw unprocessable(`Can not ${verb} your own pull request`);
  }
  const needsBody = event === 'REQUEST_CHANGES' || (event === 'COMMENT' && comments.length === 0);
  if (needsBody && body.trim() === '') throw unprocessable("Review body can't be blank");
  const texts = [body, ...comments.map((comment) => comment.body)];
  if (texts.some((text) => isTooLong(text))) {
    throw unprocessable(`Body is too long (maximum is ${maxBodyLength} characters)`);
  }
  return states[event];
}

/** All or nothing: one comment that has no place loses the whole review. */
async function placeComments(
  context: RequestContext,
  pull: Pull,
  commitId: string,
  wanted: NonNullable<ReviewRequest['comments']>,
): Promise<CommentDraft[]> {
  const files = await filesAtCommit(context.world, context.repository, pull, commitId);
  if (files === undefined) throw unprocessable('The commitOID is not part of the pull request');
  if (wanted.some((comment) => comment.line === undefined && comment.position === undefined)) {
    throw invalidRequest([`"position" wasn't supplied.`]);
  }
  const drafts: CommentDraft[] = [];
  const problems = new Set<string>();
  for (const comment of wanted) {
    const placed = placeInFiles(files, comment);
    if (placed.ok) drafts.push(placed.draft);
    else problems.add(sentenceOfProblems(placed.problems));
  }
  if (problems.size > 0) throw unprocessable(...problems);
  return drafts;
}

async function createReview(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const sender = senderOf(context);
  const request = parseBody(context, reviewSchema);
  const state = readState(request, pull, sender);
  const commitId = request.commit_id ?? pull.headSha;
  const comments = await placeComments(context, pull, commitId, request.comments ?? []);
  const { review } = addReview(world, repository, pull, {
    user: sender,
    body: request.body ?? '',
    state,
    commitId,
    comments,
  });
  return { status: 200, body: renderReview(world, repository, pull, review) };
}

const needs: PermissionNeed = ['pull_requests', 'read'];
const ofPull = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews';

export const reviewRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: ofPull,
    needs,
    async handle(context) {
      const { world, repository } = context;
      const pull = findPull(context);
      return renderPage(context, pull.reviews, (review) => renderReview(world, repository, pull, review));
    },
  },
  { method: 'POST', path: ofPull, needs: ['pull_requests', 'write'], handle: createReview },
  {
    method: 'GET',
    path: `${ofPull}/{review_id}`,
    needs,
    async handle(context) {
      const { world, repository } = context;
      const pull = findPull(context);
      return { status: 200, body: renderReview(world, repository, pull, findReview(context, pull)) };
    },
  },
  {
    method: 'GET',
    path: `${ofPull}/{review_id}/comments`,
    needs,
    async handle(context) {
      const { world, repository } = context;
      const pull = findPull(context);
      const review = findReview(context, pull);
      const comments = pull.reviewComments.filter((comment) => comment.reviewId === review.id);
      return renderPage(context, comments, (comment) =>
        renderReviewOwnComment(renderReviewComment(world, repository, pull, comment)),
      );
    },
  },
];

/** This list alone knows a null position and, by its schema, no null for lines. */
function renderReviewOwnComment(rendered: Record<string, unknown>): Record<string, unknown> {
  const { line, original_line, ...rest } = rendered;
  return {
    ...rest,
    ...(line === null ? {} : { line }),
    ...(original_line === null ? {} : { original_line }),
  };
}
