import { codeSpan } from '../model/escape-text.ts';
import { grouped } from '../model/show-number.ts';
import { usdInWords } from './agent-progress.ts';
import { agentsOf } from './agent-texts.ts';
import { count, listWords, paragraphs } from './markdown.ts';
import { standingOf } from './run-progress.ts';
import type { QueueView, RunView } from './run-view.ts';
import { renderSeen } from './setup-texts.ts';

/** What a run waits for and who can end the wait; empty where it does not wait. */
export function renderWaiting(view: RunView): string {
  switch (standingOf(view)) {
    case 'approval':
      return renderApprovalNeeded(view);
    case 'queued':
      return `Run ${view.waitingBehind} of this repository goes first: one engine is made at a time. Nothing to do.`;
    case 'runner':
      return view.queue === null ? '' : renderUnserved(view);
    default:
      return '';
  }
}

/** The plan is made; somebody must ask for, or allow, what comes next. */
export function renderApprovalNeeded(view: RunView): string {
  const { state, source } = view.run;
  const who =
    view.approvalFrom === undefined || view.approvalFrom === 'anyone'
      ? 'Somebody with write access to this repository'
      : `Somebody with at least the **${view.approvalFrom}** permission on this repository`;
  const label = source.kind === 'issue' ? 'add the label `metainfer:approved`, or comment' : 'comment';
  const hash =
    state.constraintsSha256 === undefined ? '' : ` (hash \`${state.constraintsSha256.slice(0, 12)}\`)`;
  return `${approvalReason(view)} ${who} can go on from here: ${label} \`/metainfer generate\`. That holds for exactly this constraint file${hash}; once it changes, somebody is asked again.`;
}

function approvalReason(view: RunView): string {
  const { run, plan, autoApproveTokens } = view;
  const work = agentsOf(view);
  const expected = plan?.cost.modelTokens ?? 0;
  const usd = usdInWords(plan?.cost.usd ?? null);
  const most = work === undefined ? '' : `, and never more than ${grouped(work.limits.spending.hardTokens)}`;
  const about = `about ${grouped(expected)} tokens${usd === '' || plan?.cost.usd === 0 ? '' : ` (${usd})`}${most}`;
  if (run.state.holdAfterPlan === true) {
    const cost = work === undefined ? '' : ` Making the engine would cost ${about}.`;
    return `The plan is made, and nothing else was asked for.${cost}`;
  }
  if (autoApproveTokens !== undefined)
    return `**The plan is ready; making the engine needs approval**, because a model has to write ${count(plan?.cost.contracts.length ?? 0, 'contract')}: ${about}. This repository spends up to ${grouped(autoApproveTokens)} without asking (\`generation.auto_approve_tokens\` in \`.github/metainfer.yml\`).`;
  return '**The plan is ready; making the engine needs approval**, because it writes a branch and spends runner time.';
}

/** A job that nobody takes: its labels, the runners seen, and who can do what. Empty where a runner has the job. */
export function renderUnserved({ queue }: Pick<RunView, 'queue'>): string {
  if (queue === null) return '';
  const labels = listWords(queue.labels.map((label) => codeSpan(label)));
  return paragraphs(
    `**No runner has taken the job for ${count(Math.max(1, Math.round(queue.waitingMinutes)), 'minute')}.** It needs one self-hosted runner with all of the labels ${labels}.${renderLacking(queue)}`,
    renderSeen(queue.seenRunners),
    'Whoever administers this repository can start such a runner, or give one the missing label (**Settings → Actions → Runners**): the job then starts by itself. GitHub drops it after 24 hours; `/metainfer cancel` ends the wait now.',
  );
}

/** Said with the plan already: an engine whose labels nobody serves waits for its verdict. Empty where one does. */
export function renderRunnerNeed({ need }: Pick<RunView, 'need'>): string {
  if (need === undefined || need.isServed) return '';
  const labels = listWords(need.labels.map((label) => codeSpan(label)));
  const lacking =
    need.seenRunners.length === 0
      ? 'no runner has taken a job of this repository yet'
      : 'none has taken a job with them here in the last week';
  return `Its job needs a self-hosted runner with the labels ${labels}; ${lacking}. One that has them takes the job by itself once it is online; without one the engine is made, and its verdict is waited for, 24 hours at most.`;
}

function renderLacking({ labels, seenRunners }: QueueView): string {
  const lacking = labels.filter((label) => !seenRunners.some((runner) => runner.labels.includes(label)));
  if (seenRunners.length === 0 || lacking.length === 0) return '';
  return ` No runner seen here has ${listWords(
    lacking.map((label) => codeSpan(label)),
    'or',
  )}.`;
}
