import type { Pull } from './conversation-data.ts';
import {
  type PlaceProblem,
  parsePatch,
  placeComment,
  placeOfPosition,
  type WantedPlace,
} from './diff-lines.ts';
import { diffBase, type PullFile, readPullFiles } from './pull-diff.ts';
import type { CommentDraft } from './review-changes.ts';
import type { Repository, World } from './world.ts';

/** A comment's place as a request names it: by line, or by the older position. */
export interface WantedComment {
  readonly path: string;
  readonly body: string;
  readonly line?: number | null | undefined;
  readonly side?: 'LEFT' | 'RIGHT' | undefined;
  readonly start_line?: number | null | undefined;
  readonly start_side?: 'LEFT' | 'RIGHT' | 'side' | null | undefined;
  readonly position?: number | null | undefined;
}

export type ReviewPlaceProblem = PlaceProblem | 'path' | 'position';

export type PlacedComment =
  | { readonly ok: true; readonly draft: CommentDraft }
  | { readonly ok: false; readonly problems: readonly ReviewPlaceProblem[] };

/** Finds a comment's place in the diff of a pull request's files. */
export function placeInFiles(files: readonly PullFile[], wanted: WantedComment): PlacedComment {
  const file = files.find((candidate) => candidate.path === wanted.path);
  if (file === undefined) return { ok: false, problems: ['path'] };
  // A file without a patch (binary, too large) has no line that could be commented on.
  const patch = parsePatch(file.patch ?? '');
  const byPosition = wanted.line === undefined || wanted.line === null;
  const place = byPosition ? placeOfPosition(patch, wanted.position ?? 0) : wantedPlace(wanted, wanted.line!);
  if (place === undefined) return { ok: false, problems: ['position'] };
  const placed = placeComment(patch, place);
  if (!placed.ok) return placed;
  const { body, path } = wanted;
  return {
    ok: true,
    draft: { path, body, place: placed.place, diffHunk: placed.diffHunk, inReplyTo: null },
  };
}

function wantedPlace(wanted: WantedComment, line: number): WantedPlace {
  const { start_side: startSide } = wanted;
  return {
    line,
    side: wanted.side ?? 'RIGHT',
    startLine: wanted.start_line ?? null,
    startSide: startSide === 'LEFT' || startSide === 'RIGHT' ? startSide : null,
  };
}

/** The files of a pull request as they are at one of its commits; undefined where the commit is not one of them. */
export async function filesAtCommit(
  world: World,
  repository: Repository,
  pull: Pull,
  commitId: string,
): Promise<readonly PullFile[] | undefined> {
  if (commitId !== pull.headSha) {
    const range = `${await diffBase(world, repository, pull)}..${pull.headSha}`;
    const commits = (await world.git(repository, ['rev-list', range])).split('\n');
    if (!/^[0-9a-f]{40}$/.test(commitId) || !commits.includes(commitId)) return undefined;
  }
  return readPullFiles(world, repository, pull, commitId);
}

const sentences: Readonly<Record<ReviewPlaceProblem, string>> = {
  path: 'Pull request review thread path is invalid',
  position: 'Pull request review thread position is invalid',
  line: 'Pull request review thread line must be part of the diff',
  'start-line': 'Pull request review thread start line must be part of the same hunk as the line.',
  order: 'Pull request review thread start line must precede the end line.',
};

/** What GitHub says about a comment of a review that it can't place; it doesn't say which comment. */
export function sentenceOfProblems(problems: readonly ReviewPlaceProblem[]): string {
  const parts = problems.map((problem) => sentences[problem]);
  if (!problems.includes('order')) parts.push("Pull request review thread diff hunk can't be blank");
  if (parts.length < 3) return parts.join(' and ');
  return `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
}
