import { type Html, type HtmlValue, html } from '../../model/html.ts';
import type { CheckRun, LinePlace, Pull, Review, ReviewComment } from './conversation-data.ts';
import { findPull } from './find-issue.ts';
import { showCheckLine, showCheckRun } from './page-check.ts';
import {
  commentEntries,
  type Entry,
  showComment,
  showEntries,
  showLabels,
  showOpening,
} from './page-conversation.ts';
import { fileAnchor, showFiles, showPatch } from './page-diff.ts';
import { encodePath, replyPage, showDate, showRepository, showTabs, showUser } from './page-frame.ts';
import { diffBase, readPullFiles } from './pull-diff.ts';
import { type Commit, readCommits } from './read-commits.ts';
import { repositoryHtmlUrl } from './render.ts';
import { pullHtmlUrl } from './render-pull.ts';
import type { Reply, RequestContext } from './router.ts';

/** Lines of the diff shown above a comment in the conversation. */
const shownHunkLines = 6;

interface PullView {
  readonly context: RequestContext;
  readonly pull: Pull;
  /** Page of the base repository. */
  readonly url: string;
  readonly commits: readonly Commit[];
  readonly checks: readonly CheckRun[];
}

async function readView(context: RequestContext): Promise<PullView> {
  const { world, repository } = context;
  const pull = findPull(context);
  const range = `${await diffBase(world, repository, pull)}..${pull.headSha}`;
  const commits = await readCommits(world, repository, ['--reverse', range]);
  const checks = [...repository.checkRuns.values()].filter((run) => run.headSha === pull.headSha);
  return { context, pull, url: repositoryHtmlUrl(world, repository), commits, checks };
}

/** The page of a pull request's conversation: texts, reviews with their comments, commits and checks. */
export async function pullPage(context: RequestContext): Promise<Reply> {
  const view = await readView(context);
  const { pull, checks } = view;
  const entries: Entry[] = [
    ...commentEntries(pull.issue, view.url),
    ...view.commits.map((commit) => commitEntry(view, commit)),
    ...pull.reviews.map((review) => reviewEntry(view, review)),
  ];
  const reviewers = pull.requestedReviewers.map((user) => user.login).join(', ');
  return showPull(view, 'Conversation', [
    showOpening(pull.issue, 'opened this pull request', view.url),
    showEntries(entries),
    showEnd(pull),
    html`<h2>Checks of the newest commit</h2>`,
    checks.length === 0
      ? html`<p class="soft">None.</p>`
      : html`<ul class="rows">${checks.map((run) => showCheckLine(context, run))}</ul>`,
    reviewers !== '' && html`<p>Asked to review: ${reviewers}.</p>`,
  ]);
}

function commitEntry({ context, pull }: PullView, commit: Commit): Entry {
  const base = repositoryHtmlUrl(context.world, pull.headRepository);
  const [subject = ''] = commit.message.split('\n');
  const content = html`<p class="event"><a href="${base}/commit/${commit.sha}"><code>${commit.sha.slice(0, 7)}</code></a> ${subject} · ${commit.author.name} ${showDate(commit.committer.date)}</p>
`;
  return { at: commit.committer.date, content };
}

const verbs = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'asked for changes',
  COMMENTED: 'reviewed',
} as const;

function reviewEntry({ pull, url }: PullView, review: Review): Entry {
  const { user, body, submittedAt: at } = review;
  const id = `pullrequestreview-${review.id}`;
  const did = `${verbs[review.state]} ${review.commitId.slice(0, 7)}`;
  const own = pull.reviewComments.filter((comment) => comment.reviewId === review.id);
  const more = own.map((comment) => showInConversation(comment, url));
  // A single comment stands in a review without a text of its own.
  if (body !== '' || more.length === 0)
    return { at, content: showComment({ user, body, at, did }, { id, repositoryUrl: url, more }) };
  return {
    at,
    content: html`<p class="event" id="${id}">${showUser(user)} ${did} ${showDate(at)}</p>${more}`,
  };
}

/** A comment below the last lines of the diff that it is about. */
function showInConversation(comment: ReviewComment, url: string): Html {
  const place = comment.place === null ? 'the file' : placeText(comment.place);
  const note = comment.isOutdated && html` <span class="label">outdated</span>`;
  return html`<section class="box"><div class="head"><code>${comment.path}</code> <span class="soft">${place}</span>${note}</div>
${comment.diffHunk !== '' && showPatch(comment.diffHunk, { lastLines: shownHunkLines })}
<div class="body">${showInDiff(comment, url)}</div></section>
`;
}

function placeText({ line, startLine, side }: LinePlace): string {
  const old = side === 'LEFT' ? ' (old)' : '';
  return startLine === null ? `line ${line}${old}` : `lines ${startLine} to ${line}${old}`;
}

function showInDiff(comment: ReviewComment, repositoryUrl: string): Html {
  const { user, body, createdAt: at, inReplyTo } = comment;
  const did = inReplyTo === null ? 'commented' : 'answered';
  return showComment(
    { user, body, at, did },
    { id: `discussion_r${comment.id}`, repositoryUrl, reactions: comment },
  );
}

function showEnd({ mergedAt, mergedBy, issue }: Pull): HtmlValue {
  if (mergedAt !== null)
    return html`<p class="event">${mergedBy !== null && showUser(mergedBy)} merged this ${showDate(mergedAt)}</p>`;
  return issue.closedAt !== null && html`<p class="event">Closed ${showDate(issue.closedAt)}</p>`;
}

/** The files that a pull request changes, with comments at their lines. */
export async function pullFilesPage(context: RequestContext): Promise<Reply> {
  const view = await readView(context);
  const { world, repository } = context;
  const files = await readPullFiles(world, repository, view.pull);
  const base = repositoryHtmlUrl(world, view.pull.headRepository);
  const options = {
    fileUrl: (path: string) => `${base}/blob/${view.pull.headSha}/${encodePath(path)}`,
    comments: view.pull.reviewComments,
    showComment: (comment: ReviewComment) => showInDiff(comment, view.url),
  };
  const list = html`<details><summary>${files.length} files</summary><ul class="rows">${files.map(({ path }) => html`<li><a href="#${fileAnchor(path)}">${path}</a></li>`)}</ul></details>`;
  return showPull(view, 'Files', [list, showFiles(files, options)]);
}

/** The checks of a pull request's newest commit in full. */
export async function pullChecksPage(context: RequestContext): Promise<Reply> {
  const view = await readView(context);
  const content = view.checks.map((run) => showCheckRun(context, run));
  return showPull(view, 'Checks', content.length === 0 ? html`<p class="soft">No check yet.</p>` : content);
}

function showPull(view: PullView, tab: 'Conversation' | 'Files' | 'Checks', content: HtmlValue): Reply {
  const { context, pull } = view;
  const { world, repository } = context;
  const url = pullHtmlUrl(world, repository, pull);
  const tabs = [
    ['Conversation', url],
    ['Files', `${url}/files`],
    ['Checks', `${url}/checks`],
  ] as const;
  const count = `${view.commits.length} ${view.commits.length === 1 ? 'commit' : 'commits'}`;
  return replyPage(
    `${pull.issue.title} · Pull request #${pull.number} · ${repository.name}`,
    html`${showRepository(world, repository)}
<h1>${pull.issue.title} <span class="number">#${pull.number}</span></h1>
<p>${showState(pull)} ${showUser(pull.issue.user)} wants to merge ${count} into <code>${pull.baseRef}</code> from <code>${pull.headRef}</code> ${showLabels(pull.issue.labels)}</p>
${showTabs(tabs, tab)}
${content}`,
  );
}

function showState({ mergedAt, isDraft, issue }: Pull): Html {
  if (mergedAt !== null) return html`<strong class="good">Merged</strong>`;
  if (issue.state === 'closed') return html`<strong class="bad">Closed</strong>`;
  return isDraft ? html`<strong class="soft">Draft</strong>` : html`<strong class="good">Open</strong>`;
}
