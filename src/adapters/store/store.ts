import type { CompletionLedger } from '../../model/completion-ledger.ts';
import type { Actor, RepositoryRef } from '../../model/github.ts';
import type { RunEvent, RunState } from '../../model/run.ts';
import type {
  Attempt,
  DocumentName,
  RunDocuments,
  RunRecord,
  RunSource,
  TimelineEntry,
} from '../../model/run-record.ts';

/** A webhook delivery as it came in. `semanticKey` tells two deliveries with the same content apart from two events. */
export interface NewDelivery {
  /** X-GitHub-Delivery. */
  readonly id: string;
  readonly event: string;
  readonly action: string | null;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
  readonly semanticKey: string;
  /** Seconds in which a second delivery with the same semantic key is a copy. */
  readonly copyWindowSeconds: number;
  readonly payload: unknown;
}

export type DeliveryOutcome = 'queued' | 'done' | 'ignored' | 'duplicate' | 'failed';

export interface Delivery extends NewDelivery {
  readonly receivedAt: Date;
  readonly outcome: DeliveryOutcome;
  /** Why it was ignored or failed. */
  readonly detail: string | null;
}

export interface NewRun {
  readonly id: string;
  readonly repository: RepositoryRef;
  readonly source: RunSource;
  readonly requestedBy: Actor;
  readonly state: RunState;
  /**
   * Hash of what is asked for (the constraint hash, or of the text where it cannot be parsed). At most one open run per
   * repository, source and hash.
   */
  readonly requestSha256: string;
}

/** What a write on GitHub became: found again by its marker after a crash. */
export interface EffectRecord {
  readonly state: 'intent' | 'done';
  /** GitHub's id of what was made: comment id, sha, number. */
  readonly githubId: string | null;
  readonly url: string | null;
  /** Hash of the content last sent: the same content isn't sent twice. */
  readonly contentSha256: string | null;
}

/** `scope` groups effects (a run's id, `issue:<repository id>/<number>`, a delivery id), `key` names one in it. */
export interface EffectLog {
  find(scope: string, key: string): Promise<EffectRecord | undefined>;
  /** Before the write. Keeps githubId and url of an earlier one. */
  begin(scope: string, key: string): Promise<void>;
  finish(
    scope: string,
    key: string,
    made: { readonly githubId: string; readonly url: string | null; readonly contentSha256: string | null },
  ): Promise<void>;
}

/** Which queue a delivery's job goes to: `control` carries cancel and status, and never waits behind other work. */
export type DeliveryQueue = 'deliveries' | 'control';

export interface RunFilter {
  readonly repositoryId?: number;
  readonly sourceKind?: RunSource['kind'];
  readonly sourceNumber?: number;
  readonly isOpen?: boolean;
  readonly limit?: number;
}

/** Everything that outlives a process. All methods are safe to call from several instances at once. */
export interface Store {
  readonly effects: EffectLog;

  /** Delivery row and job in one transaction. A GUID whose earlier handling failed is queued again. */
  acceptDelivery(delivery: NewDelivery, queue: DeliveryQueue): Promise<'queued' | 'duplicate'>;
  findDelivery(id: string): Promise<Delivery | undefined>;
  finishDelivery(id: string, outcome: DeliveryOutcome, detail: string | null): Promise<void>;
  /** Newest `receivedAt`, so that a sweep knows how far back it must look. */
  hasDelivery(id: string): Promise<boolean>;

  /**
   * What a delivery says of its repository, from then on, for all of its runs and those to come: name, owner, visibility,
   * default branch, installation. `told.updatedAt` is GitHub's own time of it: an older word changes nothing, and of two
   * equally old ones the one received later holds.
   */
  noteRepository(
    repository: RepositoryRef,
    told: { readonly updatedAt: Date | null; readonly receivedAt: Date },
  ): Promise<void>;

  /** The open run with the same repository, source and hash if there is one, else a new one with a step job. */
  createRun(run: NewRun): Promise<{ readonly run: RunRecord; readonly isNew: boolean }>;
  findRun(id: string): Promise<RunRecord | undefined>;
  findRunByNumber(number: number): Promise<RunRecord | undefined>;
  findRunByPull(repositoryId: number, pullNumber: number): Promise<RunRecord | undefined>;
  findRunByRequest(requestId: string): Promise<RunRecord | undefined>;
  findRunByWorkflow(repositoryId: number, workflowRunId: number): Promise<RunRecord | undefined>;
  /** Newest first; without those that another version of the program wrote and this one cannot read. */
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>;
  /** Runs of one actor in one repository begun since. */
  countRuns(repositoryId: number, actorId: number, since: Date): Promise<number>;
  /** The readable run with the lowest number in the repository that is `running` and may start its step now. */
  nextReadyRun(repositoryId: number): Promise<RunRecord | undefined>;

  /**
   * One event into a run's state, under a row lock: reads the state, steps it, saves, and queues the next step's job if
   * there is one. `onlyIf` is asked under the lock; false leaves the run alone and gives undefined.
   */
  moveRun(id: string, event: RunEvent, onlyIf?: (run: RunRecord) => boolean): Promise<RunRecord | undefined>;
  /** A step that failed for a passing reason: tried again after `delaySeconds`. */
  postponeStep(id: string, delaySeconds: number): Promise<RunRecord>;
  /** Marks a run as to be cancelled; the instance that performs its step sees the job's signal abort. */
  requestCancel(id: string): Promise<void>;
  markSuperseded(id: string, byNumber: number): Promise<void>;

  saveDocument<Name extends DocumentName>(
    runId: string,
    name: Name,
    value: RunDocuments[Name],
  ): Promise<void>;
  readDocument<Name extends DocumentName>(runId: string, name: Name): Promise<RunDocuments[Name] | undefined>;
  addTimeline(runId: string, entry: Omit<TimelineEntry, 'at'>): Promise<void>;
  readTimeline(runId: string): Promise<readonly TimelineEntry[]>;
  beginAttempt(
    runId: string,
    attempt: Pick<Attempt, 'number' | 'requestId' | 'workflowRunId'>,
  ): Promise<void>;
  endAttempt(runId: string, requestId: string, outcome: string): Promise<void>;
  readAttempts(runId: string): Promise<readonly Attempt[]>;

  /** The record of what one run asked of language models. `tokensPerDay` is the repository's limit for 24 hours. */
  completionLedger(
    run: Pick<RunRecord, 'id' | 'repository'>,
    limits: { readonly tokensPerDay: number | null },
  ): CompletionLedger;

  /** An approval is bound to the issue and the hash; the labeller is remembered. */
  addApproval(repositoryId: number, issue: number, requestSha256: string, by: Actor): Promise<void>;
  findApproval(repositoryId: number, issue: number, requestSha256: string): Promise<Actor | undefined>;

  /** Runner names and labels seen in workflow_job events, for "the runners seen". Newest first. */
  noteRunner(repositoryId: number, name: string, labels: readonly string[]): Promise<void>;
  seenRunners(
    repositoryId: number,
  ): Promise<readonly { readonly name: string; readonly labels: readonly string[]; readonly at: Date }[]>;

  /** For /readyz. @throws when the database does not answer */
  ping(): Promise<void>;
  /** Counts for /metrics: runs by status, deliveries by outcome, jobs by queue and state. */
  counts(): Promise<{
    readonly runs: Readonly<Record<string, number>>;
    readonly deliveries: Readonly<Record<string, number>>;
    readonly queues: Readonly<Record<string, Readonly<Record<string, number>>>>;
  }>;
}

/** What the queues call. A handler that throws is tried again with back-off; after the last try `onDead` is called. */
export interface JobHandlers {
  delivery(deliveryId: string, signal: AbortSignal): Promise<void>;
  /** One step of one ready run of this repository. At most one at a time per repository, over all instances. */
  step(repositoryId: number, signal: AbortSignal): Promise<void>;
  reconcile(signal: AbortSignal): Promise<void>;
  onDead(queue: string, data: unknown): Promise<void>;
}

/** The queues of one app instance. */
export interface Queues {
  start(handlers: JobHandlers): Promise<void>;
  /** Takes no new job, lets running ones finish for `graceSeconds`, then aborts them. They run again elsewhere. */
  stop(graceSeconds: number): Promise<void>;
  /** A reconcile job now; copies are one while one waits. */
  sendReconcile(): Promise<void>;
  /** A step job for the repository, for a run whose job was lost. */
  sendStep(repositoryId: number): Promise<void>;
}
