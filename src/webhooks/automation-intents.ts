import type { z } from 'zod';
import type { Intent } from '../model/github.ts';
import { ignored, unusedAction } from './conversation-intents.ts';
import {
  actorOf,
  type CheckRunEvent,
  repositoryOf,
  type WorkflowJobEvent,
  type WorkflowRunEvent,
} from './payload-shapes.ts';

const checkName = 'metainfer';
const workflowPath = '.github/workflows/metainfer-engine.yml';

/** The buttons of our check run: Retry, Cancel and GitHub's own "Re-run". */
export function intentOfCheckRun(action: string, event: z.infer<typeof CheckRunEvent>): Intent {
  const { check_run: check, requested_action: requested } = event;
  if (action !== 'requested_action' && action !== 'rerequested') return unusedAction('check_run', action);
  if (check.name !== checkName) return ignored('the check is not ours');
  const button = action === 'rerequested' ? 'retry' : requested?.identifier;
  if (button !== 'retry' && button !== 'cancel') return ignored('the check has no such button');
  return {
    kind: 'check-button',
    repository: repositoryOf(event),
    actor: actorOf(event.sender),
    action: button,
    checkRunId: check.id,
    externalId: check.external_id || null,
  };
}

/** Our workflow, dispatched: whether it was dispatched by us, the store knows. */
export function intentOfWorkflowRun(action: string, event: z.infer<typeof WorkflowRunEvent>): Intent {
  const { workflow_run: run } = event;
  if (!['requested', 'in_progress', 'completed'].includes(action))
    return unusedAction('workflow_run', action);
  // GitHub may add the ref, as in `…/metainfer-engine.yml@main`.
  const path = run.path.replace(/@.*$/s, '');
  if (path !== workflowPath) return ignored('it is another workflow');
  if (run.event !== 'workflow_dispatch') return ignored('the workflow was not dispatched');
  return {
    kind: 'workflow-moved',
    repository: repositoryOf(event),
    workflowRunId: run.id,
    path,
    event: run.event,
    displayTitle: run.display_title ?? '',
    status: run.status,
    conclusion: run.conclusion ?? null,
  };
}

/** A job of any workflow: the payload doesn't say of which. */
export function intentOfWorkflowJob(action: string, event: z.infer<typeof WorkflowJobEvent>): Intent {
  const { workflow_job: job } = event;
  if (!['queued', 'in_progress', 'completed'].includes(action)) return unusedAction('workflow_job', action);
  return {
    kind: 'job-moved',
    repository: repositoryOf(event),
    workflowRunId: job.run_id,
    status: job.status,
    labels: job.labels,
    runnerName: job.runner_name || null,
  };
}
