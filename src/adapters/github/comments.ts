import { findComment, listIssueComments, listReviewComments, toMade } from './find-comment.ts';
import { statusOf } from './github-errors.ts';
import { lookAndWrite, type Made, makeOnce, withoutRetries } from './make-once.ts';
import { sha256Of, withMarker } from './marker.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

interface Comment {
  readonly id: number;
  readonly url: string;
}

function toComment(made: Made): Comment {
  return { id: Number(made.githubId), url: made.url ?? '' };
}

async function postComment(session: RepositorySession, number: number, body: string): Promise<Made> {
  const { data } = await session.call((octokit) =>
    octokit.rest.issues.createComment({
      ...session.place,
      issue_number: number,
      body,
      request: withoutRetries,
    }),
  );
  return toMade(data);
}

async function editComment(session: RepositorySession, id: number, body: string): Promise<Made> {
  const { data } = await session.call((octokit) =>
    octokit.rest.issues.updateComment({ ...session.place, comment_id: id, body }),
  );
  return toMade(data);
}

export async function createComment(
  session: RepositorySession,
  once: Once,
  number: number,
  body: string,
): Promise<Comment> {
  const made = await makeOnce(session, once, {
    look: async () => {
      const found = await findComment(session, once, listIssueComments(session, number));
      return found && toMade(found);
    },
    write: () => postComment(session, number, withMarker(once, body)),
  });
  return toComment(made);
}

/** Edits the comment; one that a person deleted is written anew. */
async function editOrPost(
  session: RepositorySession,
  once: Once,
  number: number,
  id: number,
  body: string,
): Promise<Made> {
  try {
    return await editComment(session, id, body);
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    return await postOrAdopt(session, once, number, body, true);
  }
}

export async function upsertComment(
  session: RepositorySession,
  once: Once,
  number: number,
  body: string,
): Promise<Comment> {
  const text = withMarker(once, body);
  const contentSha256 = sha256Of(text);
  const known = await session.effects.find(once.scope, once.key);
  if (known?.state === 'done' && known.githubId !== null && known.contentSha256 === contentSha256) {
    return { id: Number(known.githubId), url: known.url ?? '' };
  }
  await session.effects.begin(once.scope, once.key);
  const made =
    known !== undefined && known.githubId !== null
      ? await editOrPost(session, once, number, Number(known.githubId), text)
      : await postOrAdopt(session, once, number, text, known !== undefined);
  await session.effects.finish(once.scope, once.key, { ...made, contentSha256 });
  return toComment(made);
}

/** The first version of a sticky comment. One that a crash left behind is brought up to date. */
async function postOrAdopt(
  session: RepositorySession,
  once: Once,
  number: number,
  text: string,
  mayHaveLanded: boolean,
): Promise<Made> {
  return await lookAndWrite(
    session,
    {
      look: async () => {
        const found = await findComment(session, once, listIssueComments(session, number));
        if (found === undefined || found.body === text) return found && toMade(found);
        return await editComment(session, found.id, text);
      },
      write: () => postComment(session, number, text),
    },
    mayHaveLanded,
  );
}

export async function replyToReviewComment(
  session: RepositorySession,
  once: Once,
  pull: number,
  commentId: number,
  body: string,
): Promise<void> {
  await makeOnce(session, once, {
    look: async () => {
      const found = await findComment(session, once, listReviewComments(session, pull));
      return found && toMade(found);
    },
    write: async () => {
      const { data } = await session.call((octokit) =>
        octokit.rest.pulls.createReplyForReviewComment({
          ...session.place,
          pull_number: pull,
          comment_id: commentId,
          body: withMarker(once, body),
          request: withoutRetries,
        }),
      );
      return toMade(data);
    },
  });
}
