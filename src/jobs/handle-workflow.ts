import type { Intent } from '../model/github.ts';
import type { RunRecord } from '../model/run-record.ts';
import { done, type Handled, ignored } from './answer.ts';
import { type AppContext, workflowPath } from './app-context.ts';

type WorkflowIntent = Intent & { readonly kind: 'workflow-moved' };

/** `run-name: metainfer <request id>`, as the workflow file that we compare byte for byte writes it. */
export function requestIdIn(displayTitle: string): string | undefined {
  return /^metainfer ([0-9a-z-]{8,80})$/.exec(displayTitle)?.[1];
}

/**
 * A workflow run of ours moved. Which run of ours it belongs to is looked up in our store, by its id or by the request
 * id in its name; a foreign workflow that copies the name finds nothing to move, for its id or path differs.
 */
export async function handleWorkflow(context: AppContext, intent: WorkflowIntent): Promise<Handled> {
  if (intent.path !== workflowPath || intent.event !== 'workflow_dispatch')
    return ignored('not the engine workflow');
  const run = await findRunOf(context, intent);
  if (run === undefined) return ignored('a workflow run of no run of ours');
  if (intent.status === 'in_progress') {
    await context.store.addTimeline(run.id, { kind: 'runner', text: 'a runner took the job', url: null });
    return done(`run ${run.number} is on a runner`);
  }
  if (intent.status !== 'completed') return ignored(`status ${intent.status}`);
  return (await endWorkflow(context, run, intent.workflowRunId, intent.conclusion))
    ? done(`run ${run.number}: workflow ended (${intent.conclusion})`)
    : ignored(`run ${run.number} does not wait for this`);
}

/** Moves a run that waits for exactly this workflow run. */
export async function endWorkflow(
  context: AppContext,
  run: RunRecord,
  workflowRunId: number,
  conclusion: string | null,
): Promise<boolean> {
  const text = conclusion ?? 'unknown';
  const moved = await context.store.moveRun(
    run.id,
    { type: 'workflow-ended', workflowRunId, conclusion: text },
    ({ state }) =>
      state.waitingFor === 'workflow' &&
      (state.github?.workflowRunId === null || state.github?.workflowRunId === workflowRunId),
  );
  if (moved === undefined) return false;
  await context.store.addTimeline(run.id, {
    kind: 'runner',
    text: `the workflow run ended: ${text}`,
    url: null,
  });
  return true;
}

async function findRunOf(context: AppContext, intent: WorkflowIntent): Promise<RunRecord | undefined> {
  const { store } = context;
  const byId = await store.findRunByWorkflow(intent.repository.id, intent.workflowRunId);
  if (byId !== undefined) return byId;
  const requestId = requestIdIn(intent.displayTitle);
  const byRequest = requestId === undefined ? undefined : await store.findRunByRequest(requestId);
  if (byRequest === undefined || byRequest.repository.id !== intent.repository.id) return undefined;
  // A run that knows its workflow run takes no other's word.
  const known = byRequest.state.github?.workflowRunId ?? null;
  return known === null && byRequest.state.github?.requestId === requestId ? byRequest : undefined;
}

/** Which runners there are is known from the jobs they take: the app may not list them. */
export async function handleJob(
  context: AppContext,
  intent: Intent & { readonly kind: 'job-moved' },
): Promise<Handled> {
  if (intent.runnerName === null || intent.runnerName === '') return ignored('no runner yet');
  await context.store.noteRunner(intent.repository.id, intent.runnerName, intent.labels);
  return done(`runner ${intent.runnerName}`);
}
