import { z } from 'zod';
import type { Issue } from './conversation-data.ts';
import { findIssue } from './find-issue.ts';
import { addIssue, addLabels, checkTexts, emitIssueEvent, patchIssue } from './issue-changes.ts';
import { labelNames } from './labels.ts';
import { renderPage } from './pagination.ts';
import { renderIssue } from './render-conversation.ts';
import { mayAct, requireAuthorOrRole } from './repository-role.ts';
import { parseBody } from './request-body.ts';
import { type PermissionNeed, type RequestContext, type Route, senderOf } from './router.ts';

const read: PermissionNeed = ['issues', 'read'];
const write: PermissionNeed = ['issues', 'write'];

const newIssueSchema = z.object({
  title: z.string(),
  body: z.string().nullish(),
  labels: z.unknown().optional(),
});

const patchSchema = z.object({
  title: z.string().optional(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.enum(['completed', 'not_planned', 'duplicate', 'reopened']).nullish(),
  labels: z.unknown().optional(),
});

/** The app behind an installation's request, for `performed_via_github_app`. */
export function appOf(context: RequestContext) {
  return context.actor.kind === 'installation' ? context.actor.app : null;
}

/** Items of a list in the order that `sort` and `direction` ask for; newest first by default. */
export function sortByTime<Item extends { readonly createdAt: Date; readonly updatedAt: Date }>(
  context: RequestContext,
  items: readonly Item[],
): Item[] {
  const key = context.query.get('sort') === 'updated' ? 'updatedAt' : 'createdAt';
  const sign = context.query.get('direction') === 'asc' ? 1 : -1;
  // Equal times keep the order in which things were made, turned round with the rest.
  return items
    .map((item, index) => ({ item, index }))
    .sort((left, right) => {
      const apart = left.item[key].getTime() - right.item[key].getTime();
      return sign * (apart === 0 ? left.index - right.index : apart);
    })
    .map(({ item }) => item);
}

function isListed(context: RequestContext, issue: Issue): boolean {
  const { query } = context;
  const state = query.get('state') ?? 'open';
  const labels = (query.get('labels') ?? '').split(',').filter((name) => name !== '');
  const creator = query.get('creator');
  const since = query.get('since');
  return (
    (state === 'all' || issue.state === state) &&
    labels.every((name) =>
      issue.labels.some((label) => label.name.toLowerCase() === name.trim().toLowerCase()),
    ) &&
    (creator === null || issue.user.login.toLowerCase() === creator.toLowerCase()) &&
    (since === null || issue.updatedAt >= new Date(since))
  );
}

async function createIssue(context: RequestContext) {
  const { world, repository } = context;
  const sender = senderOf(context);
  const { title, body, labels } = parseBody(context, newIssueSchema);
  checkTexts('Issue', { title, body });
  // Labels of people who may not label are dropped without a word, as on GitHub.
  const names = labels === undefined || !mayAct(context, 'triage') ? [] : labelNames(labels);
  const issue = addIssue(world, repository, {
    user: sender,
    viaApp: appOf(context),
    title,
    body: body ?? null,
  });
  await emitIssueEvent(world, repository, issue, 'opened', sender);
  await addLabels(world, repository, issue, names, sender);
  return { status: 201, body: renderIssue(world, repository, issue) };
}

async function updateIssue(context: RequestContext) {
  const { world, repository } = context;
  const issue = findIssue(context);
  const patch = parseBody(context, patchSchema);
  requireAuthorOrRole(context, issue.user, 'triage');
  const resource = repository.pulls.has(issue.number) ? 'PullRequest' : 'Issue';
  checkTexts(resource, patch);
  const { title, body, state } = patch;
  const labels =
    patch.labels === undefined || !mayAct(context, 'triage') ? undefined : labelNames(patch.labels);
  const change = { title, body, state, stateReason: patch.state_reason, labels };
  await patchIssue(world, repository, issue, change, senderOf(context));
  return { status: 200, body: renderIssue(world, repository, issue) };
}

export const issueRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues',
    needs: read,
    orNeeds: [['pull_requests', 'read']],
    async handle(context) {
      const { world, repository } = context;
      const listed = [...repository.issues.values()].filter((issue) => isListed(context, issue));
      return renderPage(context, sortByTime(context, listed), (issue) =>
        renderIssue(world, repository, issue),
      );
    },
  },
  { method: 'POST', path: '/repos/{owner}/{repo}/issues', needs: write, handle: createIssue },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{issue_number}',
    needs: read,
    orNeeds: [['pull_requests', 'read']],
    async handle(context) {
      const { world, repository } = context;
      return { status: 200, body: renderIssue(world, repository, findIssue(context)) };
    },
  },
  {
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/issues/{issue_number}',
    needs: write,
    orNeeds: [['pull_requests', 'write']],
    handle: updateIssue,
  },
];
