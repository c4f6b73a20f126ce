import type { ReviewComment, ReviewDraft } from '../../model/delivery.ts';
import { isCommentable } from './patch-lines.ts';
import { listPullFiles } from './pulls.ts';
import type { RepositorySession } from './repository-session.ts';

export type FileComment = ReviewDraft['fileComments'][number];

/** Each comment at file level is a request of its own, spaced by 3 s. The rest goes into the body. */
const mostFileComments = 3;

export function toFileComment(comment: ReviewComment): FileComment {
  const place =
    comment.startLine === undefined
      ? `Line ${comment.line}`
      : `Lines ${comment.startLine} to ${comment.line}`;
  return { path: comment.path, body: `${place} (not in the diff)\n\n${comment.body}` };
}

/** File comments that would be too many requests, at the end of the review's body. */
export function withRest(draft: ReviewDraft): ReviewDraft {
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
export async function relocate(
  session: RepositorySession,
  pull: number,
  draft: ReviewDraft,
): Promise<ReviewDraft> {
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
