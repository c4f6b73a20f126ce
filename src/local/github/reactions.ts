import { z } from 'zod';
import { type Reactable, type Reaction, reactionContents } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { findIssue, findIssueComment } from './find-issue.ts';
import { findReviewComment } from './find-review.ts';
import { renderPage } from './pagination.ts';
import { renderReaction } from './render-conversation.ts';
import { parseBody } from './request-body.ts';
import {
  GitHubError,
  numberParam,
  type PermissionNeed,
  type RequestContext,
  type Route,
  senderOf,
} from './router.ts';

const reactionSchema = z.object({ content: z.enum(reactionContents) });

/** One reaction of a kind for each person: a second one answers 200 with the first. */
function addReaction(context: RequestContext, target: Reactable) {
  const { world } = context;
  const { content } = parseBody(context, reactionSchema);
  const user = senderOf(context);
  const known = target.reactions.find(
    (reaction) => reaction.user.id === user.id && reaction.content === content,
  );
  if (known !== undefined) return { status: 200, body: renderReaction(world, known) };
  const id = world.nextId();
  const reaction: Reaction = { id, nodeId: nodeId('REA', id), user, content, createdAt: world.now() };
  target.reactions.push(reaction);
  return { status: 201, body: renderReaction(world, reaction) };
}

function listReactions(context: RequestContext, target: Reactable) {
  const content = context.query.get('content');
  const listed = target.reactions.filter((reaction) => content === null || reaction.content === content);
  return renderPage(context, listed, (reaction) => renderReaction(context.world, reaction));
}

function deleteReaction(context: RequestContext, target: Reactable) {
  const id = numberParam(context, 'reaction_id');
  const index = target.reactions.findIndex((reaction) => reaction.id === id);
  const reaction = target.reactions[index];
  if (reaction === undefined) throw new GitHubError(404, 'Not Found');
  if (reaction.user.id !== senderOf(context).id) {
    throw new GitHubError(403, 'You can only delete your own reactions.');
  }
  target.reactions.splice(index, 1);
  return { status: 204 };
}

function routesFor(
  path: string,
  permissions: readonly [string, ...string[]],
  find: (context: RequestContext) => Reactable,
): Route[] {
  const [first, ...others] = permissions;
  const needs = (level: 'read' | 'write') => ({
    needs: [first, level] as PermissionNeed,
    orNeeds: others.map((other): PermissionNeed => [other, level]),
  });
  return [
    {
      method: 'GET',
      path: `${path}/reactions`,
      ...needs('read'),
      handle: async (context) => listReactions(context, find(context)),
    },
    {
      method: 'POST',
      path: `${path}/reactions`,
      ...needs('write'),
      handle: async (context) => addReaction(context, find(context)),
    },
    {
      method: 'DELETE',
      path: `${path}/reactions/{reaction_id}`,
      ...needs('write'),
      handle: async (context) => deleteReaction(context, find(context)),
    },
  ];
}

export const reactionRoutes: readonly Route[] = [
  ...routesFor('/repos/{owner}/{repo}/issues/{issue_number}', ['issues', 'pull_requests'], findIssue),
  ...routesFor(
    '/repos/{owner}/{repo}/issues/comments/{comment_id}',
    ['issues', 'pull_requests'],
    (context) => findIssueComment(context).comment,
  ),
  ...routesFor(
    '/repos/{owner}/{repo}/pulls/comments/{comment_id}',
    ['pull_requests'],
    (context) => findReviewComment(context).comment,
  ),
];
