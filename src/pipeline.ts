import { AppError, errorCodes } from './model/errors.ts';
import { type RunEffect, type RunEvent, type RunFailure, RunState, type RunStep } from './model/run.ts';

/** A run at its beginning: nothing read, nothing done. `id` must be unique among the caller's runs. */
export function startRun(id: string, input: RunState['input'], folder: string): RunState {
  return { version: 1, id, status: 'running', next: 'constraints', input, folder, attempt: 0 };
}

/** What is to be done in this state: nothing while it waits; a state that has ended asks for its announcement. */
export function effectsOf(state: RunState): readonly RunEffect[] {
  if (state.status === 'waiting') return [];
  if (state.next !== null && state.status === 'running') return [{ type: 'perform', step: state.next }];
  return [{ type: 'announce-end' }];
}

/**
 * One transition. Pure: the same state and event always give the same state and effects, and the state passed
 * in is not changed. An event that does not belong to the state's step is a fault of the caller.
 * @throws AppError INTERNAL on an event out of order
 */
export function step(state: RunState, event: RunEvent): { state: RunState; effects: readonly RunEffect[] } {
  const moved = move(state, event);
  return { state: moved, effects: effectsOf(moved) };
}

/** Whether a run is still under way: running or waiting. */
export function isOpen(state: Pick<RunState, 'status'>): boolean {
  return state.status === 'running' || state.status === 'waiting';
}

function move(state: RunState, event: RunEvent): RunState {
  if (event.type === 'retried') return takeUpAgain(state, event.baseline);
  if (!isOpen(state)) {
    throw new AppError(
      'INTERNAL',
      `Run ${state.id} has ended (${state.status}) and takes no event "${event.type}".`,
    );
  }
  if (event.type === 'cancelled' || event.type === 'superseded') return stopEarly(state, event.type);
  if (event.type === 'approved' || event.type === 'workflow-ended') return wakeUp(state, event);
  if (event.type === 'step-failed') return failStep(state, event.code, event.message);
  requireStep(state, event);
  switch (event.type) {
    case 'constraints-accepted':
      return { ...state, next: 'plan', constraints: event.constraints, constraintsSha256: event.sha256 };
    case 'plan-made':
      return afterPlan(state, event.sha256, event.missing);
    case 'announced':
      return event.needsApproval ? wait(state, 'approval') : { ...state, next: 'generate' };
    case 'engine-generated':
      return afterGeneration(state, event.treeSha256);
    case 'published':
      return { ...state, next: 'dispatch', github: event.trail };
    case 'dispatched':
      return afterDispatch(state, event);
    case 'verified':
      return afterVerification({ ...state, verification: event.outcome });
    case 'benchmarked':
      return afterBenchmark({ ...state, benchmark: event.outcome });
    case 'judged':
      return afterJudgement(state, event.verification, event.benchmark);
    case 'concluded':
      return { ...state, status: state.ending ?? 'failed', next: null };
  }
}

const stepOfEvent = {
  'constraints-accepted': 'constraints',
  'plan-made': 'plan',
  announced: 'announce',
  'engine-generated': 'generate',
  published: 'publish',
  dispatched: 'dispatch',
  verified: 'verify',
  benchmarked: 'bench',
  judged: 'judge',
  concluded: 'conclude',
} as const satisfies Partial<Record<RunEvent['type'], RunStep>>;

function requireStep(state: RunState, event: { readonly type: keyof typeof stepOfEvent }): void {
  if (stepOfEvent[event.type] === state.next) return;
  throw new AppError(
    'INTERNAL',
    `Run ${state.id} waits for "${state.next}" and got the event "${event.type}".`,
  );
}

function wait(state: RunState, waitingFor: 'approval' | 'workflow'): RunState {
  return { ...state, status: 'waiting', next: null, waitingFor };
}

function awake(state: RunState, next: RunStep): RunState {
  const { waitingFor: _, ...rest } = state;
  return { ...rest, status: 'running', next };
}

/** An answer that comes twice, or to a run that waits for something else, is a fault of the caller. */
function wakeUp(state: RunState, event: RunEvent & { type: 'approved' | 'workflow-ended' }): RunState {
  const wanted = event.type === 'approved' ? 'approval' : 'workflow';
  if (state.waitingFor !== wanted) {
    throw new AppError('INTERNAL', `Run ${state.id} does not wait for ${wanted}.`);
  }
  if (event.type === 'approved') return awake(state, 'generate');
  const { workflowRunId, conclusion } = event;
  const github = { ...state.github!, workflowRunId, workflowConclusion: conclusion };
  return { ...awake(state, 'judge'), github };
}

/** On GitHub somebody is told first; a run that is telling already goes on with what it has to say. */
function stopEarly(state: RunState, ending: 'cancelled' | 'superseded'): RunState {
  if (state.input.origin === 'command-line') return { ...state, status: ending, next: null };
  return state.next === 'conclude' ? state : { ...awake(state, 'conclude'), ending };
}

function failStep(state: RunState, code: string, message: string): RunState {
  // What could not be said stays unsaid; how the run ended does not change by it.
  if (state.next === 'conclude') return { ...state, status: state.ending ?? 'failed', next: null };
  return end(state, { step: state.next ?? 'dispatch', code, message, next: adviceFor(code, state) });
}

function afterPlan(state: RunState, sha256: string, missing: readonly string[]): RunState {
  const planned = { ...state, planSha256: sha256 };
  const isGithub = state.input.origin === 'github';
  if (missing.length === 0) return { ...planned, next: isGithub ? 'announce' : 'generate' };
  return end(planned, {
    step: 'plan',
    code: 'NOT_COVERED',
    message: `Knowledge does not cover this engine yet:\n${missing.map((line) => `- ${line}`).join('\n')}`,
    next: 'Change the constraint file to something covered, or add the missing realization to knowledge/.',
  });
}

function afterGeneration(state: RunState, treeSha256: string): RunState {
  const generated = { ...state, engineTreeSha256: treeSha256 };
  if (state.input.origin === 'github') return { ...generated, next: 'publish' };
  return { ...generated, next: 'verify', attempt: state.attempt + 1 };
}

function afterDispatch(state: RunState, event: RunEvent & { type: 'dispatched' }): RunState {
  const { requestId, workflowRunId, checkRunId } = event;
  const { workflowConclusion: _, ...trail } = state.github!;
  const github = { ...trail, requestId, workflowRunId, checkRunId };
  return wait({ ...state, attempt: state.attempt + 1, github }, 'workflow');
}

function afterVerification(state: RunState): RunState {
  const outcome = state.verification!;
  if (outcome.passed) return { ...state, next: 'bench' };
  return end(state, {
    step: 'verify',
    code: 'VERDICT_FAILED',
    message: `Verification failed.\n${outcome.findings.map((line) => `- ${line}`).join('\n')}`,
    next: adviceForGuilty(outcome.guilty),
  });
}

function adviceForGuilty(guilty: readonly string[]): string {
  return guilty.length > 0
    ? `The findings point at ${guilty.join(', ')}. All of it comes from verified knowledge, so there is no agent to repair it: please look at these realizations.`
    : 'Read the findings in the report; they name no contract.';
}

function afterBenchmark(state: RunState): RunState {
  const outcome = state.benchmark!;
  if (outcome.passed) return { ...state, status: 'passed', next: null };
  return end(state, benchmarkFailure('bench', outcome.goals));
}

function benchmarkFailure(step: RunStep, goals: readonly string[]): RunFailure {
  return {
    step,
    code: 'VERDICT_FAILED',
    message: `The engine is right but misses what was asked of it.\n${goals.map((line) => `- ${line}`).join('\n')}`,
    next: 'Relax the goal, or choose other hardware or number formats.',
  };
}

function afterJudgement(
  state: RunState,
  verification: NonNullable<RunState['verification']>,
  benchmark: RunState['benchmark'] | null,
): RunState {
  const judged: RunState = { ...state, verification, ...(benchmark ? { benchmark } : {}) };
  if (!verification.passed) {
    return end(judged, {
      step: 'judge',
      code: 'VERDICT_FAILED',
      message: `Verification failed.\n${verification.findings.map((line) => `- ${line}`).join('\n')}`,
      next: adviceForGuilty(verification.guilty),
    });
  }
  if (benchmark?.passed !== true) return end(judged, benchmarkFailure('judge', benchmark?.goals ?? []));
  return { ...judged, next: 'conclude', ending: 'passed' };
}

function end(state: RunState, failure: RunFailure): RunState {
  if (state.input.origin === 'github') return { ...awake(state, 'conclude'), ending: 'failed', failure };
  return { ...state, status: 'failed', next: null, failure };
}

/** @throws AppError INTERNAL on a run that is still open or came from the command line */
function takeUpAgain(state: RunState, baseline: RunState['baseline']): RunState {
  if (isOpen(state) || state.input.origin !== 'github') {
    throw new AppError('INTERNAL', `Run ${state.id} (${state.status}) cannot be retried.`);
  }
  const { failure: _, ending: __, verification: ___, benchmark: ____, waitingFor: _____, ...rest } = state;
  return {
    ...rest,
    status: 'running',
    next: state.github === undefined ? 'constraints' : 'dispatch',
    retries: (state.retries ?? 0) + 1,
    ...(baseline === undefined ? {} : { baseline }),
  };
}

function adviceFor(code: string, state: RunState): string {
  const known = (errorCodes as Record<string, { source: string }>)[code];
  const isGithub = state.input.origin === 'github';
  if (known?.source === 'user') {
    return isGithub
      ? 'Correct what the message names; editing the constraint file starts anew, `/metainfer retry` repeats this run.'
      : 'Correct what the message names and start again.';
  }
  if (known?.source === 'external') {
    return isGithub
      ? 'The engine is not to blame. Once the cause is gone, `/metainfer retry` repeats this run.'
      : 'Run `metainfer doctor` to see what this machine lacks.';
  }
  return 'This is a fault of the program; please report it with the run id.';
}

/** Reads a saved run. @throws AppError RUN_STATE_INVALID */
export function parseRunState(text: string): RunState {
  const refuse = (detail: string): AppError =>
    new AppError('RUN_STATE_INVALID', `This is not the saved state of a run: ${detail}.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse('it is not JSON');
  }
  const parsed = RunState.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw refuse(`${issue.path.join('.') || 'the document'}: ${issue.message}`);
}

/** Exit code of a run that has ended or was stopped between steps. */
export function exitCodeOf(state: RunState): 0 | 1 | 2 | 3 | 4 {
  if (state.status === 'cancelled') return 1;
  if (state.failure === undefined) return 0;
  if (state.failure.code === 'VERDICT_FAILED') return 1;
  return (errorCodes as Record<string, { exit: 2 | 3 | 4 }>)[state.failure.code]?.exit ?? 4;
}
