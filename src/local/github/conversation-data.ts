import type { App, Repository, User } from './world.ts';

/**
 * What a repository holds beside its git data: issues, pull requests, checks. Owned by the conversation routes
 * (issues, pulls, reviews, checks); world.ts only makes it part of Repository.
 */
export interface ConversationData {
  /** By number. A pull request has its issue here too, under the same number. */
  readonly issues: Map<number, Issue>;
  /** By number. */
  readonly pulls: Map<number, Pull>;
  /** By name in lower case: GitHub's labels differ in more than case. */
  readonly labels: Map<string, Label>;
  readonly checkSuites: CheckSuite[];
  /** Oldest first. */
  readonly checkRuns: Map<number, CheckRun>;
  /** Oldest first. */
  readonly statuses: CommitStatus[];
}

export interface Label {
  readonly id: number;
  readonly nodeId: string;
  name: string;
  color: string;
  description: string | null;
}

export const reactionContents = [
  '+1',
  '-1',
  'laugh',
  'confused',
  'heart',
  'hooray',
  'rocket',
  'eyes',
] as const;
export type ReactionContent = (typeof reactionContents)[number];

export interface Reaction {
  readonly id: number;
  readonly nodeId: string;
  readonly user: User;
  readonly content: ReactionContent;
  readonly createdAt: Date;
}

/** What reactions are put on. */
export interface Reactable {
  readonly reactions: Reaction[];
}

/** A comment in the conversation of an issue or pull request. */
export interface IssueComment extends Reactable {
  readonly id: number;
  readonly nodeId: string;
  readonly user: User;
  readonly viaApp: App | null;
  body: string;
  readonly createdAt: Date;
  updatedAt: Date;
}

export interface Issue extends Reactable {
  readonly id: number;
  readonly nodeId: string;
  readonly number: number;
  readonly user: User;
  readonly viaApp: App | null;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  stateReason: 'completed' | 'not_planned' | 'reopened' | 'duplicate' | null;
  labels: Label[];
  /** Oldest first. */
  readonly comments: IssueComment[];
  readonly createdAt: Date;
  updatedAt: Date;
  closedAt: Date | null;
  closedBy: User | null;
}

/** What a pull request has beside its issue: title, body, state, labels and conversation are there. */
export interface Pull {
  readonly id: number;
  readonly nodeId: string;
  readonly number: number;
  readonly issue: Issue;
  /** Another repository than the base's for pull requests from forks. */
  readonly headRepository: Repository;
  readonly headRef: string;
  /** Frozen once the pull request is closed. */
  headSha: string;
  baseRef: string;
  baseSha: string;
  isDraft: boolean;
  mergedAt: Date | null;
  mergedBy: User | null;
  mergeCommitSha: string | null;
  requestedReviewers: User[];
  /** Oldest first. */
  readonly reviews: Review[];
  /** Oldest first. */
  readonly reviewComments: ReviewComment[];
}

export interface Review {
  readonly id: number;
  readonly nodeId: string;
  readonly user: User;
  body: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  readonly commitId: string;
  readonly submittedAt: Date;
}

export type Side = 'LEFT' | 'RIGHT';

/** Where a review comment stands in the diff; `position` counts the lines below the file's first `@@`. */
export interface LinePlace {
  readonly line: number;
  readonly side: Side;
  readonly startLine: number | null;
  readonly startSide: Side | null;
  readonly position: number;
}

export interface ReviewComment extends Reactable {
  readonly id: number;
  readonly nodeId: string;
  readonly reviewId: number;
  readonly user: User;
  body: string;
  readonly path: string;
  /** Null: at the file as a whole. */
  readonly place: LinePlace | null;
  readonly diffHunk: string;
  readonly originalCommitId: string;
  /** Moves on with the head as long as the file stays as it was. */
  commitId: string;
  /** The file changed since: GitHub shows the comment as outdated, without a line. */
  isOutdated: boolean;
  readonly inReplyTo: number | null;
  readonly createdAt: Date;
  updatedAt: Date;
}

export type CheckStatus = 'queued' | 'in_progress' | 'completed' | 'waiting' | 'requested' | 'pending';
export const checkConclusions = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
] as const;
export type CheckConclusion = (typeof checkConclusions)[number];

/** The checks of one app on one commit. */
export interface CheckSuite {
  readonly id: number;
  readonly nodeId: string;
  readonly app: App;
  readonly headSha: string;
  readonly headBranch: string | null;
  readonly createdAt: Date;
  updatedAt: Date;
}

/** As the app sent it, snake case and all: it goes out again as it came in. */
export interface CheckAnnotation {
  readonly path: string;
  readonly start_line: number;
  readonly end_line: number;
  readonly start_column: number | null;
  readonly end_column: number | null;
  readonly annotation_level: 'notice' | 'warning' | 'failure';
  readonly title: string | null;
  readonly message: string;
  readonly raw_details: string | null;
}

export interface CheckAction {
  readonly label: string;
  readonly description: string;
  readonly identifier: string;
}

export interface CheckRun {
  readonly id: number;
  readonly nodeId: string;
  readonly suite: CheckSuite;
  readonly app: App;
  readonly headSha: string;
  name: string;
  externalId: string;
  detailsUrl: string | null;
  status: CheckStatus;
  conclusion: CheckConclusion | null;
  startedAt: Date;
  completedAt: Date | null;
  title: string | null;
  summary: string | null;
  text: string | null;
  /** Every update appends. */
  readonly annotations: CheckAnnotation[];
  actions: readonly CheckAction[];
}

export interface CommitStatus {
  readonly id: number;
  readonly nodeId: string;
  readonly sha: string;
  readonly state: 'error' | 'failure' | 'pending' | 'success';
  readonly context: string;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly creator: User;
  readonly createdAt: Date;
}

export function createConversationData(): ConversationData {
  return {
    issues: new Map(),
    pulls: new Map(),
    labels: new Map(),
    checkSuites: [],
    checkRuns: new Map(),
    statuses: [],
  };
}
