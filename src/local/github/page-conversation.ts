import { type Html, type HtmlValue, html } from '../../model/html.ts';
import type { Issue, Label, Reactable } from './conversation-data.ts';
import { showDate, showUser } from './page-frame.ts';
import { showMarkdown } from './page-markdown.ts';
import type { User } from './world.ts';

const pictures: Readonly<Record<string, string>> = {
  '+1': '👍',
  '-1': '👎',
  laugh: '😄',
  confused: '😕',
  heart: '❤️',
  hooray: '🎉',
  rocket: '🚀',
  eyes: '👀',
};

/** Each reaction with who gave it. */
export function showReactions({ reactions }: Reactable): Html | false {
  if (reactions.length === 0) return false;
  const names = [...new Set(reactions.map((reaction) => reaction.content))];
  return html`<div class="foot soft">${names.map((name) => {
    const people = reactions.filter((reaction) => reaction.content === name).map(({ user }) => user.login);
    return html`<span class="label" title="${name}">${pictures[name]} ${people.join(', ')}</span> `;
  })}</div>`;
}

/** A text that somebody wrote, in its box. `id` can be linked to. */
export function showComment(
  comment: { readonly user: User; readonly body: string | null; readonly at: Date; readonly did: string },
  parts: {
    readonly id: string;
    readonly repositoryUrl: string;
    readonly reactions?: Reactable;
    readonly more?: HtmlValue;
  },
): Html {
  return html`<article class="box" id="${parts.id}">
<div class="head">${showUser(comment.user)} ${comment.did} ${showDate(comment.at)}</div>
<div class="body">${showMarkdown(comment.body, parts.repositoryUrl)}${parts.more}</div>
${parts.reactions !== undefined && showReactions(parts.reactions)}</article>
`;
}

export function showLabels(labels: readonly Label[]): HtmlValue {
  return labels.map(({ name }) => html`<span class="label">${name}</span> `);
}

/** Something of the conversation with its time, so that it can be put in order. */
export interface Entry {
  readonly at: Date;
  readonly content: Html;
}

/** The comments of an issue or pull request. */
export function commentEntries(issue: Issue, repositoryUrl: string): readonly Entry[] {
  return issue.comments.map((comment) => ({
    at: comment.createdAt,
    content: showComment(
      { user: comment.user, body: comment.body, at: comment.createdAt, did: editedNote(comment) },
      { id: `issuecomment-${comment.id}`, repositoryUrl, reactions: comment },
    ),
  }));
}

function editedNote({
  createdAt,
  updatedAt,
}: {
  readonly createdAt: Date;
  readonly updatedAt: Date;
}): string {
  return updatedAt > createdAt ? 'commented (edited since)' : 'commented';
}

export function showEntries(entries: readonly Entry[]): HtmlValue {
  return entries
    .toSorted((left, right) => left.at.getTime() - right.at.getTime())
    .map(({ content }) => content);
}

/** The text that opened an issue or pull request. */
export function showOpening(issue: Issue, did: string, repositoryUrl: string): Html {
  return showComment(
    { user: issue.user, body: issue.body, at: issue.createdAt, did },
    { id: `issue-${issue.id}`, repositoryUrl, reactions: issue },
  );
}
