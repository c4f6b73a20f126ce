import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import type { RecordedCall } from '../model/completion-ledger.ts';
import { type Html, html, trustMarkup } from '../model/html.ts';
import { formatProblem } from '../model/problem.ts';
import type { Report } from '../model/report.ts';
import { githubSteps, type RunStep } from '../model/run.ts';
import type { Attempt, RunDocuments, RunRecord, TimelineEntry } from '../model/run-record.ts';
import { showAgents } from './agents-section.ts';
import { type GithubLinks, linksOf, workflowLink } from './github-links.ts';
import { framePage, reloadSeconds, showLink, showProse, showTable } from './page-frame.ts';
import { showConditions, showFindings, showGates, showGoals, showSpeed } from './report-sections.ts';
import { describeState, nameOf, showBadge, statusWord } from './run-state.ts';
import { showDuration, showTime } from './show-time.ts';

/** Everything that the page of one run shows. */
export interface RunDetails {
  readonly run: RunRecord;
  readonly timeline: readonly TimelineEntry[];
  readonly attempts: readonly Attempt[];
  readonly problems: RunDocuments['problems'] | undefined;
  readonly report: Report | undefined;
  readonly log: string | undefined;
  /** Markdown, made by plan/render-plan.ts. */
  readonly planText: string | undefined;
  /** Plots that this report has, with what they show in words. */
  readonly plots: readonly { readonly name: string; readonly description: string }[];
  /** Of language models, in order. */
  readonly calls: readonly RecordedCall[];
}

export function renderRunPage(
  details: RunDetails,
  options: { readonly githubUrl: string; readonly wantsReload: boolean },
): string {
  const { run, report } = details;
  const links = linksOf(run, options.githubUrl);
  const canMove = run.state.status === 'running' || run.state.waitingFor === 'workflow';
  const isMoving = canMove && options.wantsReload;
  const content = html`<h1>Run ${run.number}: ${nameOf(run)}</h1>
<p>${showBadge(run)} · ${describeState(run)}</p>
${showOrigin(run, links)}
${showSteps(run)}
${isMoving && html`<p class="soft">This page loads again every ${reloadSeconds} seconds. <a href="?reload=off">Stop that</a>.</p>`}
${showFailure(run)}
${details.problems !== undefined && showProblems(details.problems)}
${report !== undefined && [showGoals(report), showSpeed(report), showPlots(details), showFindings(report, links), showGates(report)]}
${showAgents(run, details.calls)}
${showAttempts(details.attempts, links)}
${showTimeline(details.timeline)}
${report !== undefined && showConditions(report)}
<h2>What was asked for</h2>
${details.planText !== undefined && html`<details><summary>Plan</summary><div class="scroll">${markdown(details.planText)}</div></details>`}
<details><summary>Constraint file</summary><pre tabindex="0">${run.state.input.text}</pre></details>
${details.log !== undefined && html`<details><summary>End of the runner’s log</summary><pre tabindex="0">${details.log}</pre></details>`}`;
  return framePage(`Run ${run.number}: ${nameOf(run)}, ${statusWord(run)} · MetaInfer`, content, {
    isMoving,
  });
}

/** Raw HTML in the text stays text, and addresses other than of the web are dropped: micromark's own defaults. */
function markdown(text: string): Html {
  return trustMarkup(micromark(text, { extensions: [gfm()], htmlExtensions: [gfmHtml()] }));
}

function showOrigin(run: RunRecord, links: GithubLinks): Html {
  const { owner, name, isPrivate } = run.repository;
  const end = run.finishedAt ?? new Date();
  return html`<p class="soft">Asked for by ${run.requestedBy.login} in ${showLink(links.source, `${owner}/${name}#${run.source.number}`)}${run.source.path !== null && html` (<code>${run.source.path}</code>)`}${isPrivate && ', a private repository'},
${showTime(run.createdAt)}; ${run.finishedAt === null ? 'for' : 'took'} ${showDuration(end.getTime() - run.createdAt.getTime())}.
${links.pull !== null && html`Engine: ${showLink(links.pull, `pull request #${run.state.github?.pullNumber}`)}.`}
${links.workflow !== null && html`Runner: ${showLink(links.workflow, 'workflow run')}.`}</p>`;
}

/** Where the run stands among its steps; while it waits, the step that comes after the wait. */
function showSteps({ state }: RunRecord): Html | false {
  const current = state.next ?? (state.waitingFor === 'approval' ? 'generate' : 'judge');
  if (state.status !== 'running' && state.status !== 'waiting') return false;
  // A look for the cause is part of runs alone in which somebody could remove it.
  const shown = githubSteps.filter((step) => step !== 'diagnose' || state.agents !== undefined);
  const at = (shown as readonly RunStep[]).indexOf(current);
  return html`<ol class="steps" aria-label="Steps">${shown.map((step, index) => {
    if (index < at) return html`<li class="good">✓ ${step}</li>`;
    return index === at
      ? html`<li class="busy" aria-current="step"><strong>● ${step}</strong></li>`
      : html`<li class="soft">○ ${step}</li>`;
  })}</ol>`;
}

function showFailure({ state }: RunRecord): Html | false {
  if (state.failure === undefined) return false;
  const { step, code, message, next } = state.failure;
  return html`<section class="panel bad" aria-label="Why it failed"><h2>Why it failed</h2>
<p class="soft">At “${step}” · <code>${code}</code></p>
<p class="text">${showProse(message)}</p>
<p class="text"><strong>What to do:</strong> ${showProse(next)}</p></section>`;
}

function showProblems({ problems, notCovered }: RunDocuments['problems']): Html | false {
  if (problems.length === 0 && notCovered.length === 0) return false;
  return html`<section class="panel wait" aria-label="Problems of the constraint file"><h2>The constraint file</h2>
<ol class="plain">${problems.map((problem) => html`<li class="text">${formatProblem(problem)}</li>`)}${notCovered.map((line) => html`<li class="text">Not covered yet: ${line}</li>`)}</ol></section>`;
}

function showPlots({ run, plots }: RunDetails): Html | false {
  return (
    plots.length > 0 &&
    html`${plots.map(
      ({ name, description }) =>
        html`<figure><img src="/runs/${run.number}/plots/${name}.svg" alt="${description}"><figcaption>${description}</figcaption></figure>
`,
    )}`
  );
}

function showAttempts(attempts: readonly Attempt[], links: GithubLinks): Html | false {
  if (attempts.length === 0) return false;
  const rows = attempts.map((attempt) => [
    String(attempt.number),
    attempt.outcome ?? 'under way',
    showTime(attempt.startedAt),
    attempt.endedAt === null ? '–' : showDuration(attempt.endedAt.getTime() - attempt.startedAt.getTime()),
    showLink(workflowLink(links.repository, attempt.workflowRunId), html`<code>${attempt.requestId}</code>`),
  ]);
  const columns = [
    { head: 'Attempt' },
    { head: 'Outcome' },
    { head: 'Sent' },
    { head: 'Took', isFigure: true },
    { head: 'Request' },
  ];
  return html`<h2>Attempts</h2>\n${showTable(columns, rows)}`;
}

function showTimeline(timeline: readonly TimelineEntry[]): Html | false {
  if (timeline.length === 0) return false;
  return html`<h2>Timeline</h2>
<ol class="plain">${timeline.map(
    ({ at, kind, text, url }) =>
      html`<li>${showTime(at)} <span class="soft">${kind}</span> <span class="text">${showLink(url, text)}</span></li>
`,
  )}</ol>`;
}
