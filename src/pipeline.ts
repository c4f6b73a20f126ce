import { AppError, errorCodes } from './model/errors.ts';
import { type RunEffect, type RunEvent, type RunFailure, RunState, type RunStep } from './model/run.ts';

/** A run at its beginning: nothing read, nothing done. `id` must be unique among the caller's runs. */
export function startRun(id: string, input: RunState['input'], folder: string): RunState {
  return { version: 1, id, status: 'running', next: 'constraints', input, folder, attempt: 0 };
}

/** What is to be done in this state. A state that has ended asks for nothing but its announcement. */
export function effectsOf(state: RunState): readonly RunEffect[] {
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

function move(state: RunState, event: RunEvent): RunState {
  if (state.status !== 'running' || state.next === null) {
    throw new AppError(
      'INTERNAL',
      `Run ${state.id} has ended (${state.status}) and takes no event "${event.type}".`,
    );
  }
  if (event.type === 'cancelled') return { ...state, status: 'cancelled', next: null };
  if (event.type === 'step-failed') {
    return end(state, {
      step: state.next,
      code: event.code,
      message: event.message,
      next: adviceFor(event.code),
    });
  }
  requireStep(state, event);
  switch (event.type) {
    case 'constraints-accepted':
      return { ...state, next: 'plan', constraints: event.constraints, constraintsSha256: event.sha256 };
    case 'plan-made':
      return afterPlan(state, event.sha256, event.missing);
    case 'engine-generated':
      return { ...state, next: 'verify', engineTreeSha256: event.treeSha256, attempt: state.attempt + 1 };
    case 'verified':
      return afterVerification({ ...state, verification: event.outcome });
    case 'benchmarked':
      return afterBenchmark({ ...state, benchmark: event.outcome });
  }
}

const stepOfEvent = {
  'constraints-accepted': 'constraints',
  'plan-made': 'plan',
  'engine-generated': 'generate',
  verified: 'verify',
  benchmarked: 'bench',
} as const satisfies Record<Exclude<RunEvent['type'], 'step-failed' | 'cancelled'>, RunStep>;

function requireStep(state: RunState, event: Exclude<RunEvent, { type: 'step-failed' | 'cancelled' }>): void {
  if (stepOfEvent[event.type] === state.next) return;
  throw new AppError(
    'INTERNAL',
    `Run ${state.id} waits for "${state.next}" and got the event "${event.type}".`,
  );
}

function afterPlan(state: RunState, sha256: string, missing: readonly string[]): RunState {
  const planned = { ...state, planSha256: sha256 };
  if (missing.length === 0) return { ...planned, next: 'generate' };
  return end(planned, {
    step: 'plan',
    code: 'NOT_COVERED',
    message: `Knowledge does not cover this engine yet:\n${missing.map((line) => `- ${line}`).join('\n')}`,
    next: 'Change the constraint file to something covered, or add the missing realization to knowledge/.',
  });
}

function afterVerification(state: RunState): RunState {
  const outcome = state.verification!;
  if (outcome.passed) return { ...state, next: 'bench' };
  return end(state, {
    step: 'verify',
    code: 'VERDICT_FAILED',
    message: `Verification failed.\n${outcome.findings.map((line) => `- ${line}`).join('\n')}`,
    next:
      outcome.guilty.length > 0
        ? `The findings point at ${outcome.guilty.join(', ')}. All of it comes from verified knowledge, so there is no agent to repair it: please look at these realizations.`
        : 'Read the findings in the report; they name no contract.',
  });
}

function afterBenchmark(state: RunState): RunState {
  const outcome = state.benchmark!;
  if (outcome.passed) return { ...state, status: 'passed', next: null };
  return end(state, {
    step: 'bench',
    code: 'VERDICT_FAILED',
    message: `The engine is right but misses what was asked of it.\n${outcome.goals.map((line) => `- ${line}`).join('\n')}`,
    next: 'Relax the goal, or choose other hardware or number formats.',
  });
}

function end(state: RunState, failure: RunFailure): RunState {
  return { ...state, status: 'failed', next: null, failure };
}

function adviceFor(code: string): string {
  const known = (errorCodes as Record<string, { source: string }>)[code];
  if (known?.source === 'user') return 'Correct what the message names and start again.';
  if (known?.source === 'external') return 'Run `metainfer doctor` to see what this machine lacks.';
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
