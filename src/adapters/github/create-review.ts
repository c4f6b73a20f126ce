import type { ReviewDraft } from '../../model/delivery.ts';
import { AppError } from '../../model/errors.ts';
import { type ReviewTarget, sendFileComments } from './file-comments.ts';
import { listReviewComments } from './find-comment.ts';
import { githubMessageOf, statusOf } from './github-errors.ts';
import { type Made, makeOnce, withoutRetries } from './make-once.ts';
import { hasMarker, withMarker } from './marker.ts';
import { relocate, toFileComment, withRest } from './place-review.ts';
import { readPull } from './pulls.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

async function findReview(
  session: RepositorySession,
  once: Once,
  target: ReviewTarget,
): Promise<Made | undefined> {
  const login = await session.botLogin();
  const reviews = await session.call((octokit) =>
    octokit.paginate(octokit.rest.pulls.listReviews, {
      ...session.place,
      pull_number: target.pull,
      per_page: 100,
    }),
  );
  const found = reviews.find((review) => review.user?.login === login && hasMarker(review.body, once));
  return found && { githubId: String(found.id), url: found.html_url };
}

async function sendReview(
  session: RepositorySession,
  once: Once,
  target: ReviewTarget,
  draft: ReviewDraft,
): Promise<Made> {
  const { data } = await session.call((octokit) =>
    octokit.rest.pulls.createReview({
      ...session.place,
      pull_number: target.pull,
      commit_id: target.commitSha,
      event: 'COMMENT',
      body: withMarker(once, draft.body),
      comments: draft.comments.map(({ path, line, startLine, body }) => ({
        path,
        line,
        side: 'RIGHT',
        body,
        ...(startLine === undefined ? {} : { start_line: startLine, start_side: 'RIGHT' }),
      })),
      request: withoutRetries,
    }),
  );
  return { githubId: String(data.id), url: data.html_url };
}

/** The pull request's head went on and the commit is no longer in it: a review would speak of other code. */
async function refuseIfMoved(session: RepositorySession, target: ReviewTarget): Promise<void> {
  const { headSha, headRef } = await readPull(session, target.pull);
  if (headSha === target.commitSha) return;
  throw new AppError(
    'BRANCH_MOVED',
    `The branch ${headRef} of pull request #${target.pull} moved from ${target.commitSha.slice(0, 12)} to ${headSha.slice(0, 12)} while it was being judged, and GitHub no longer takes a review of the older commit. Comment "/metainfer retry" to judge the new one.`,
  );
}

/** Sends the review; what GitHub will not show inline goes to file level or into the body. Two more requests at most. */
async function sendPlaced(
  session: RepositorySession,
  once: Once,
  target: ReviewTarget,
  draft: ReviewDraft,
  onSent: (sent: ReviewDraft) => void,
): Promise<Made> {
  let next = withRest(draft);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const made = await sendReview(session, once, target, next);
      onSent(next);
      return made;
    } catch (error) {
      if (statusOf(error) !== 422) throw error;
      session.log.warn({ reason: githubMessageOf(error).slice(0, 300) }, 'GitHub did not take the review');
      if (attempt === 1) await refuseIfMoved(session, target);
      if (attempt === 3 || next.comments.length === 0) throw error;
      next =
        attempt === 1
          ? await relocate(session, target.pull, draft)
          : withRest({
              body: draft.body,
              comments: [],
              fileComments: [...draft.fileComments, ...draft.comments.map(toFileComment)],
            });
    }
  }
}

/** What a review that landed earlier left for file level: what is not among its inline comments. */
async function readSent(
  session: RepositorySession,
  target: ReviewTarget,
  review: Made,
  draft: ReviewDraft,
): Promise<ReviewDraft> {
  if (draft.comments.length === 0) return withRest(draft);
  const posted = new Set<string>();
  const keyOf = (path: string, body: string) => `${path}\0${body.replace(/\r\n/g, '\n').trim()}`;
  for await (const page of listReviewComments(session, target.pull)) {
    for (const comment of page) {
      if (String(comment.pull_request_review_id) === review.githubId) {
        posted.add(keyOf(comment.path, comment.body));
      }
    }
  }
  const missing = draft.comments.filter(({ path, body }) => !posted.has(keyOf(path, body)));
  return withRest({
    body: draft.body,
    comments: [],
    fileComments: [...draft.fileComments, ...missing.map(toFileComment)],
  });
}

/** One review on `commitSha`. No finding is lost to a 422: not inline → at its file → in the body. */
export async function createReview(
  session: RepositorySession,
  once: Once,
  pull: number,
  commitSha: string,
  draft: ReviewDraft,
): Promise<{ readonly url: string }> {
  const target = { pull, commitSha };
  let sent: ReviewDraft | undefined;
  const made = await makeOnce(session, once, {
    look: () => findReview(session, once, target),
    write: () =>
      sendPlaced(session, once, target, draft, (placed) => {
        sent = placed;
      }),
  });
  const { fileComments } = sent ?? (await readSent(session, target, made, draft));
  await sendFileComments(session, once, target, fileComments);
  return { url: made.url ?? '' };
}
