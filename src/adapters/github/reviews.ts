import type { ReviewComment, ReviewDraft } from '../../model/delivery.ts';
import { AppError } from '../../model/errors.ts';
import { createComment, findComment, listReviewComments } from './comments.ts';
import { githubMessageOf, statusOf } from './github-errors.ts';
import { type Made, makeOnce, withoutRetries } from './make-once.ts';
import { hasMarker, withMarker } from './marker.ts';
import { isCommentable } from './patch-lines.ts';
import { listPullFiles, readPull } from './pulls.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

type FileComment = ReviewDraft['fileComments'][number];

/** Each comment at file level is a request of its own, spaced by 3 s. The rest goes into the body. */
const mostFileComments = 3;

interface Target {
  readonly pull: number;
  readonly commitSha: string;
}

function toFileComment(comment: ReviewComment): FileComment {
  const place =
    comment.startLine === undefined
      ? `Line ${comment.line}`
      : `Lines ${comment.startLine} to ${comment.line}`;
  return { path: comment.path, body: `${place} (not in the diff)\n\n${comment.body}` };
}

/** File comments that would be too many requests, at the end of the review's body. */
function withRest(draft: ReviewDraft): ReviewDraft {
  const rest = draft.fileComments.slice(mostFileComments);
  if (rest.length === 0) return draft;
  const sections = rest.map(({ path, body }) => `**\`${path.replaceAll('`', "'")}\`**\n\n${body}`);
  return {
    body: [draft.body, ...sections].join('\n\n'),
    comments: draft.comments,
    fileComments: draft.fileComments.slice(0, mostFileComments),
  };
}

/** The draft with every comment that the pull request's own diff does not show moved to file level. */
async function relocate(session: RepositorySession, pull: number, draft: ReviewDraft): Promise<ReviewDraft> {
  const files = await listPullFiles(session, pull);
  const patches = new Map(files.map(({ path, patch }) => [path, patch]));
  const isPlaceable = ({ path, line, startLine }: ReviewComment) =>
    isCommentable(patches.get(path), line, startLine);
  const comments = draft.comments.filter(isPlaceable);
  // Nothing to blame by our reading of the diff: GitHub knows better, so nothing stays inline.
  const offenders =
    comments.length === draft.comments.length
      ? draft.comments
      : draft.comments.filter((it) => !isPlaceable(it));
  return withRest({
    body: draft.body,
    comments: draft.comments.filter((it) => !offenders.includes(it)),
    fileComments: [...draft.fileComments, ...offenders.map(toFileComment)],
  });
}

async function findReview(session: RepositorySession, once: Once, target: Target): Promise<Made | undefined> {
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
  target: Target,
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
async function refuseIfMoved(session: RepositorySession, target: Target): Promise<void> {
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
  target: Target,
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
  target: Target,
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

async function sendFileComment(
  session: RepositorySession,
  once: Once,
  target: Target,
  comment: FileComment,
): Promise<void> {
  const look = async () => {
    const found = await findComment(session, once, listReviewComments(session, target.pull));
    return found && { githubId: String(found.id), url: found.html_url };
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
async function sendFileComments(
  session: RepositorySession,
  once: Once,
  target: Target,
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
