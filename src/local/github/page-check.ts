import { type Html, html } from '../../model/html.ts';
import type { CheckAnnotation, CheckRun } from './conversation-data.ts';
import { encodePath, replyPage, showDate, showRepository } from './page-frame.ts';
import { showMarkdown } from './page-markdown.ts';
import { repositoryHtmlUrl } from './render.ts';
import { GitHubError, numberParam, type Reply, type RequestContext } from './router.ts';

const kinds: Readonly<Record<string, string>> = {
  success: 'good',
  neutral: 'soft',
  skipped: 'soft',
  cancelled: 'soft',
  action_required: 'wait',
};
const marks: Readonly<Record<string, string>> = { good: '✓', bad: '✗', soft: '–', wait: '!' };

function showOutcome({ status, conclusion }: CheckRun): Html {
  if (conclusion === null) return html`<strong class="wait">● ${status.replace('_', ' ')}</strong>`;
  const kind = kinds[conclusion] ?? 'bad';
  return html`<strong class="${kind}">${marks[kind]} ${conclusion.replace('_', ' ')}</strong>`;
}

/** One line of a list of checks. */
export function showCheckLine(context: RequestContext, run: CheckRun): Html {
  const url = `${repositoryHtmlUrl(context.world, context.repository)}/runs/${run.id}`;
  return html`<li>${showOutcome(run)} <a href="${url}">${run.name}</a> ${run.title}</li>`;
}

/** A check with its summary, its annotations and the buttons that GitHub would show. */
export function showCheckRun(context: RequestContext, run: CheckRun): Html {
  const base = repositoryHtmlUrl(context.world, context.repository);
  const url = `${base}/runs/${run.id}`;
  const { annotations, actions } = run;
  return html`<section class="box">
<div class="head">${showOutcome(run)} <a href="${url}">${run.name}</a> on <code>${run.headSha.slice(0, 7)}</code> by ${run.app.name} ${showDate(run.completedAt ?? run.startedAt)}</div>
<div class="body">
${run.title !== null && html`<h2>${run.title}</h2>`}
${run.summary !== null && showMarkdown(run.summary, base)}
${run.text !== null && showMarkdown(run.text, base)}
${annotations.length > 0 && html`<h2>Annotations</h2><ul class="rows">${annotations.map((annotation) => showAnnotation(context, run, annotation))}</ul>`}
${actions.length > 0 && html`<p class="soft">Buttons on GitHub: ${actions.map(({ label, description }) => html`<span class="label" title="${description}">${label}</span> `)}</p>`}
</div></section>
`;
}

const levels = { notice: 'soft', warning: 'wait', failure: 'bad' } as const;

function showAnnotation(context: RequestContext, run: CheckRun, annotation: CheckAnnotation): Html {
  const { path, start_line: start, end_line: end, annotation_level: level } = annotation;
  const base = repositoryHtmlUrl(context.world, context.repository);
  const lines = start === end ? `${start}` : `${start}–${end}`;
  return html`<li><strong class="${levels[level]}">${level}</strong> <a href="${base}/blob/${run.headSha}/${encodePath(path)}#L${start}"><code>${path}:${lines}</code></a>${annotation.title !== null && html` <strong>${annotation.title}</strong>`}
<pre>${annotation.message}</pre></li>`;
}

/** The page of one check run, where its `html_url` leads. */
export async function checkPage(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const run = repository.checkRuns.get(numberParam(context, 'check_run_id'));
  if (run === undefined) throw new GitHubError(404, 'Not Found');
  const pulls = [...repository.pulls.values()].filter((pull) => pull.headSha === run.headSha);
  const links = pulls.map(
    ({ number }) => html` <a href="${repositoryHtmlUrl(world, repository)}/pull/${number}">#${number}</a>`,
  );
  const content = html`${showRepository(world, repository)}
<h1>${run.name}</h1>
${pulls.length > 0 && html`<p>Pull request${links}</p>`}
${showCheckRun(context, run)}`;
  return replyPage(`${run.name} · ${repository.name}`, content);
}
