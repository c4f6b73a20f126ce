import { type Html, type HtmlValue, html } from '../../model/html.ts';
import { canSee } from './authorize-request.ts';
import type { Issue } from './conversation-data.ts';
import { showLabels } from './page-conversation.ts';
import { showEntries } from './page-file.ts';
import { encodePath, replyPage, showDate, showRepository, showUser } from './page-frame.ts';
import { showMarkdown } from './page-markdown.ts';
import { showJobState } from './page-workflow-run.ts';
import { resolveCommit } from './read-commits.ts';
import { readFolder } from './read-content.ts';
import { repositoryHtmlUrl } from './render.ts';
import type { Reply, RequestContext } from './router.ts';

/** Every repository that the reader may see. */
export async function homePage({ world, actor }: RequestContext): Promise<Reply> {
  const repositories = [...world.repositories.values()].filter((repository) => canSee(repository, actor));
  const rows = repositories.map((repository) => html`<li>${showRepository(world, repository)}</li>`);
  return replyPage('Local GitHub', html`<h1>Repositories</h1>\n<ul class="rows">${rows}</ul>`);
}

/** A repository: pull requests, issues, workflow runs, branches, files, README. */
export async function repositoryPage(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const url = repositoryHtmlUrl(world, repository);
  const issues = newestFirst(repository.issues).filter(({ number }) => !repository.pulls.has(number));
  const pulls = newestFirst(repository.pulls).map(({ issue, isDraft, mergedAt }) =>
    issueLine(`${url}/pull`, issue, mergedAt !== null ? 'merged' : isDraft ? 'draft' : issue.state),
  );
  const runs = newestFirst(repository.workflowRuns).map(
    (run) =>
      html`<li>${showJobState(run.job)} <a href="${url}/actions/runs/${run.id}">${run.displayTitle}</a> <span class="soft">${run.workflowName} #${run.number}</span></li>`,
  );
  const content = html`${showRepository(world, repository)}
<h1>${repository.name}</h1>
<p class="soft">Clone: <code>git clone ${url}.git</code></p>
${list('Pull requests', pulls)}
${list(
  'Issues',
  issues.map((issue) => issueLine(`${url}/issues`, issue, issue.state)),
)}
${list('Workflow runs', runs)}
${list('Branches', await branchLines(context))}
${await showRoot(context)}`;
  return replyPage(`${repository.owner.login}/${repository.name}`, content);
}

function newestFirst<Item>(items: ReadonlyMap<number, Item>): Item[] {
  return [...items.values()].reverse();
}

function list(title: string, rows: readonly Html[]): Html {
  return html`<h2>${title}</h2>
${rows.length === 0 ? html`<p class="soft">None.</p>` : html`<ul class="rows">${rows}</ul>`}`;
}

function issueLine(base: string, issue: Issue, state: string): Html {
  return html`<li><a href="${base}/${issue.number}">${issue.title}</a> <span class="soft">#${issue.number}, ${state}, by</span> ${showUser(issue.user)} ${showDate(issue.createdAt)} ${showLabels(issue.labels)}</li>`;
}

async function branchLines({ world, repository }: RequestContext): Promise<readonly Html[]> {
  const names = await world.git(repository, ['for-each-ref', '--format=%(refname:strip=2)', 'refs/heads']);
  const url = repositoryHtmlUrl(world, repository);
  return names
    .split('\n')
    .filter((name) => name !== '')
    .map((name) => html`<li><a href="${url}/tree/${encodePath(name)}"><code>${name}</code></a></li>`);
}

async function showRoot(context: RequestContext): Promise<HtmlValue> {
  const { world, repository } = context;
  const commit = await resolveCommit(world, repository, repository.defaultBranch);
  if (commit === undefined) return false;
  const entries = await readFolder(world, repository, commit, '');
  const readme = entries.find(({ path }) => /^readme\.md$/i.test(path));
  const text = readme && (await world.git(repository, ['cat-file', 'blob', readme.sha]));
  return html`<h2>Files</h2>
${showEntries(context, repository.defaultBranch, entries)}
${text !== undefined && html`<div class="box"><div class="head">${readme?.path}</div><div class="body">${showMarkdown(text, repositoryHtmlUrl(world, repository))}</div></div>`}`;
}
