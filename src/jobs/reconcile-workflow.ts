import type { RepositoryClient, WorkflowJob, WorkflowRun } from '../adapters/github/repository-client.ts';
import { workflowTimeoutMinutes } from '../adapters/runner/workflow-text.ts';
import { renderUnservedLabel } from '../delivery/replies.ts';
import type { RunRecord } from '../model/run-record.ts';
import { type AppContext, clientOf, workflowPath } from './app-context.ts';
import { endWorkflow } from './handle-workflow.ts';
import { makeRunView } from './run-view.ts';
import { findServedLabels } from './served-labels.ts';

/** GitHub lists a dispatched run within seconds; after this it was never made. */
const lostAfterMinutes = 10;
const unservedAfterMinutes = 2;
/** GitHub gives up a job of self-hosted runners that nobody took in this time. */
const longestQueueMinutes = 24 * 60;
/** GitHub ends a job that takes too long, and one whose runner it lost; where it has not by now, it never will. */
const longestJobMinutes = workflowTimeoutMinutes + 15;

/** A run that waits for its workflow: ended unseen, lost, stuck, or queued for a label that nobody serves. */
export async function reconcileWorkflow(context: AppContext, run: RunRecord): Promise<void> {
  const client = clientOf(context, run.repository);
  const found = await findWorkflow(client, run);
  const [attempt] = [...(await context.store.readAttempts(run.id))].reverse();
  const minutes = minutesSince(context, attempt?.startedAt ?? run.updatedAt);
  if (found === undefined) {
    if (minutes > lostAfterMinutes)
      await giveUp(context, run, 'GitHub took the dispatch and never made a workflow run of it.');
    return;
  }
  if (found.status === 'completed') {
    await endWorkflow(context, run, found.id, found.conclusion);
    return;
  }
  const stuck = await findStuck(context, client, found, minutes);
  if (stuck !== undefined) {
    // First the run: its own cancellation would else be taken for the end of the workflow.
    if (await giveUp(context, run, stuck)) await client.cancelWorkflowRun(found.id);
    return;
  }
  if (found.status !== 'queued' || minutes < unservedAfterMinutes) return;
  const job = (await client.listWorkflowJobs(found.id)).find(({ status }) => status === 'queued');
  if (job !== undefined) await tellUnserved(context, run, job, minutes);
}

function minutesSince(context: AppContext, time: Date): number {
  return (context.now().getTime() - time.getTime()) / 60_000;
}

/** Why this workflow run will not end by itself any more; `minutes` are those since its dispatch. */
async function findStuck(
  context: AppContext,
  client: RepositoryClient,
  found: WorkflowRun,
  minutes: number,
): Promise<string | undefined> {
  if (found.status !== 'in_progress') {
    if (minutes <= longestQueueMinutes) return undefined;
    return `No runner took the workflow run in ${Math.floor(minutes / 60)} hours, and GitHub gives up after 24. See that a runner with the labels it waits for is online.`;
  }
  if (minutes <= longestJobMinutes) return undefined;
  const jobs = await client.listWorkflowJobs(found.id);
  const began = jobs.find(({ status }) => status === 'in_progress')?.startedAt;
  const taken = began ? minutesSince(context, began) : minutes;
  if (taken <= longestJobMinutes) return undefined;
  return `The workflow run has been in progress for ${Math.floor(taken)} minutes and its job may take ${workflowTimeoutMinutes}: its runner was lost before it could report. See that the runner is online and healthy.`;
}

async function findWorkflow(client: RepositoryClient, run: RunRecord): Promise<WorkflowRun | undefined> {
  const { workflowRunId, requestId } = run.state.github!;
  return typeof workflowRunId === 'number'
    ? client.readWorkflowRun(workflowRunId)
    : client.findWorkflowRun(workflowPath, requestId!);
}

/** Ends the wait; false where the run does not wait for this attempt any more. */
async function giveUp(context: AppContext, run: RunRecord, message: string): Promise<boolean> {
  const { requestId } = run.state.github!;
  const moved = await context.store.moveRun(
    run.id,
    { type: 'step-failed', code: 'RUNNER_FAILED', message },
    ({ state }) => state.waitingFor === 'workflow' && state.github?.requestId === requestId,
  );
  if (moved === undefined) return false;
  await context.store.endAttempt(run.id, requestId!, 'no result');
  await context.store.addTimeline(run.id, { kind: 'problem', text: message, url: null });
  return true;
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
