import { z } from 'zod';
import type { Issue, IssueComment } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { findIssue, findIssueComment } from './find-issue.ts';
import { appOf } from './issues.ts';
import { renderPage } from './pagination.ts';
import { renderIssue, renderIssueComment } from './render-conversation.ts';
import { requireAuthorOrRole } from './repository-role.ts';
import { isTooLong, maxBodyLength, parseBody, validationFailed } from './request-body.ts';
import { type PermissionNeed, type RequestContext, type Route, senderOf } from './router.ts';

const commentSchema = z.object({ body: z.string() });

/** @throws GitHubError 422 for texts that GitHub doesn't store as comments */
function readCommentBody(context: RequestContext): string {
  const { body } = parseBody(context, commentSchema);
  const problem = (message: string) =>
    validationFailed({ resource: 'IssueComment', code: 'unprocessable', field: 'data', message });
  if (body.trim() === '') throw problem('Body cannot be blank');
  if (isTooLong(body)) throw problem(`Body is too long (maximum is ${maxBodyLength} characters)`);
  return body;
}

function emitComment(
  context: RequestContext,
  issue: Issue,
  comment: IssueComment,
  action: 'created' | 'edited' | 'deleted',
  extra: Readonly<Record<string, unknown>> = {},
): void {
  const { world, repository } = context;
  const payload = {
    action,
    issue: renderIssue(world, repository, issue),
    comment: renderIssueComment(world, repository, issue, comment),
    ...extra,
  };
  world.emit(repository, 'issue_comment', payload, senderOf(context));
}

async function createComment(context: RequestContext) {
  const { world, repository } = context;
  const issue = findIssue(context);
  const body = readCommentBody(context);
  const id = world.nextId();
  const now = world.now();
  const comment: IssueComment = {
    id,
    nodeId: nodeId('IC', id),
    user: senderOf(context),
    viaApp: appOf(context),
    body,
    reactions: [],
    createdAt: now,
    updatedAt: now,
  };
  issue.comments.push(comment);
  issue.updatedAt = now;
  emitComment(context, issue, comment, 'created');
  return { status: 201, body: renderIssueComment(world, repository, issue, comment) };
}

async function updateComment(context: RequestContext) {
  const { world, repository } = context;
  const { issue, comment } = findIssueComment(context);
  requireAuthorOrRole(context, comment.user, 'write');
  const body = readCommentBody(context);
  const from = comment.body;
  comment.body = body;
  comment.updatedAt = world.now();
  if (body !== from) emitComment(context, issue, comment, 'edited', { changes: { body: { from } } });
  return { status: 200, body: renderIssueComment(world, repository, issue, comment) };
}

async function deleteComment(context: RequestContext) {
  const { issue, comment } = findIssueComment(context);
  requireAuthorOrRole(context, comment.user, 'write');
  issue.comments.splice(issue.comments.indexOf(comment), 1);
  emitComment(context, issue, comment, 'deleted');
  return { status: 204 };
}

const ofIssue = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const ofComment = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
const read: PermissionNeed = ['issues', 'read'];
const write: PermissionNeed = ['issues', 'write'];
const orNeeds: readonly PermissionNeed[] = [['pull_requests', 'write']];

export const commentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: ofIssue,
    needs: read,
    orNeeds: [['pull_requests', 'read']],
    async handle(context) {
      const { world, repository } = context;
      const issue = findIssue(context);
      const since = context.query.get('since');
      const listed = issue.comments.filter(
        (comment) => since === null || comment.updatedAt >= new Date(since),
      );
      return renderPage(context, listed, (comment) => renderIssueComment(world, repository, issue, comment));
    },
  },
  { method: 'POST', path: ofIssue, needs: write, orNeeds, handle: createComment },
  {
    method: 'GET',
    path: ofComment,
    needs: read,
    orNeeds: [['pull_requests', 'read']],
    async handle(context) {
      const { world, repository } = context;
      const { issue, comment } = findIssueComment(context);
      return { status: 200, body: renderIssueComment(world, repository, issue, comment) };
    },
  },
  { method: 'PATCH', path: ofComment, needs: write, orNeeds, handle: updateComment },
  { method: 'DELETE', path: ofComment, needs: write, orNeeds, handle: deleteComment },
];
