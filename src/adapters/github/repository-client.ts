import type { ChangedFile, CheckDraft, Reaction, ReviewDraft } from '../../model/delivery.ts';
import type { Permission, RepositoryRef } from '../../model/github.ts';

/** What a reaction is put on. */
export type ReactionTarget =
  | { readonly kind: 'issue'; readonly number: number }
  | { readonly kind: 'issue-comment'; readonly id: number }
  | { readonly kind: 'review-comment'; readonly id: number };

export interface Pull {
  readonly number: number;
  readonly nodeId: string;
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly isDraft: boolean;
  readonly isMerged: boolean;
  readonly headRef: string;
  readonly headSha: string;
  readonly baseRef: string;
  readonly isFork: boolean;
}

export interface WorkflowRun {
  readonly id: number;
  readonly url: string;
  readonly path: string;
  readonly event: string;
  readonly displayTitle: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly headBranch: string | null;
}

export interface WorkflowJob {
  readonly id: number;
  readonly status: string;
  readonly conclusion: string | null;
  readonly labels: readonly string[];
  readonly runnerName: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
}

/** A write that must happen once: `scope` and `key` name it in the effect log and in its hidden marker. */
export interface Once {
  readonly scope: string;
  readonly key: string;
}

/**
 * One repository through one installation's token, minted at each use. Reads are plain; writes go through the effect
 * log. Limits of GitHub are kept here: lengths, 50 annotations, review lines; 422 is never retried.
 * @throws AppError NOT_PERMITTED naming the missing permission (403 "Resource not accessible by integration"),
 *   BRANCH_MOVED, GITHUB_UNAVAILABLE after the last try
 */
export interface RepositoryClient {
  readonly repository: RepositoryRef;

  permissionOf(user: { readonly id: number; readonly login: string }): Promise<Permission>;
  /** Text of a file at a ref (default: the default branch); undefined where it is not there. ≤ 1 MB. */
  readFile(path: string, ref?: string): Promise<string | undefined>;
  /** What lies directly in a folder at a ref; empty where there is no such folder. */
  listFolder(
    path: string,
    ref: string,
  ): Promise<readonly { readonly path: string; readonly isFolder: boolean }[]>;
  /** Commit of a branch, undefined where there is none. */
  readBranch(branch: string): Promise<{ readonly sha: string; readonly treeSha: string } | undefined>;
  readIssue(number: number): Promise<{
    readonly body: string;
    readonly state: string;
    readonly labels: readonly string[];
    readonly isPull: boolean;
    readonly authorId: number;
  }>;
  readPull(number: number): Promise<Pull>;
  listPullFiles(number: number): Promise<readonly ChangedFile[]>;
  /** What the installation granted, e.g. { actions: 'write' }. App JWT. */
  grantedPermissions(): Promise<Readonly<Record<string, string>>>;

  react(target: ReactionTarget, reaction: Reaction): Promise<void>;
  addLabel(number: number, label: string): Promise<void>;
  removeLabel(number: number, label: string): Promise<void>;
  /** Made once, later calls edit it; the same content is not sent again. */
  upsertComment(
    once: Once,
    number: number,
    body: string,
  ): Promise<{ readonly id: number; readonly url: string }>;
  /** Made once, never edited. */
  createComment(
    once: Once,
    number: number,
    body: string,
  ): Promise<{ readonly id: number; readonly url: string }>;
  replyToReviewComment(once: Once, pull: number, commentId: number, body: string): Promise<void>;

  /**
   * One commit with these files on `branch`: one tree with inline content, one commit, one ref. With `expectedHead`
   * undefined the branch is made from `base`; a branch that is there already is adopted only where its head carries the
   * trailer of this `once`. The message gets the trailers itself.
   * @throws AppError BRANCH_MOVED where the branch is not at `expectedHead`
   */
  commitFiles(
    once: Once,
    change: {
      readonly branch: string;
      readonly base: string;
      readonly expectedHead: string | undefined;
      readonly files: readonly { readonly path: string; readonly text: string }[];
      /** Paths that must be gone afterwards; one that is not there is left alone. */
      readonly deletions?: readonly string[];
      readonly message: string;
      readonly trailers: Readonly<Record<string, string>>;
    },
  ): Promise<{ readonly sha: string }>;
  openPull(
    once: Once,
    pull: { readonly head: string; readonly base: string; readonly title: string; readonly body: string },
  ): Promise<Pull>;
  /** New body and draft → ready in one GraphQL request. */
  markReady(once: Once, pull: { readonly nodeId: string; readonly body: string }): Promise<void>;
  updatePullBody(once: Once, number: number, body: string): Promise<void>;
  requestReviewers(
    once: Once,
    number: number,
    reviewers: { readonly users: readonly string[]; readonly teams: readonly string[] },
  ): Promise<void>;
  /** One review, event COMMENT, on `commitSha`; a 422 moves the offending comments to file level, then into the body. */
  createReview(
    once: Once,
    pull: number,
    commitSha: string,
    draft: ReviewDraft,
  ): Promise<{ readonly url: string }>;
  createCheck(
    once: Once,
    headSha: string,
    externalId: string,
    draft: CheckDraft,
    detailsUrl: string | null,
  ): Promise<{ readonly id: number; readonly url: string }>;
  updateCheck(once: Once, checkRunId: number, draft: CheckDraft): Promise<void>;

  /** The workflow's state and its text on the default branch; undefined where GitHub knows no such workflow. */
  readWorkflow(path: string): Promise<{ readonly state: string; readonly text: string } | undefined>;
  /** Gives the run id, or null where GitHub does not say. Found again by the request id in `run-name`. */
  dispatchWorkflow(
    once: Once,
    path: string,
    inputs: Readonly<Record<string, string>>,
  ): Promise<{ readonly workflowRunId: number | null }>;
  findWorkflowRun(path: string, requestId: string): Promise<WorkflowRun | undefined>;
  readWorkflowRun(id: number): Promise<WorkflowRun>;
  listWorkflowJobs(id: number): Promise<readonly WorkflowJob[]>;
  cancelWorkflowRun(id: number): Promise<void>;
  /** The zip of the run's artifact with this name; undefined where there is none or it expired. */
  downloadArtifact(workflowRunId: number, name: string, maxBytes: number): Promise<Buffer | undefined>;
}

export interface AppDelivery {
  /** A text: GitHub's delivery ids are larger than a number can hold since 2026. */
  readonly id: string;
  readonly guid: string;
  readonly event: string;
  readonly status: number;
  readonly deliveredAt: Date;
  readonly isRedelivery: boolean;
}

/** The app itself, by its JWT. */
export interface AppClient {
  /** Slug and bot user id: our own comments never trigger anything. */
  whoami(): Promise<{ readonly slug: string; readonly url: string }>;
  repository(ref: RepositoryRef): RepositoryClient;
  /** Newest first, back to `since`. */
  listDeliveries(since: Date): Promise<readonly AppDelivery[]>;
  redeliver(id: string): Promise<void>;
  /** Requests since the start, by method: for the request benchmark and /metrics. */
  readonly requestCounts: Readonly<{ reads: number; writes: number; notifying: number }>;
}
