import { shorten } from '../model/escape-text.ts';
import type { Report } from '../model/report.ts';
import type { RunState } from '../model/run.ts';
import { verdictWords } from '../model/show-verdict.ts';
import { speedInWords } from './goals.ts';
import { count, listWords } from './markdown.ts';
import { hasEnded, standingOf, stepAt, stepName } from './run-progress.ts';
import { engineName, type RunView } from './run-view.ts';

const marks = {
  queued: '🕒',
  working: '⏳',
  approval: '⏸️',
  runner: '⏳',
  passed: '✅',
  failed: '❌',
  unverified: '⚪',
  cancelled: '⏹️',
  superseded: '⏹️',
} as const;

/** The first line of a comment: mark, engine, state in one phrase. Plain text. */
export function headline(view: RunView): string {
  const standing = standingOf(view);
  const { failure } = view.run.state;
  // A file with problems has no name yet that anybody could rely on.
  if (failure?.code === 'CONSTRAINTS_INVALID') return `${marks.failed} ${failureInWords(view)}`;
  const joint = standing === 'passed' || standing === 'failed' ? ' ' : ': ';
  return `${marks[standing]} ${engineName(view)}${joint}${stateInWords(view)}`;
}

/** How the run stands, in one phrase of plain text. */
export function stateInWords(view: RunView): string {
  const { run, report } = view;
  const standing = standingOf(view);
  if (standing === 'passed') return report === undefined ? 'passed' : `passed: ${verdictInWords(report)}`;
  if (standing === 'failed') return failureInWords(view);
  if (standing === 'unverified') return verdictWords['not-run-on-device'];
  if (standing === 'cancelled') return 'cancelled';
  if (standing === 'superseded') {
    return run.supersededBy === null
      ? 'superseded by a newer request'
      : `superseded by run ${run.supersededBy}`;
  }
  if (standing === 'approval') return 'waiting for approval';
  if (standing === 'queued') return `waiting for run ${view.waitingBehind} to end`;
  if (standing === 'runner') {
    return view.queue === null ? `waiting for the runner's verdict${attempt(view)}` : 'waiting for a runner';
  }
  return repairInWords(run.state) ?? stepName(stepAt(run.state));
}

/** Files that are written once more after a verdict; undefined while nothing was judged. */
function repairInWords({ agents, attempt: judged, next }: RunState): string | undefined {
  if (next !== 'generate' || judged === 0 || agents === undefined) return undefined;
  const open = agents.contracts.filter(({ status }) => status === 'open').map(({ contract }) => contract);
  return open.length === 0
    ? undefined
    : `repairing ${listWords(open.slice(0, 4))}${open.length > 4 ? ' and more' : ''}`;
}

function attempt({ run }: RunView): string {
  return run.state.attempt > 1 ? `, attempt ${run.state.attempt}` : '';
}

/** `3 of 3 goals met, 5,042 tokens/s decode (3.48x llama.cpp)`; plain text, nothing from outside in it. */
export function verdictInWords(report: Report): string {
  const met = report.goals.filter((goal) => goal.status === 'met').length;
  const goals =
    report.goals.length === 0 ? 'no goals asked' : `${met} of ${count(report.goals.length, 'goal')} met`;
  const speed = speedInWords(report);
  return speed === '' ? goals : `${goals}, ${speed}`;
}

/** What failed, for a headline and a check's title. */
export function failureInWords(view: RunView): string {
  const { report, problems, run } = view;
  const { failure } = run.state;
  if (failure?.code === 'CONSTRAINTS_INVALID' && problems !== undefined) {
    return `${count(problems.problems.length, 'problem')} in the constraint file`;
  }
  if (failure?.code === 'NOT_COVERED') return 'is not covered by knowledge yet';
  if (failure?.code === 'VERDICT_FAILED' && report !== undefined) return reportFailure(report);
  const known: Record<string, string> = {
    RUNNER_FAILED: 'was not verified: the runner ended without a result',
    REPORT_REJECTED: "was not verified: the runner's report was rejected",
    WORKFLOW_MISSING: 'waits for a set-up: the engine workflow cannot be started',
    BRANCH_MOVED: 'was stopped: somebody else pushed to its branch',
    NOT_PERMITTED: 'was stopped: a permission is missing',
    GITHUB_UNAVAILABLE: 'was stopped: GitHub did not answer',
    MODEL_UNAVAILABLE: 'was stopped: the language model did not answer',
    BUDGET_EXHAUSTED: 'was stopped: the tokens that it may use are used up',
    INTERNAL: 'was stopped by a fault of the bot',
  };
  const { agents } = run.state;
  if (failure?.step === 'generate' && agents?.stop?.reason === 'attempts' && agents.stop.contract !== null)
    return `was stopped: the model did not get ${agents.stop.contract} right`;
  return known[failure?.code ?? ''] ?? `failed at ${stepName(failure?.step ?? 'judge')}`;
}

function reportFailure(report: Report): string {
  const red = report.gates.filter((gate) => gate.status === 'failed');
  if (red.length > 0) {
    const findings = red.reduce((sum, gate) => sum + gate.findings.length, 0);
    const names = listWords(red.map((gate) => gate.gate));
    return `failed: ${count(findings, 'finding')} in ${red.length === 1 ? 'gate' : 'gates'} ${names}`;
  }
  const open = report.goals.filter((goal) => goal.status !== 'met');
  if (open.length > 0) {
    const isMissed = open.some((goal) => goal.status === 'missed');
    const goals = `${open.length} of ${count(report.goals.length, 'goal')}`;
    return isMissed ? `is right, but misses ${goals}` : `is right, but ${goals} could not be measured`;
  }
  return 'failed: a gate did not run';
}

/** A check's title: the verdict in one line of at most 255 characters. */
export function checkTitle(view: RunView): string {
  const words = stateInWords(view);
  const text = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  const standing = standingOf(view);
  return shorten(hasEnded(standing) || standing === 'approval' ? text : `${text}…`, 255);
}
