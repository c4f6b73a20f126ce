import { html } from '../../model/html.ts';
import type { Issue } from './conversation-data.ts';
import { findIssue } from './find-issue.ts';
import { commentEntries, showEntries, showLabels, showOpening } from './page-conversation.ts';
import { replyPage, showDate, showRepository, showUser } from './page-frame.ts';
import { repositoryHtmlUrl } from './render.ts';
import { pullHtmlUrl } from './render-pull.ts';
import type { Reply, RequestContext } from './router.ts';

/** An issue as a person reads it; the address of a pull request's issue leads to the pull request. */
export async function issuePage(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const issue = findIssue(context);
  const pull = repository.pulls.get(issue.number);
  if (pull !== undefined) return { status: 302, headers: { location: pullHtmlUrl(world, repository, pull) } };
  const url = repositoryHtmlUrl(world, repository);
  const content = html`${showRepository(world, repository)}
<h1>${issue.title} <span class="number">#${issue.number}</span></h1>
<p>${showState(issue)} ${showLabels(issue.labels)}</p>
${showOpening(issue, 'opened this issue', url)}
${showEntries(commentEntries(issue, url))}
${issue.closedAt !== null && html`<p class="event">${issue.closedBy !== null && showUser(issue.closedBy)} closed this ${showDate(issue.closedAt)}</p>`}`;
  return replyPage(`${issue.title} · Issue #${issue.number} · ${repository.name}`, content);
}

function showState({ state, stateReason }: Issue) {
  if (state === 'open') return html`<strong class="good">Open</strong>`;
  return html`<strong class="bad">Closed</strong>${stateReason !== null && html` as ${stateReason.replace('_', ' ')}`}`;
}
