import { type Html, html } from '../../model/html.ts';
import type { WorkflowJob, WorkflowRun } from './actions-data.ts';
import { encodePath, replyPage, showDate, showRepository, showUser } from './page-frame.ts';
import { repositoryHtmlUrl } from './render.ts';
import { GitHubError, numberParam, type Reply, type RequestContext } from './router.ts';

/** State of a run's one job. */
export function showJobState({ status, conclusion }: WorkflowJob): Html {
  if (conclusion === null) return html`<strong class="wait">● ${status.replace('_', ' ')}</strong>`;
  return conclusion === 'success'
    ? html`<strong class="good">✓ success</strong>`
    : html`<strong class="bad">✗ ${conclusion}</strong>`;
}

/** A workflow run: its inputs, its job with the runner, the artifacts and the end of the log. */
export async function workflowRunPage(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const run = repository.workflowRuns.get(numberParam(context, 'run_id'));
  if (run === undefined) throw new GitHubError(404, 'Not Found');
  const { job } = run;
  const artifacts = [...repository.artifacts.values()].filter((artifact) => artifact.run === run);
  const content = html`${showRepository(world, repository)}
<h1>${run.displayTitle} <span class="number">${run.workflowName} #${run.number}</span></h1>
<p>${showJobState(job)} · started by ${showUser(run.actor)} on <code>${run.headBranch}</code> ${showDate(run.createdAt)}</p>
${showFacts(context, run)}
<h2>Artifacts</h2>
${artifacts.length === 0 ? html`<p class="soft">None.</p>` : html`<ul class="rows">${artifacts.map(({ name, zip }) => html`<li>${name} <span class="soft">${zip.length} bytes</span></li>`)}</ul>`}
<h2>Log</h2>
${job.log === '' ? html`<p class="soft">Nothing yet.</p>` : html`<pre>${job.log}</pre>`}`;
  return replyPage(`${run.displayTitle} · ${repository.name}`, content);
}

function showFacts({ world, repository }: RequestContext, run: WorkflowRun): Html {
  const { job } = run;
  const file = `${repositoryHtmlUrl(world, repository)}/blob/${encodePath(repository.defaultBranch)}/${encodePath(run.workflow.path)}`;
  return html`<ul class="rows">
<li>Workflow file: <a href="${file}"><code>${run.workflow.path}</code></a></li>
<li>Job ${job.name}: labels ${job.labels.join(', ')}; ${job.runner === null ? 'no runner has taken it' : html`runner ${job.runner.name}`}${job.completedAt !== null && html`, ended ${showDate(job.completedAt)}`}</li>
${Object.entries(run.inputs).map(([name, value]) => html`<li>Input <code>${name}</code>: <code>${value}</code></li>`)}
</ul>`;
}
