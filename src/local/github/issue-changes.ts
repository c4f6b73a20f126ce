import type { Issue, Label } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { renderIssue, renderLabel } from './render-conversation.ts';
import { renderPull } from './render-pull.ts';
import { ensureLabel } from './repository-labels.ts';
import { isTooLong, maxBodyLength, validationFailed } from './request-body.ts';
import type { App, Repository, User, World } from './world.ts';

/** What PATCH of an issue or pull request may change; left out: stays. */
export interface IssuePatch {
  readonly title?: string | undefined;
  readonly body?: string | null | undefined;
  readonly state?: 'open' | 'closed' | undefined;
  readonly stateReason?: Issue['stateReason'] | undefined;
  /** Names; replaces all. */
  readonly labels?: readonly string[] | undefined;
}

/** @throws GitHubError 422 as GitHub answers to titles and bodies that it doesn't store */
export function checkTexts(
  resource: 'Issue' | 'PullRequest',
  texts: { readonly title?: string | undefined; readonly body?: string | null | undefined },
): void {
  const { title, body } = texts;
  if (title !== undefined && title.trim() === '') {
    throw validationFailed({ resource, code: 'missing_field', field: 'title' });
  }
  if (title !== undefined && isTooLong(title, 256)) {
    const message = 'title is too long (maximum is 256 characters)';
    throw validationFailed({ resource, code: 'custom', field: 'title', message });
  }
  if (typeof body === 'string' && isTooLong(body)) {
    const message = `body is too long (maximum is ${maxBodyLength} characters)`;
    throw validationFailed({ resource, code: 'custom', field: 'body', message });
  }
}

/** A new open issue under the next number; says nothing to webhooks. */
export function addIssue(
  world: World,
  repository: Repository,
  from: {
    readonly user: User;
    readonly viaApp: App | null;
    readonly title: string;
    readonly body: string | null;
  },
): Issue {
  const id = world.nextId();
  const now = world.now();
  const issue: Issue = {
    id,
    nodeId: nodeId('I', id),
    number: repository.nextNumber++,
    ...from,
    state: 'open',
    stateReason: null,
    labels: [],
    comments: [],
    reactions: [],
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    closedBy: null,
  };
  repository.issues.set(issue.number, issue);
  return issue;
}

/** `issues` for an issue, `pull_request` for a pull request. */
export async function emitIssueEvent(
  world: World,
  repository: Repository,
  issue: Issue,
  action: string,
  sender: User,
  extra: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const pull = repository.pulls.get(issue.number);
  if (pull === undefined) {
    const payload = { action, issue: renderIssue(world, repository, issue), ...extra };
    world.emit(repository, 'issues', payload, sender);
  } else {
    const rendered = await renderPull(world, repository, pull);
    const payload = { action, number: pull.number, pull_request: rendered, ...extra };
    world.emit(repository, 'pull_request', payload, sender);
  }
}

/** Carries out a PATCH with the events it causes: edited, closed or reopened, labeled and unlabeled. */
export async function patchIssue(
  world: World,
  repository: Repository,
  issue: Issue,
  patch: IssuePatch,
  sender: User,
): Promise<void> {
  const changes: Record<string, { from: string }> = {};
  if (patch.title !== undefined && patch.title !== issue.title) {
    changes.title = { from: issue.title };
    issue.title = patch.title;
  }
  if (patch.body !== undefined && (patch.body ?? null) !== issue.body) {
    changes.body = { from: issue.body ?? '' };
    issue.body = patch.body;
  }
  if (Object.keys(changes).length > 0) {
    issue.updatedAt = world.now();
    await emitIssueEvent(world, repository, issue, 'edited', sender, { changes });
  }
  await moveIssue(world, repository, issue, patch, sender);
  if (patch.labels !== undefined) await setLabels(world, repository, issue, patch.labels, sender);
}

async function moveIssue(
  world: World,
  repository: Repository,
  issue: Issue,
  patch: IssuePatch,
  sender: User,
): Promise<void> {
  if (patch.state === undefined || patch.state === issue.state) return;
  if (patch.state === 'closed') {
    await closeIssue(world, repository, issue, sender, patch.stateReason ?? 'completed');
    return;
  }
  issue.state = 'open';
  issue.stateReason = repository.pulls.has(issue.number) ? null : 'reopened';
  issue.closedAt = null;
  issue.closedBy = null;
  issue.updatedAt = world.now();
  await emitIssueEvent(world, repository, issue, 'reopened', sender);
}

/** Closes an issue or pull request. */
export async function closeIssue(
  world: World,
  repository: Repository,
  issue: Issue,
  sender: User,
  reason: Issue['stateReason'],
): Promise<void> {
  issue.state = 'closed';
  issue.stateReason = repository.pulls.has(issue.number) ? null : reason;
  issue.closedAt = world.now();
  issue.closedBy = sender;
  issue.updatedAt = issue.closedAt;
  await emitIssueEvent(world, repository, issue, 'closed', sender);
}

/** Puts labels on; unknown ones are made, as GitHub does. */
export async function addLabels(
  world: World,
  repository: Repository,
  issue: Issue,
  names: readonly string[],
  sender: User,
): Promise<void> {
  for (const name of names) {
    const label = ensureLabel(world, repository, name);
    if (issue.labels.includes(label)) continue;
    issue.labels.push(label);
    issue.updatedAt = world.now();
    await emitLabel(world, repository, issue, 'labeled', label, sender);
  }
}

export async function removeLabels(
  world: World,
  repository: Repository,
  issue: Issue,
  labels: readonly Label[],
  sender: User,
): Promise<void> {
  for (const label of labels) {
    issue.labels = issue.labels.filter((other) => other !== label);
    issue.updatedAt = world.now();
    await emitLabel(world, repository, issue, 'unlabeled', label, sender);
  }
}

export async function setLabels(
  world: World,
  repository: Repository,
  issue: Issue,
  names: readonly string[],
  sender: User,
): Promise<void> {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const surplus = issue.labels.filter((label) => !wanted.has(label.name.toLowerCase()));
  await removeLabels(world, repository, issue, surplus, sender);
  await addLabels(world, repository, issue, names, sender);
}

function emitLabel(
  world: World,
  repository: Repository,
  issue: Issue,
  action: 'labeled' | 'unlabeled',
  label: Label,
  sender: User,
): Promise<void> {
  const extra = { label: renderLabel(world, repository, label) };
  return emitIssueEvent(world, repository, issue, action, sender, extra);
}
