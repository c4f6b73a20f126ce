import { RateLimitedError } from '../adapters/github/github-errors.ts';
import { AppError } from '../model/errors.ts';
import type { GithubStep, RunEvent } from '../model/run.ts';
import type { RunRecord } from '../model/run-record.ts';
import { isOpen } from '../pipeline.ts';
import type { AppContext } from './app-context.ts';
import { reconcileWorkflow } from './reconcile-workflow.ts';
import { announce } from './steps/announce.ts';
import { conclude } from './steps/conclude.ts';
import { acceptConstraints } from './steps/constraints.ts';
import { diagnose } from './steps/diagnose.ts';
import { dispatch } from './steps/dispatch.ts';
import { generate } from './steps/generate.ts';
import { judge } from './steps/judge.ts';
import { plan } from './steps/plan.ts';
import { publish } from './steps/publish.ts';

export type StepPerformer = (context: AppContext, run: RunRecord, signal: AbortSignal) => Promise<RunEvent>;

const performers: Readonly<Record<GithubStep, StepPerformer>> = {
  constraints: acceptConstraints,
  plan,
  announce,
  generate,
  publish,
  dispatch,
  judge,
  diagnose,
  conclude,
};

/** Tries of a step that fails for a reason that may pass, and the pause before each next one, in seconds. */
const pauses = [5, 30, 120, 600, 1800];

/** GitHub's limits last an hour at most; a run that meets this many of them is not getting anywhere. */
const mostLimits = 24;

/**
 * One step of the repository's ready run with the lowest number; nothing where none is ready. The signal aborts when the
 * run is to be cancelled and when this instance shuts down: then the step is done again elsewhere.
 */
export async function performStep(
  context: AppContext,
  repositoryId: number,
  signal: AbortSignal,
): Promise<void> {
  const run = await context.store.nextReadyRun(repositoryId);
  if (run === undefined) return;
  const step = run.state.next as GithubStep;
  if (run.isCancelRequested && step !== 'conclude') return giveWay(context, run);
  const log = context.log.child({ run: run.number, step });
  const began = performance.now();
  const observe = (outcome: 'done' | 'postponed' | 'failed' | 'cancelled') =>
    context.observeStep(step, outcome, (performance.now() - began) / 1000);
  try {
    log.info('step begins');
    const event = await performers[step](context, run, signal);
    const moved = await context.store.moveRun(run.id, event, ({ state }) => state.next === step);
    observe('done');
    log.info({ event: event.type, status: moved?.state.status }, 'step done');
    if (moved?.state.waitingFor === 'workflow') await seeWhetherItEnded(context, moved);
  } catch (error) {
    if (signal.aborted) {
      const current = await context.store.findRun(run.id);
      observe('cancelled');
      if (current?.isCancelRequested === true) return giveWay(context, current);
      throw error;
    }
    log.warn({ err: error }, 'step failed');
    observe(await handleFailure(context, run, step, error));
  }
}

/** A workflow run may be over before this run waits for it: after a crash its webhook came too early, or to nobody. */
async function seeWhetherItEnded(context: AppContext, run: RunRecord): Promise<void> {
  try {
    await reconcileWorkflow(context, run);
  } catch (error) {
    context.log.warn({ err: error, run: run.number }, 'could not look at the workflow run; reconciling will');
  }
}

async function giveWay(context: AppContext, run: RunRecord): Promise<void> {
  const type = run.supersededBy === null ? 'cancelled' : 'superseded';
  await context.store.moveRun(run.id, { type }, ({ state }) => isOpen(state));
}

/** A refusal ends the run with its reason; what may pass is tried again; a fault of ours is said without its stack. */
async function handleFailure(
  context: AppContext,
  run: RunRecord,
  step: GithubStep,
  error: unknown,
): Promise<'postponed' | 'failed'> {
  const known =
    error instanceof AppError
      ? error
      : new AppError('INTERNAL', `The step "${step}" met a fault of the program.`, { cause: error });
  if (error instanceof RateLimitedError && run.stepFailures < mostLimits) {
    await context.store.postponeStep(run.id, error.retryAfterSeconds);
    return 'postponed';
  }
  const pause = pauses[run.stepFailures];
  if (known.source !== 'user' && isWorthRepeating(known, run.stepFailures) && pause !== undefined) {
    await context.store.postponeStep(run.id, pause);
    return 'postponed';
  }
  await context.store.addTimeline(run.id, {
    kind: 'problem',
    text: `${step}: ${known.message.split('\n')[0]}`,
    url: null,
  });
  await context.store.moveRun(
    run.id,
    { type: 'step-failed', code: known.code, message: known.message },
    ({ state }) => state.next === step,
  );
  return 'failed';
}

function isWorthRepeating(error: AppError, failures: number): boolean {
  if (error.code === 'RUNNER_FAILED' || error.code === 'REPORT_REJECTED') return false;
  // Its adapter tried for minutes already, or was refused for good.
  if (error.code === 'MODEL_UNAVAILABLE') return failures < 2;
  return error.source === 'external' || failures < 2;
}
