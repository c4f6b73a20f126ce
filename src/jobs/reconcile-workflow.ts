import type { RepositoryClient, WorkflowJob, WorkflowRun } from '../adapters/github/repository-client.ts';
import { renderUnservedLabel } from '../delivery/replies.ts';
import type { RunRecord } from '../model/run-record.ts';
import { type AppContext, clientOf, workflowPath } from './app-context.ts';
import { endWorkflow } from './handle-workflow.ts';
import { makeRunView } from './run-view.ts';
import { findServedLabels } from './served-labels.ts';

/** GitHub lists a dispatched run within seconds; after this it was never made. */
const lostAfterMinutes = 10;
const unservedAfterMinutes = 2;
/** A run that waits for its workflow: ended unseen, lost, or queued for a label that nobody serves. */
export async function reconcileWorkflow(context: AppContext, run: RunRecord): Promise<void> {
  const client = clientOf(context, run.repository);
  const found = await findWorkflow(client, run);
  const [attempt] = [...(await context.store.readAttempts(run.id))].reverse();
  const minutes = (context.now().getTime() - (attempt?.startedAt ?? run.updatedAt).getTime()) / 60_000;
  if (found === undefined) {
    if (minutes > lostAfterMinutes) await giveUp(context, run);
    return;
  }
  if (found.status === 'completed') {
    await endWorkflow(context, run, found.id, found.conclusion);
    return;
  }
  if (found.status !== 'queued' || minutes < unservedAfterMinutes) return;
  const job = (await client.listWorkflowJobs(found.id)).find(({ status }) => status === 'queued');
  if (job !== undefined) await tellUnserved(context, run, job, minutes);
}

async function findWorkflow(client: RepositoryClient, run: RunRecord): Promise<WorkflowRun | undefined> {
  const { workflowRunId, requestId } = run.state.github!;
  return typeof workflowRunId === 'number'
    ? client.readWorkflowRun(workflowRunId)
    : client.findWorkflowRun(workflowPath, requestId!);
}

async function giveUp(context: AppContext, run: RunRecord): Promise<void> {
  await context.store.moveRun(
    run.id,
    {
      type: 'step-failed',
      code: 'RUNNER_FAILED',
      message: 'GitHub took the dispatch and never made a workflow run of it.',
    },
    ({ state }) => state.waitingFor === 'workflow' && state.github?.requestId === run.state.github?.requestId,
  );
}

/** Said once for each attempt, as a comment: an edit of the sticky one reaches nobody's inbox. */
async function tellUnserved(
  context: AppContext,
  run: RunRecord,
  job: WorkflowJob,
  waitingMinutes: number,
): Promise<void> {
  const { isServed, seenRunners } = await findServedLabels(context, run.repository, job.labels);
  // Busy is not unserved: the runner that took the last job takes this one when it is free.
  if (isServed) return;
  const queue = { labels: job.labels, waitingMinutes, seenRunners };
  const body = renderUnservedLabel(await makeRunView(context, run, { queue }));
  await clientOf(context, run.repository).createComment(
    { scope: run.id, key: `unserved:${run.state.attempt}` },
    run.state.github!.pullNumber,
    body,
  );
}
