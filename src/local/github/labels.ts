import { z } from 'zod';
import type { Issue } from './conversation-data.ts';
import { findIssue } from './find-issue.ts';
import { addLabels, removeLabels, setLabels } from './issue-changes.ts';
import { renderPage } from './pagination.ts';
import { renderLabel } from './render-conversation.ts';
import { addLabel } from './repository-labels.ts';
import { parseBody, validationFailed } from './request-body.ts';
import { GitHubError, type PermissionNeed, type RequestContext, type Route, senderOf } from './router.ts';

const newLabelSchema = z.object({
  name: z.string(),
  color: z.string().optional(),
  description: z.string().nullish(),
});

const namesSchema = z.array(z.union([z.string(), z.object({ name: z.string() })]));

/** Names as GitHub takes them: `["a"]`, `[{"name": "a"}]`, bare or under `labels`. */
export function labelNames(value: unknown): string[] {
  const parsed = namesSchema.safeParse(value);
  if (!parsed.success) throw validationFailed({ resource: 'Label', code: 'invalid', field: 'name' });
  return parsed.data.map((label) => (typeof label === 'string' ? label : label.name));
}

function labelsOfBody(context: RequestContext): string[] {
  const { body } = context;
  if (Array.isArray(body)) return labelNames(body);
  const labels = typeof body === 'object' && body !== null && 'labels' in body ? body.labels : [];
  return labelNames(labels);
}

function renderLabels(context: RequestContext, issue: Issue) {
  const { world, repository } = context;
  return issue.labels.map((label) => renderLabel(world, repository, label));
}

const read: PermissionNeed = ['issues', 'read'];
const write: PermissionNeed = ['issues', 'write'];
const readPulls: readonly PermissionNeed[] = [['pull_requests', 'read']];
const writePulls: readonly PermissionNeed[] = [['pull_requests', 'write']];

export const labelRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/labels',
    needs: read,
    orNeeds: readPulls,
    async handle(context) {
      const { world, repository } = context;
      return renderPage(context, [...repository.labels.values()], (label) =>
        renderLabel(world, repository, label),
      );
    },
  },
  {
    method: 'POST',
    path: '/repos/{owner}/{repo}/labels',
    needs: write,
    orNeeds: writePulls,
    userRole: 'write',
    async handle(context) {
      const { world, repository } = context;
      const { name, color, description } = parseBody(context, newLabelSchema);
      if (repository.labels.has(name.toLowerCase())) {
        throw validationFailed({ resource: 'Label', code: 'already_exists', field: 'name' });
      }
      const label = addLabel(world, repository, {
        name,
        color: color ?? 'ededed',
        description: description ?? null,
      });
      const body = renderLabel(world, repository, label);
      world.emit(repository, 'label', { action: 'created', label: body }, senderOf(context));
      return { status: 201, body };
    },
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/labels/{name}',
    needs: read,
    orNeeds: readPulls,
    async handle({ world, repository, params }) {
      const label = repository.labels.get((params.name ?? '').toLowerCase());
      if (label === undefined) throw new GitHubError(404, 'Not Found');
      return { status: 200, body: renderLabel(world, repository, label) };
    },
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    needs: read,
    orNeeds: readPulls,
    async handle(context) {
      const { world, repository } = context;
      return renderPage(context, findIssue(context).labels, (label) => renderLabel(world, repository, label));
    },
  },
  {
    method: 'POST',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    needs: write,
    orNeeds: writePulls,
    userRole: 'triage',
    async handle(context) {
      const issue = findIssue(context);
      await addLabels(context.world, context.repository, issue, labelsOfBody(context), senderOf(context));
      return { status: 200, body: renderLabels(context, issue) };
    },
  },
  {
    method: 'PUT',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/labels',
    needs: write,
    orNeeds: writePulls,
    userRole: 'triage',
    async handle(context) {
      const issue = findIssue(context);
      await setLabels(context.world, context.repository, issue, labelsOfBody(context), senderOf(context));
      return { status: 200, body: renderLabels(context, issue) };
    },
  },
  {
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
    needs: write,
    orNeeds: writePulls,
    userRole: 'triage',
    async handle(context) {
      const { world, repository, params } = context;
      const issue = findIssue(context);
      const name = (params.name ?? '').toLowerCase();
      const label = issue.labels.find((other) => other.name.toLowerCase() === name);
      if (label === undefined) throw new GitHubError(404, 'Label does not exist');
      await removeLabels(world, repository, issue, [label], senderOf(context));
      return { status: 200, body: renderLabels(context, issue) };
    },
  },
];
