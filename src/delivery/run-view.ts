import type { Permission } from '../model/github.ts';
import type { Plan } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import type { Attempt, RunDocuments, RunRecord, TimelineEntry } from '../model/run-record.ts';

/** Absolute URLs; null where there is nothing to link to (yet). */
export interface RunLinks {
  /** The run's page of the dashboard. */
  readonly dashboard: string | null;
  /** The issue or pull request that asked for the run. */
  readonly source: string | null;
  /** The engine's pull request. */
  readonly pull: string | null;
  /** The workflow run of the attempt at hand. */
  readonly workflow: string | null;
  /** SVG files that the app serves. A link to a private or local host is no use in a comment: leave it out then. */
  readonly plots: { readonly speed?: string };
}

export interface SeenRunner {
  readonly name: string;
  readonly labels: readonly string[];
}

/** A job that no runner has taken up for long enough that somebody must be told. */
export interface QueueView {
  /** Labels that the job asks for; a runner needs all of them. */
  readonly labels: readonly string[];
  readonly waitingMinutes: number;
  /** Runners of this repository seen before, newest first. */
  readonly seenRunners: readonly SeenRunner[];
}

/** What the run's job asks of a runner, and whether one that took a job here lately has it. */
export interface RunnerNeed {
  readonly labels: readonly string[];
  readonly isServed: boolean;
  /** Runners of this repository seen before, newest first. */
  readonly seenRunners: readonly SeenRunner[];
}

/** All that a text about a run can draw on. Everything in it that came from outside is still raw: the texts escape it. */
export interface RunView {
  readonly run: RunRecord;
  readonly plan?: Plan;
  /** Markdown of `renderPlan`. */
  readonly planText?: string;
  /** Only where the report was accepted. */
  readonly report?: Report;
  readonly problems?: RunDocuments['problems'];
  /** As published. */
  readonly engine?: RunDocuments['engine'];
  /** As the runner of the newest judgement calls itself. */
  readonly runner?: RunDocuments['result']['runner'];
  /** Tail of the harness's log. */
  readonly log?: RunDocuments['log'];
  readonly timeline: readonly TimelineEntry[];
  readonly attempts: readonly Attempt[];
  readonly links: RunLinks;
  /** Number of the run of this repository that must end first; null where it is this run's turn. */
  readonly waitingBehind: number | null;
  readonly queue: QueueView | null;
  /** Only before a runner has the job. */
  readonly need?: RunnerNeed;
  /** Passed, and the branch has commits since (or is gone) that nobody verified. */
  readonly isBranchMoved?: boolean;
  /** Judged and red, and the model that wrote what is wrong is to try again. */
  readonly isRepairing?: boolean;
  /** Least permission that may let a run past its plan, from the repository's settings; absent: write. */
  readonly approvalFrom?: Permission | 'anyone';
  /** Tokens that the repository spends without asking, where the plan expects more. */
  readonly autoApproveTokens?: number;
}

/** `name` of the constraint file once it is read, else the run by its number. */
export function engineName(view: RunView): string {
  return view.run.state.constraints?.name ?? `run ${view.run.number}`;
}
