import type { z } from 'zod';
import type { Intent } from '../model/github.ts';
import { intentOfCheckRun, intentOfWorkflowJob, intentOfWorkflowRun } from './automation-intents.ts';
import {
  intentOfIssue,
  intentOfIssueComment,
  intentOfPull,
  intentOfReviewComment,
} from './conversation-intents.ts';
import { intentOfInstallation, intentOfRepository } from './installation-intents.ts';
import {
  CheckRunEvent,
  InstallationEvent,
  IssueCommentEvent,
  IssueEvent,
  PullEvent,
  RepositoryChange,
  ReviewCommentEvent,
  WorkflowJobEvent,
  WorkflowRunEvent,
} from './payload-shapes.ts';

type Reader = (action: string, payload: unknown) => Intent;

/**
 * What a delivery asks of us. Everything that isn't ours, from bots where bots have no say, or not as expected is
 * `ignored` with the reason; never throws. `event` is X-GitHub-Event, e.g. `issues`.
 */
export function toIntent(event: string, payload: unknown): Intent {
  const reader = readers.get(event);
  if (reader === undefined)
    return { kind: 'ignored', because: `the event "${event.slice(0, 60)}" is not used` };
  return reader(actionOf(payload) ?? '', payload);
}

/** The payload's `action`, null where it has none. */
export function actionOf(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null || !('action' in payload)) return null;
  return typeof payload.action === 'string' ? payload.action.slice(0, 60) : null;
}

const readers: ReadonlyMap<string, Reader> = new Map([
  ['issues', reading(IssueEvent, intentOfIssue)],
  ['issue_comment', reading(IssueCommentEvent, intentOfIssueComment)],
  ['pull_request', reading(PullEvent, intentOfPull)],
  ['pull_request_review_comment', reading(ReviewCommentEvent, intentOfReviewComment)],
  ['check_run', reading(CheckRunEvent, intentOfCheckRun)],
  ['workflow_run', reading(WorkflowRunEvent, intentOfWorkflowRun)],
  ['workflow_job', reading(WorkflowJobEvent, intentOfWorkflowJob)],
  ['installation', reading(InstallationEvent, intentOfInstallation)],
  ['installation_repositories', reading(InstallationEvent, intentOfInstallation)],
  ['repository', reading(RepositoryChange, intentOfRepository)],
]);

function reading<Shape extends z.ZodType>(
  shape: Shape,
  make: (action: string, event: z.infer<Shape>) => Intent,
): Reader {
  return (action, payload) => {
    const parsed = shape.safeParse(payload);
    if (parsed.success) return make(action, parsed.data);
    const { path, message } = parsed.error.issues[0]!;
    return {
      kind: 'ignored',
      because: `the payload is not as expected at ${path.join('.') || 'its top'}: ${message}`,
    };
  };
}
