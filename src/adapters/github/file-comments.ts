import { createComment } from './comments.ts';
import { findComment, listReviewComments, toMade } from './find-comment.ts';
import { statusOf } from './github-errors.ts';
import { makeOnce, withoutRetries } from './make-once.ts';
import { withMarker } from './marker.ts';
import type { FileComment } from './place-review.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

/** What a review is about. */
export interface ReviewTarget {
  readonly pull: number;
  readonly commitSha: string;
}

async function sendFileComment(
  session: RepositorySession,
  once: Once,
  target: ReviewTarget,
  comment: FileComment,
): Promise<void> {
  const look = async () => {
    const found = await findComment(session, once, listReviewComments(session, target.pull));
    return found && toMade(found);
  };
  const write = async () => {
    const { data } = await session.call((octokit) =>
      octokit.rest.pulls.createReviewComment({
        ...session.place,
        pull_number: target.pull,
        commit_id: target.commitSha,
        path: comment.path,
        subject_type: 'file',
        body: withMarker(once, comment.body),
        request: withoutRetries,
      }),
    );
    return { githubId: String(data.id), url: data.html_url };
  };
  await makeOnce(session, once, { look, write });
}

/** A file that is not in the pull request can't be commented on: then it is a comment on the conversation. */
export async function sendFileComments(
  session: RepositorySession,
  once: Once,
  target: ReviewTarget,
  comments: readonly FileComment[],
): Promise<void> {
  for (const [index, comment] of comments.entries()) {
    const part = { scope: once.scope, key: `${once.key}:file:${index + 1}` };
    try {
      await sendFileComment(session, part, target, comment);
    } catch (error) {
      if (statusOf(error) !== 422) throw error;
      const body = `**\`${comment.path.replaceAll('`', "'")}\`**\n\n${comment.body}`;
      await createComment(session, { scope: once.scope, key: `${part.key}:comment` }, target.pull, body);
    }
  }
}
