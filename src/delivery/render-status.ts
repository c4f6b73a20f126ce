import { inlineText } from '../model/escape-text.ts';
import { showBytes } from '../model/show-bytes.ts';
import { short } from '../model/show-number.ts';
import { tokensInWords } from './agent-progress.ts';
import { agentsOf, renderAgentSummary } from './agent-texts.ts';
import { benchmarkOf, renderConditions, renderGoals, renderSpeed } from './goals.ts';
import { headline } from './headline.ts';
import { limitBody } from './limit-body.ts';
import { details, link, paragraphs, table } from './markdown.ts';
import { renderFailure } from './render-failure.ts';
import { adviseOnProblems, renderProblems } from './render-problems.ts';
import { renderUnverified } from './render-unverified.ts';
import { renderRunnerNeed, renderWaiting } from './render-waiting.ts';
import { attemptRows, hasEnded, renderProgress, standingOf, withCurrentReport } from './run-progress.ts';
import type { RunView } from './run-view.ts';

/** The sticky comment on the issue (or constraint-file pull request) that asked: where the run is and what comes next. */
export function renderIssueStatus(given: RunView): string {
  const view = withCurrentReport(given);
  if (isRefusedText(view)) return finish(view, renderRefusedText(view));
  return finish(
    view,
    paragraphs(
      `### ${inlineText(headline(view))}`,
      renderLead(view, 'issue'),
      renderWaiting(view),
      renderRunnerNeed(view),
      renderFailure(view),
      renderUnverified(view),
      view.report === undefined ? renderProgress(view) : renderGoals(view.report),
      renderAgentSummary(view),
      renderAttempts(view),
      view.planText !== undefined &&
        details('Plan: what fills each part, memory, physical limit', foldHeading(view.planText)),
    ),
  );
}

/** The sticky comment on the engine's pull request: the verdict with its figures. */
export function renderPullStatus(given: RunView): string {
  const view = withCurrentReport(given);
  return finish(
    view,
    paragraphs(
      `### ${inlineText(headline(view))}`,
      renderLead(view, 'pull'),
      renderWaiting(view),
      renderRunnerNeed(view),
      renderFailure(view),
      renderUnverified(view),
      view.report !== undefined && renderGoals(view.report),
      renderBenchmark(view),
      !hasEnded(standingOf(view)) && renderProgress(view),
      renderAgentSummary(view),
      renderAttempts(view),
    ),
  );
}

/** A constraint file that cannot be used: no run to follow, only something to correct. */
export function isRefusedText(view: RunView): boolean {
  return view.problems !== undefined && view.run.state.failure?.code === 'CONSTRAINTS_INVALID';
}

function renderRefusedText(view: RunView): string {
  return paragraphs(
    `### ${inlineText(headline(view))}`,
    adviseOnProblems(view.run.source),
    renderProblems(view),
  );
}

/** One sentence under the headline: what it means for the reader of this page. */
function renderLead(view: RunView, page: 'issue' | 'pull'): string {
  const { state, source } = view.run;
  const pull = state.github === undefined ? '' : `#${state.github.pullNumber}`;
  switch (standingOf(view)) {
    case 'passed':
      if (view.isBranchMoved === true) return movedInWords(view);
      return page === 'issue'
        ? `The engine is in ${pull}, ready for review.`
        : `Built, verified and timed at ${commit(view)}. Ready for review${source.kind === 'issue' ? `; merging it closes #${source.number}` : ''}.`;
    case 'failed':
      return pull !== '' && page === 'issue' ? `The attempt is in ${pull}, still a draft.` : '';
    case 'unverified':
      return pull !== '' && page === 'issue' ? `The engine is in ${pull}, a draft.` : '';
    case 'cancelled':
      return 'Stopped as asked. `/metainfer retry` takes it up again.';
    case 'superseded':
      return 'The constraint file changed, so this run was stopped. What it left is not merged.';
    default:
      return pull !== '' && page === 'issue' ? `The draft is in ${pull}.` : '';
  }
}

/** The verdict holds for one commit, and the branch shows another: nobody is asked to review that. */
export function movedInWords(view: RunView): string {
  const { github } = view.run.state;
  const pull = github === undefined ? 'the pull request' : `#${github.pullNumber}`;
  return `The verdict is about ${commit(view)} alone: the branch was changed or removed while it was judged, so ${pull} stays a draft and its head is not verified. Take the other commits back and comment \`/metainfer retry\`, or take the verified commit from the branch's history.`;
}

function commit({ run }: RunView): string {
  return run.state.github === undefined ? 'its commit' : run.state.github.engineCommit.slice(0, 12);
}

function renderBenchmark(view: RunView): string {
  const benchmark = view.report === undefined ? null : benchmarkOf(view.report);
  if (benchmark === null) return '';
  return paragraphs(
    renderPlotImage(view),
    details(
      'Speed beside the baseline, and how it was measured',
      paragraphs(renderSpeed(benchmark), renderConditions(benchmark)),
    ),
  );
}

/** The plot as an image with its numbers as alternative text; empty where the app has no address that others reach. */
export function renderPlotImage(view: RunView): string {
  const benchmark = view.report === undefined ? null : benchmarkOf(view.report);
  const url = view.links.plots.speed;
  if (benchmark === null || url === undefined) return '';
  const { engine, baseline } = benchmark;
  const versus = (what: 'decode' | 'prefill') =>
    baseline === null ? '' : ` against ${short(baseline[what].avg_ts)}`;
  const alt = `Tokens per second${baseline === null ? '' : ` of this engine and ${baseline.name}`}: decode ${short(engine.decode.avg_ts)}${versus('decode')}, prefill ${short(engine.prefill.avg_ts)}${versus('prefill')}; peak memory ${showBytes(engine.peak_memory_bytes)}`;
  return `![${inlineText(alt)}](${url})`;
}

function renderAttempts(view: RunView): string {
  const rows = attemptRows(view);
  return rows.length === 0 ? '' : table(['Attempt', 'Began', 'Took', 'Outcome'], rows);
}

/** The plan has a heading of its own, too large for the inside of a comment. */
function foldHeading(planText: string): string {
  return planText.replace(/^## Plan: .*\n/, '').trim();
}

/** Links, who asked, what it cost, how to go on. */
function renderFoot(view: RunView): string {
  const { run, plan, links } = view;
  const parts = [
    link(`Run ${run.number}`, links.dashboard),
    `asked for by ${inlineText(run.requestedBy.login, 60)}`,
    ...(links.workflow === null ? [] : [link('workflow run', links.workflow)]),
    ...(plan === undefined ? [] : [renderBudget(view)]),
    '`/metainfer help`',
  ];
  return `<sub>${parts.join(' · ')}</sub>`;
}

function renderBudget(view: RunView): string {
  const work = agentsOf(view);
  if (work !== undefined) return `model: ${tokensInWords(work)}`;
  const budget = view.run.state.constraints?.generation.budget.tokens;
  return `model tokens: 0${budget === undefined ? '' : ` of ${short(budget)}`}`;
}

function finish(view: RunView, body: string): string {
  const more =
    view.links.dashboard === null
      ? 'Cut here: a comment holds no more.'
      : `Cut here; [the run's page](${view.links.dashboard}) has the rest.`;
  const foot = `\n\n${renderFoot(view)}`;
  return `${limitBody(body, more, 64_000)}${foot}`;
}
