import type { RepairFinding } from './model/agent-work.ts';
import { AppError } from './model/errors.ts';
import { type RunEffect, type RunEvent, type RunFailure, RunState, type RunStep } from './model/run.ts';
import {
  afterAttempt,
  afterComposition,
  afterDiagnosis,
  afterFixRequest,
  canRepair,
  mayOptimize,
  reopenUnsettled,
  withBetterFile,
} from './pipeline/agent-transitions.ts';
import {
  adviceFor,
  benchmarkFailure,
  coverageFailure,
  stopFailure,
  verificationFailure,
} from './pipeline/failures.ts';
import { isUnverified, lacksDevice } from './pipeline/unverified.ts';

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
  if (event.type === 'fix-requested') return takeUpFix(state, event.findings);
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
      return afterPlan(state, event);
    case 'announced':
      return event.needsApproval ? wait(state, 'approval') : { ...state, next: 'generate' };
    case 'contract-attempted':
      return { ...state, agents: afterAttempt(state.agents!, event) };
    case 'engine-generated':
      return afterGeneration(state, event);
    case 'published':
      return afterPublication({ ...state, github: event.trail });
    case 'diagnosed':
      return afterDiagnosed(state, event);
    case 'optimized':
      return afterOptimization(state, event);
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
  'contract-attempted': 'generate',
  'engine-generated': 'generate',
  published: 'publish',
  dispatched: 'dispatch',
  verified: 'verify',
  diagnosed: 'diagnose',
  benchmarked: 'bench',
  optimized: 'optimize',
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

function afterPlan(state: RunState, event: RunEvent & { type: 'plan-made' }): RunState {
  const { sha256, missing, agents } = event;
  const planned = { ...state, planSha256: sha256, ...(agents === undefined ? {} : { agents }) };
  const isGithub = state.input.origin === 'github';
  if (missing.length === 0) return { ...planned, next: isGithub ? 'announce' : 'generate' };
  return end(planned, coverageFailure(missing));
}

function afterGeneration(state: RunState, event: RunEvent & { type: 'engine-generated' }): RunState {
  const { treeSha256, isComplete } = event;
  const agents = state.agents === undefined ? {} : { agents: afterComposition(state.agents) };
  const generated = { ...state, engineTreeSha256: treeSha256, ...agents };
  if (state.input.origin === 'github') return { ...generated, next: 'publish' };
  if (!isComplete) return end(generated, stopFailure(generated));
  return { ...generated, next: 'verify', attempt: state.attempt + 1 };
}

/** A phase of several is on the branch: the next one is written, or the run stops with what there is. */
function afterPublication(state: RunState): RunState {
  const { agents } = state;
  if (agents !== undefined && agents.stop !== null) return end(state, stopFailure(state));
  const isUnfinished = agents?.contracts.some(({ status }) => status === 'open') === true;
  return { ...state, next: isUnfinished ? 'generate' : 'dispatch' };
}

function afterDispatch(state: RunState, event: RunEvent & { type: 'dispatched' }): RunState {
  const { requestId, workflowRunId, checkRunId } = event;
  const { workflowConclusion: _, ...trail } = state.github!;
  const github = { ...trail, requestId, workflowRunId, checkRunId };
  return wait({ ...state, attempt: state.attempt + 1, github }, 'workflow');
}

function afterVerification(state: RunState): RunState {
  const outcome = state.verification!;
  // Without a device there is nothing to time either; the report then says so of the timed gates too.
  if (outcome.passed || lacksDevice(outcome)) return { ...state, next: 'bench' };
  if (canRepair(state)) return { ...state, next: 'diagnose' };
  return end(state, verificationFailure('verify', state));
}

/** Back to the agents of the contracts that are to blame; a failure where nobody may repair them. */
function afterDiagnosed(state: RunState, event: RunEvent & { type: 'diagnosed' }): RunState {
  const agents = afterDiagnosis(state, event);
  const spent = { ...state, agents: { ...state.agents!, spent: event.spent } };
  if (agents === undefined) return end(spent, verificationFailure('diagnose', spent));
  return { ...state, agents, next: 'generate' };
}

function afterBenchmark(state: RunState): RunState {
  const outcome = state.benchmark!;
  if (isUnverified(state.verification, outcome)) return endUnverified(state);
  if (mayOptimize(state.agents)) return { ...state, next: 'optimize' };
  if (outcome.passed) return { ...state, status: 'passed', next: null };
  return end(state, benchmarkFailure('bench', outcome.goals));
}

function afterOptimization(state: RunState, event: RunEvent & { type: 'optimized' }): RunState {
  const { kept, spent, isLast } = event;
  const { optimizations, limits } = state.agents!;
  const done = isLast ? limits.optimizations : optimizations + 1;
  const tried = { ...state.agents!, spent, optimizations: Math.min(done, limits.optimizations) };
  const agents = kept === null ? tried : withBetterFile(tried, kept.contract, kept.fileSha256);
  const better =
    kept === null
      ? {}
      : {
          engineTreeSha256: kept.treeSha256,
          verification: kept.verification,
          benchmark: kept.benchmark,
        };
  return afterBenchmark({ ...state, ...better, agents });
}

function afterJudgement(
  state: RunState,
  verification: NonNullable<RunState['verification']>,
  benchmark: RunState['benchmark'] | null,
): RunState {
  const judged: RunState = { ...state, verification, ...(benchmark ? { benchmark } : {}) };
  const isRight = verification.passed || lacksDevice(verification);
  if (isRight && isUnverified(verification, benchmark)) return endUnverified(judged);
  if (!isRight) {
    if (canRepair(judged)) return { ...judged, next: 'diagnose' };
    return end(judged, verificationFailure('judge', judged));
  }
  if (benchmark?.passed !== true) return end(judged, benchmarkFailure('judge', benchmark?.goals ?? []));
  return { ...judged, next: 'conclude', ending: 'passed' };
}

function end(state: RunState, failure: RunFailure): RunState {
  if (state.input.origin === 'github') return { ...awake(state, 'conclude'), ending: 'failed', failure };
  return { ...state, status: 'failed', next: null, failure };
}

function endUnverified(state: RunState): RunState {
  if (state.input.origin === 'github') return { ...awake(state, 'conclude'), ending: 'unverified' };
  return { ...state, status: 'unverified', next: null };
}

/** @throws AppError INTERNAL on a run that is still open */
function takeUpAgain(state: RunState, baseline: RunState['baseline']): RunState {
  if (isOpen(state)) {
    throw new AppError('INTERNAL', `Run ${state.id} (${state.status}) cannot be retried.`);
  }
  const { failure: _, ending: __, verification: ___, benchmark: ____, waitingFor: _____, ...rest } = state;
  const agents = state.agents === undefined ? undefined : reopenUnsettled(state.agents);
  const isUnfinished = agents?.contracts.some((entry) => entry.status === 'open') === true;
  return {
    ...rest,
    ...(agents === undefined ? {} : { agents }),
    status: 'running',
    next: isUnfinished ? 'generate' : state.github === undefined ? 'constraints' : 'dispatch',
    retries: (state.retries ?? 0) + 1,
    ...(baseline === undefined ? {} : { baseline }),
  };
}

/** @throws AppError INTERNAL on a run that is still open, or in which no agent wrote what the findings name */
function takeUpFix(state: RunState, findings: readonly RepairFinding[]): RunState {
  const agents =
    isOpen(state) || state.agents === undefined ? undefined : afterFixRequest(state.agents, findings);
  if (agents === undefined || state.input.origin !== 'github') {
    throw new AppError('INTERNAL', `Run ${state.id} (${state.status}) cannot take up a repair.`);
  }
  const { failure: _, ending: __, verification: ___, benchmark: ____, waitingFor: _____, ...rest } = state;
  return { ...rest, agents, status: 'running', next: 'generate' };
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
