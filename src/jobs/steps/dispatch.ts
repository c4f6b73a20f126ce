import { renderCheck } from '../../delivery/render-check.ts';
import { renderPullStatus } from '../../delivery/render-status.ts';
import type { RunnerNeed, RunView } from '../../delivery/run-view.ts';
import { renderSetupProblem } from '../../delivery/setup-texts.ts';
import { AppError } from '../../model/errors.ts';
import type { GithubTrail, RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { type AppContext, clientOf, workflowPath } from '../app-context.ts';
import { findSetupProblems, setupPlace, summariseSetup } from '../preflight.ts';
import { issueScope, makeRunView } from '../run-view.ts';
import { findRunnerNeed } from '../served-labels.ts';
import { tryKey } from '../try-key.ts';

/** Check run, workflow dispatch, status on the pull request. The run then waits for the workflow to end. */
export async function dispatch(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const { state, repository } = run;
  const client = clientOf(context, repository);
  const github = state.github!;
  const attempt = state.attempt + 1;
  await requireSetup(context, run);
  await requireOpenPull(context, run);
  const requestId = `${run.id}-${attempt}`;
  const need = await requireNeed(context, run);
  // What follows is written for the state that the run is in once the job is queued.
  const ahead = inWorkflow(run, { ...github, requestId, workflowRunId: null }, attempt);
  const check = await client.createCheck(
    { scope: run.id, key: `check:${attempt}` },
    github.engineCommit,
    run.id,
    renderCheck(await makeRunView(context, ahead)),
    null,
  );
  // Before the dispatch: its first webhook may come before its answer.
  await context.store.beginAttempt(run.id, { number: attempt, requestId, workflowRunId: null });
  const { workflowRunId } = await client.dispatchWorkflow(
    { scope: run.id, key: `dispatch:${attempt}` },
    workflowPath,
    {
      engine_sha: github.engineCommit,
      request_id: requestId,
      constraints_sha256: state.constraintsSha256!,
      engine_path: github.enginePath,
      labels: JSON.stringify(need.labels),
      baseline: state.baseline ?? 'llama.cpp',
    },
  );
  await context.store.beginAttempt(run.id, { number: attempt, requestId, workflowRunId });
  await tellPull(context, inWorkflow(run, { ...github, requestId, workflowRunId }, attempt), { need });
  return { type: 'dispatched', requestId, workflowRunId, checkRunId: check.id };
}

/** A verdict needs somewhere to stand. @throws AppError BRANCH_MOVED */
async function requireOpenPull(context: AppContext, run: RunRecord): Promise<void> {
  const { pullNumber, branch } = run.state.github!;
  const client = clientOf(context, run.repository);
  const pull = await client.readPull(pullNumber);
  const problem =
    pull.state === 'closed'
      ? `pull request #${pullNumber} is ${pull.isMerged ? 'merged' : 'closed'}`
      : (await client.readBranch(branch)) === undefined
        ? `the branch ${branch} is gone`
        : undefined;
  if (problem === undefined) return;
  throw new AppError(
    'BRANCH_MOVED',
    `There is nothing to verify: ${problem}. Reopen or restore it and comment \`/metainfer retry\`, or ask anew in another issue.`,
  );
}

/** @throws AppError WORKFLOW_MISSING after a comment that says what to set up and how */
async function requireSetup(context: AppContext, run: RunRecord): Promise<void> {
  const { repository, state } = run;
  const problems = await findSetupProblems(context, repository);
  if (problems.length === 0) return;
  await clientOf(context, repository).createComment(
    { scope: run.id, key: `setup:${tryKey(state)}` },
    state.github!.pullNumber,
    renderSetupProblem(problems, setupPlace(context, repository)),
  );
  throw new AppError('WORKFLOW_MISSING', summariseSetup(problems));
}

function inWorkflow(run: RunRecord, github: GithubTrail, attempt: number): RunRecord {
  return {
    ...run,
    state: { ...run.state, status: 'waiting', next: null, waitingFor: 'workflow', github, attempt },
  };
}

/** The sticky comment of the engine's pull request. */
export async function tellPull(
  context: AppContext,
  run: RunRecord,
  more: Pick<RunView, 'isBranchMoved' | 'need'> = {},
): Promise<void> {
  const number = run.state.github!.pullNumber;
  const body = renderPullStatus(await makeRunView(context, run, more));
  const once = { scope: issueScope(run.repository, number), key: 'status' };
  await clientOf(context, run.repository).upsertComment(once, number, body);
}

/** @throws AppError NOT_COVERED where the operator lists no runner for the engine's target */
export async function requireNeed(context: AppContext, run: RunRecord): Promise<RunnerNeed> {
  const need = await findRunnerNeed(context, run);
  if (need !== undefined) return need;
  const { platform, arch } = run.state.constraints!.hardware;
  throw new AppError(
    'NOT_COVERED',
    `runner-config/labels.yaml names no runner for ${platform} ${arch}, so nobody can verify this engine. The operator of the app adds a line there.`,
  );
}
