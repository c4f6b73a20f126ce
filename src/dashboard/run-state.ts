import { type Html, html } from '../model/html.ts';
import type { RunStep } from '../model/run.ts';
import type { RunRecord } from '../model/run-record.ts';
import { verdictWords } from '../model/show-verdict.ts';
import { showTime } from './show-time.ts';

const badges = {
  running: ['busy', '●', 'running'],
  waiting: ['wait', '◔', 'waiting'],
  passed: ['good', '✓', 'passed'],
  failed: ['bad', '✗', 'failed'],
  unverified: ['wait', '○', verdictWords['not-run-on-device']],
  cancelled: ['soft', '–', 'cancelled'],
  superseded: ['soft', '»', 'superseded'],
} as const satisfies Record<RunRecord['state']['status'], readonly [string, string, string]>;

/** The state as a sign and a word: colour is never the only difference. */
export function showBadge({ state }: RunRecord): Html {
  const [kind, sign, word] = badges[state.status];
  return html`<span class="state ${kind}"><span aria-hidden="true">${sign}</span> ${word}</span>`;
}

export function statusWord({ state }: RunRecord): string {
  return badges[state.status][2];
}

const doing = {
  constraints: 'reading the constraint file',
  plan: 'making the plan',
  announce: 'posting the plan',
  generate: 'writing the engine',
  publish: 'pushing the branch and opening the pull request',
  dispatch: 'starting the workflow on a runner',
  verify: 'verifying the engine',
  bench: 'timing the engine',
  judge: 'reading what the runner found',
  diagnose: 'looking for the cause',
  optimize: 'looking for a faster realization',
  conclude: 'posting the outcome',
} as const satisfies Record<RunStep, string>;

/** One or two sentences: what happens now, or how it ended and what a person can do. */
export function describeState(run: RunRecord): Html {
  const { state } = run;
  if (run.supersededBy !== null) {
    return html`A newer constraint file took its place: <a href="/runs/${run.supersededBy}">run ${run.supersededBy}</a>.`;
  }
  if (state.status === 'waiting') {
    return state.waitingFor === 'approval'
      ? html`Waits for approval: somebody with write permission comments <code>/metainfer generate</code> or adds the label <code>metainfer:approved</code>.`
      : html`The runner has the engine; its workflow has not ended yet.`;
  }
  if (state.status === 'running' && state.next !== null) {
    return html`Now ${doing[state.next]}.${retryNote(run)}${run.isCancelRequested && ' Cancel was asked for; it stops at the next safe point.'}`;
  }
  return html`${endings[state.status]}`;
}

const endings = {
  running: '',
  waiting: '',
  passed: 'The engine is right and meets its goals.',
  failed: 'It ended without a usable engine.',
  unverified:
    'The runner has no GPU: nothing failed, and nothing ran on a device. Once a runner with a GPU serves its labels, “/metainfer retry” judges it there.',
  cancelled: 'It was cancelled. “/metainfer retry” takes it up again.',
  superseded: 'A newer constraint file took its place.',
} as const;

function retryNote({ stepFailures, notBefore }: RunRecord): Html | false {
  if (stepFailures === 0) return false;
  const times = stepFailures === 1 ? 'once' : `${stepFailures} times`;
  return html` This step went wrong ${times}${notBefore !== null && html`; it is tried again at ${showTime(notBefore)}`}.`;
}

/** What the engine is called, or where the constraint file came from while it has no name. */
export function nameOf(run: RunRecord): string {
  return run.state.constraints?.name ?? run.source.path ?? 'constraint file';
}
