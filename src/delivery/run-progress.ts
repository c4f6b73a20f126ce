import { codeSpan, inlineText } from '../model/escape-text.ts';
import type { GithubStep, RunState } from '../model/run.ts';
import { progressInWords } from './agent-progress.ts';
import { link } from './markdown.ts';
import type { RunView } from './run-view.ts';

/** How a run stands, for a person. While `conclude` speaks, the run counts as ended already. */
export type Standing =
  | 'queued'
  | 'working'
  | 'approval'
  | 'runner'
  | 'passed'
  | 'failed'
  | 'unverified'
  | 'cancelled'
  | 'superseded';

export function standingOf(view: Pick<RunView, 'run' | 'waitingBehind'>): Standing {
  const { state } = view.run;
  if (state.ending !== undefined) return state.ending;
  if (state.status !== 'running' && state.status !== 'waiting') return state.status;
  if (state.waitingFor === 'approval') return 'approval';
  if (state.waitingFor === 'workflow') return 'runner';
  return view.waitingBehind === null ? 'working' : 'queued';
}

export function hasEnded(standing: Standing): boolean {
  return ['passed', 'failed', 'unverified', 'cancelled', 'superseded'].includes(standing);
}

/** Steps that look at a report: a run that stopped elsewhere has none that speaks of what it made. */
const judgingSteps: ReadonlySet<string> = new Set(['judge', 'diagnose']);

/** Without the report of an earlier attempt: one belongs to what is told now only where it gave the verdict. */
export function withCurrentReport(view: RunView): RunView {
  const { failure } = view.run.state;
  const standing = standingOf(view);
  const isVerdict = failure?.code === 'VERDICT_FAILED' && judgingSteps.has(failure.step);
  const isJudged = standing === 'passed' || standing === 'unverified';
  if (isJudged || (standing === 'failed' && isVerdict)) return view;
  const { report: _, ...rest } = view;
  return rest;
}

/** Steps as a person follows them; the two that only post are part of their neighbours. */
const shownSteps = ['constraints', 'plan', 'generate', 'publish', 'dispatch', 'judge'] as const;
type ShownStep = (typeof shownSteps)[number];

const stepWords: Readonly<Record<ShownStep, readonly [todo: string, now: string, done: string]>> = {
  constraints: ['Read the constraint file', 'Reading the constraint file', 'Constraint file read'],
  plan: ['Make a plan', 'Making a plan', 'Plan made'],
  generate: ['Write the engine', 'Writing the engine', 'Engine written'],
  publish: ['Open a draft pull request', 'Opening a draft pull request', 'Draft pull request opened'],
  dispatch: ['Ask for a runner', 'Asking for a runner', 'Runner asked for'],
  judge: [
    'Build, verify and time it on the runner',
    'Building, verifying and timing it on the runner',
    'Built, verified and timed on the runner',
  ],
};

export function stepName(step: string): string {
  const names: Record<string, string> = {
    constraints: 'reading the constraint file',
    plan: 'planning',
    announce: 'posting the plan',
    generate: 'writing the engine',
    publish: 'opening the pull request',
    dispatch: 'handing the engine to a runner',
    judge: 'verification',
    diagnose: 'looking for the cause',
    conclude: 'posting the results',
  };
  return names[step] ?? step;
}

const order: readonly GithubStep[] = [
  ...(['constraints', 'plan', 'announce', 'generate', 'publish', 'dispatch', 'judge', 'conclude'] as const),
];

/** The step at which the run stands or stopped; `conclude` where every step is done. */
export function stepAt(state: RunState): GithubStep {
  if (state.failure !== undefined) return shownAs(state.failure.step as GithubStep);
  if (state.waitingFor === 'approval') return 'generate';
  if (state.waitingFor === 'workflow') return 'judge';
  if (state.next !== null && state.next !== 'conclude') return shownAs(state.next as GithubStep);
  if (state.ending === 'passed' || state.status === 'passed') return 'conclude';
  // Stopped from outside: what the state holds tells how far it came.
  if (state.verification !== undefined) return 'conclude';
  if (state.github?.requestId !== undefined) return 'judge';
  if (state.github !== undefined) return 'dispatch';
  if (state.engineTreeSha256 !== undefined) return 'publish';
  if (state.planSha256 !== undefined) return 'generate';
  return state.constraintsSha256 === undefined ? 'constraints' : 'plan';
}

/** The look for a cause is part of the verdict to whoever waits for it. */
function shownAs(step: GithubStep): GithubStep {
  return step === 'diagnose' ? 'judge' : step;
}

/** The steps as a list: done, at hand, stopped, to come. */
export function renderProgress(view: RunView): string {
  const standing = standingOf(view);
  const at = order.indexOf(stepAt(view.run.state));
  return shownSteps
    .map((step) => {
      const [todo, now, done] = stepWords[step];
      const place = order.indexOf(step);
      if (place < at) return `- ✅ ${done}${proof(step, view)}`;
      const isHere = place === at || (step === 'generate' && order[at] === 'announce');
      if (!isHere) return `- ⬜ ${todo}`;
      if (standing === 'passed') return `- ✅ ${done}${proof(step, view)}`;
      if (standing === 'failed') return `- ❌ ${todo}${proof(step, view)}`;
      if (hasEnded(standing)) return `- ⏹️ ${todo}: stopped here`;
      if (standing === 'approval') return `- ⏸️ ${todo}: waits for approval`;
      if (standing === 'queued') return `- ⬜ ${todo}`;
      if (view.queue !== null) return `- ⏸️ ${todo}: waits for a runner`;
      return `- ⏳ ${now}${proof(step, view)}`;
    })
    .join('\n');
}

/** Where to see that a step happened. */
function proof(step: ShownStep, view: RunView): string {
  const { state } = view.run;
  if (step === 'constraints' && state.constraintsSha256 !== undefined) {
    return `, hash \`${state.constraintsSha256.slice(0, 12)}\``;
  }
  if (step === 'generate' && state.agents !== undefined && state.agents.contracts.length > 0) {
    return `: ${progressInWords(state.agents)}`;
  }
  if (step === 'publish' && state.github !== undefined) {
    return `: #${state.github.pullNumber} on ${codeSpan(state.github.branch)}`;
  }
  if (step === 'judge' && view.links.workflow !== null)
    return `: ${link('workflow run', view.links.workflow)}`;
  return '';
}

/** The attempts so far; empty before the first. */
export function attemptRows(view: RunView): string[][] {
  return view.attempts.map((attempt) => {
    const seconds =
      attempt.endedAt === null ? null : (attempt.endedAt.getTime() - attempt.startedAt.getTime()) / 1000;
    return [
      String(attempt.number),
      `${attempt.startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      seconds === null ? '–' : showDuration(seconds),
      attempt.outcome === null ? 'under way' : inlineText(attempt.outcome, 120),
    ];
  });
}

export function showDuration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
