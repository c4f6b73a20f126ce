import { z } from 'zod';
import { findUser } from './accounts.ts';
import type { Pull } from './conversation-data.ts';
import { findPull } from './find-issue.ts';
import { emitIssueEvent } from './issue-changes.ts';
import { renderUser, repositoryHtmlUrl } from './render.ts';
import { renderSimplePull } from './render-pull.ts';
import { mayAct } from './repository-role.ts';
import { parseBody } from './request-body.ts';
import { GitHubError, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import type { User } from './world.ts';

const reviewersSchema = z.object({
  reviewers: z.array(z.string()).optional(),
  team_reviewers: z.array(z.string()).optional(),
});

/** @throws GitHubError 422 where one of them can't review; the stand-in knows no teams */
function findReviewers(context: RequestContext, pull: Pull, wanted: z.infer<typeof reviewersSchema>): User[] {
  const { world, repository } = context;
  const users = (wanted.reviewers ?? []).map((login) => findUser(world, login));
  if (users.some((user) => user?.id === pull.issue.user.id)) {
    throw new GitHubError(422, 'Review cannot be requested from pull request author.');
  }
  const areCollaborators = users.every((user) => user !== undefined && repository.collaborators.has(user.id));
  if (!areCollaborators || (wanted.team_reviewers ?? []).length > 0) {
    const name = repositoryHtmlUrl(world, repository).slice(world.url.length + 1);
    throw new GitHubError(
      422,
      `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${name} repository.`,
    );
  }
  return users as User[];
}

async function requestReviewers(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const sender = senderOf(context);
  if (!mayAct(context, 'triage')) throw new GitHubError(403, 'Must have admin rights to Repository.');
  for (const user of findReviewers(context, pull, parseBody(context, reviewersSchema))) {
    if (pull.requestedReviewers.includes(user)) continue;
    pull.requestedReviewers.push(user);
    const extra = { requested_reviewer: renderUser(world, user) };
    await emitIssueEvent(world, repository, pull.issue, 'review_requested', sender, extra);
  }
  return { status: 201, body: renderSimplePull(world, repository, pull) };
}

const path = '/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers';

export const reviewerRoutes: readonly Route[] = [
  {
    method: 'GET',
    path,
    needs: ['pull_requests', 'read'],
    async handle(context) {
      const users = findPull(context).requestedReviewers.map((user) => renderUser(context.world, user));
      return { status: 200, body: { users, teams: [] } };
    },
  },
  { method: 'POST', path, needs: ['pull_requests', 'write'], handle: requestReviewers },
];
