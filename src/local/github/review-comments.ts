import { z } from 'zod';
import type { Pull, ReviewComment } from './conversation-data.ts';
import { findPull } from './find-issue.ts';
import { findReviewComment } from './find-review.ts';
import { renderPage } from './pagination.ts';
import { renderReviewCommentStrictly } from './render-review.ts';
import { requireAuthorOrRole } from './repository-role.ts';
import {
  type FieldProblem,
  invalidRequest,
  isTooLong,
  maxBodyLength,
  parseBody,
  validationFailed,
} from './request-body.ts';
import { addReview, type CommentDraft, emitReviewComment } from './review-changes.ts';
import { filesAtCommit, placeInFiles, type ReviewPlaceProblem } from './review-places.ts';
import {
  GitHubError,
  numberParam,
  type PermissionNeed,
  type Reply,
  type RequestContext,
  type Route,
  senderOf,
} from './router.ts';

const bodySchema = z.object({ body: z.string() });
const newCommentSchema = z.object({
  body: z.string(),
  commit_id: z.string().optional(),
  path: z.string().optional(),
  position: z.number().int().nullish(),
  line: z.number().int().nullish(),
  side: z.enum(['LEFT', 'RIGHT']).optional(),
  start_line: z.number().int().nullish(),
  start_side: z.enum(['LEFT', 'RIGHT', 'side']).nullish(),
  subject_type: z.enum(['line', 'file']).optional(),
  in_reply_to: z.number().int().optional(),
});

type NewComment = z.infer<typeof newCommentSchema>;

function problem(rest: Omit<FieldProblem, 'resource'>): FieldProblem {
  return { resource: 'PullRequestReviewComment', ...rest };
}

/** @throws GitHubError 422 for texts that GitHub doesn't store */
function checkBody(body: string): string {
  const refuse = (message: string) =>
    validationFailed(problem({ code: 'unprocessable', field: 'data', message }));
  if (body.trim() === '') throw refuse('Body cannot be blank');
  if (isTooLong(body)) throw refuse(`Body is too long (maximum is ${maxBodyLength} characters)`);
  return body;
}

const thread = 'pull_request_review_thread';
const fieldProblems: Readonly<Record<ReviewPlaceProblem, FieldProblem>> = {
  path: problem({ code: 'invalid', field: `${thread}.path` }),
  position: problem({ code: 'invalid', field: `${thread}.position` }),
  line: problem({
    code: 'custom',
    field: `${thread}.line`,
    message: `${thread}.line must be part of the diff`,
  }),
  'start-line': problem({
    code: 'custom',
    field: `${thread}.start_line`,
    message: `${thread}.start_line must be part of the same hunk as the line.`,
  }),
  order: problem({
    code: 'custom',
    field: `${thread}.start_line`,
    message: `${thread}.start_line must precede the end line.`,
  }),
};

function placeProblems(problems: readonly ReviewPlaceProblem[]): GitHubError {
  const fields = problems.map((name) => fieldProblems[name]);
  const hunk = problem({ code: 'missing_field', field: `${thread}.diff_hunk` });
  return validationFailed(...fields, ...(problems.includes('order') ? [] : [hunk]));
}

/** A comment on a line or on a file as a whole. @throws GitHubError 422 as GitHub answers */
async function placeNewComment(
  context: RequestContext,
  pull: Pull,
  request: NewComment,
): Promise<{ readonly draft: CommentDraft; readonly commitId: string }> {
  const { body, path, commit_id: commitId } = request;
  if (path === undefined || commitId === undefined) {
    const missing = [commitId === undefined && '"commit_id"', path === undefined && '"path"'].filter(Boolean);
    throw invalidRequest([`${missing.join(', ')} ${missing.length > 1 ? "weren't" : "wasn't"} supplied.`]);
  }
  const files = await filesAtCommit(context.world, context.repository, pull, commitId);
  if (files === undefined) {
    const message = 'commit_id is not part of the pull request';
    throw validationFailed(problem({ code: 'custom', field: 'commit_id', message }));
  }
  if (request.subject_type === 'file') {
    if (!files.some((file) => file.path === path)) throw placeProblems(['path']);
    return { draft: { path, body, place: null, diffHunk: '', inReplyTo: null }, commitId };
  }
  const placed = placeInFiles(files, { ...request, path });
  if (!placed.ok) throw placeProblems(placed.problems);
  return { draft: placed.draft, commitId };
}

/** A single comment stands in a review of its own, without a body. */
function addComment(
  context: RequestContext,
  pull: Pull,
  draft: CommentDraft,
  commitId: string,
): Record<string, unknown> {
  const { world, repository } = context;
  const { comments } = addReview(world, repository, pull, {
    user: senderOf(context),
    body: '',
    state: 'COMMENTED',
    commitId,
    comments: [draft],
  });
  return renderReviewCommentStrictly(world, repository, pull, comments[0]!);
}

async function createComment(context: RequestContext): Promise<Reply> {
  const pull = findPull(context);
  const request = parseBody(context, newCommentSchema);
  checkBody(request.body);
  if (request.in_reply_to !== undefined) {
    return replyTo(context, pull, request.in_reply_to, request.body);
  }
  const { draft, commitId } = await placeNewComment(context, pull, request);
  return { status: 201, body: addComment(context, pull, draft, commitId) };
}

/** @throws GitHubError 404 where the comment is not of this pull request, or a reply itself */
function replyTo(context: RequestContext, pull: Pull, id: number, body: string): Reply {
  const parent = pull.reviewComments.find((comment) => comment.id === id);
  if (parent === undefined) throw new GitHubError(404, 'Not Found');
  if (parent.inReplyTo !== null) {
    throw new GitHubError(404, 'Not Found: replies to replies are not supported; answer the first comment');
  }
  const { path, place, diffHunk } = parent;
  const draft: CommentDraft = { path, body, place, diffHunk, inReplyTo: parent.id };
  return { status: 201, body: addComment(context, pull, draft, parent.commitId) };
}

async function createReply(context: RequestContext): Promise<Reply> {
  const pull = findPull(context);
  const body = checkBody(parseBody(context, bodySchema).body);
  return replyTo(context, pull, numberParam(context, 'comment_id'), body);
}

async function updateComment(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const { pull, comment } = findReviewComment(context);
  requireAuthorOrRole(context, comment.user, 'write');
  const from = comment.body;
  comment.body = checkBody(parseBody(context, bodySchema).body);
  comment.updatedAt = world.now();
  if (comment.body !== from) {
    const changes = { changes: { body: { from } } };
    emitReviewComment(world, repository, pull, comment, 'edited', senderOf(context), changes);
  }
  return { status: 200, body: renderReviewCommentStrictly(world, repository, pull, comment) };
}

async function listComments(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  return renderPage(context, pull.reviewComments, (comment: ReviewComment) =>
    renderReviewCommentStrictly(world, repository, pull, comment),
  );
}

const read: PermissionNeed = ['pull_requests', 'read'];
const write: PermissionNeed = ['pull_requests', 'write'];
const ofPull = '/repos/{owner}/{repo}/pulls/{pull_number}/comments';
const one = '/repos/{owner}/{repo}/pulls/comments/{comment_id}';

export const reviewCommentRoutes: readonly Route[] = [
  { method: 'GET', path: ofPull, needs: read, handle: listComments },
  { method: 'POST', path: ofPull, needs: write, handle: createComment },
  { method: 'POST', path: `${ofPull}/{comment_id}/replies`, needs: write, handle: createReply },
  {
    method: 'GET',
    path: one,
    needs: read,
    async handle(context) {
      const { world, repository } = context;
      const { pull, comment } = findReviewComment(context);
      return { status: 200, body: renderReviewCommentStrictly(world, repository, pull, comment) };
    },
  },
  { method: 'PATCH', path: one, needs: write, handle: updateComment },
];
