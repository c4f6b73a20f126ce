import type { AgentPapers } from './agent-work.ts';
import type { Actor, RepositoryRef } from './github.ts';
import type { Plan } from './plan.ts';
import type { Problem } from './problem.ts';
import type { Report } from './report.ts';
import type { RunnerResult } from './result.ts';
import type { RunState } from './run.ts';

/** Where a run was asked for: an issue's body, or a constraint file of a pull request. */
export interface RunSource {
  readonly kind: 'issue' | 'pull';
  readonly number: number;
  /** Path of the constraint file in the repository; null for an issue. */
  readonly path: string | null;
  /** 1-based line of the issue body where the constraint text begins; 1 for a file. */
  readonly firstLine: number;
}

/** A run of the app with everything that isn't the state machine's business. */
export interface RunRecord {
  readonly id: string;
  /** Counts up over all repositories; people say "run 12". Order within a repository. */
  readonly number: number;
  readonly repository: RepositoryRef;
  readonly source: RunSource;
  readonly requestedBy: Actor;
  readonly state: RunState;
  /** Failed tries of the step at hand, and when the next one may start. */
  readonly stepFailures: number;
  readonly notBefore: Date | null;
  readonly isCancelRequested: boolean;
  /** The newer run that took this one's place. */
  readonly supersededBy: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly finishedAt: Date | null;
}

/** Larger things that belong to a run, kept beside its state. Names are the keys of the store's documents. */
export interface RunDocuments {
  readonly plan: Plan;
  readonly problems: { readonly problems: readonly Problem[]; readonly notCovered: readonly string[] };
  readonly report: Report;
  readonly result: RunnerResult;
  /** The generated files by path within the engine folder, as published. */
  readonly engine: {
    readonly files: readonly { readonly path: string; readonly text: string }[];
    /** Phases of the agents' work that these files bring; absent where no agent wrote anything. */
    readonly phases?: readonly string[];
  };
  readonly agents: AgentPapers;
  /** Tail of the harness's log. */
  readonly log: { readonly text: string };
}
export type DocumentName = keyof RunDocuments;

export const timelineKinds = ['step', 'github', 'runner', 'person', 'problem'] as const;

/** One line of a run's history, for its page and its comments. */
export interface TimelineEntry {
  readonly at: Date;
  readonly kind: (typeof timelineKinds)[number];
  readonly text: string;
  readonly url: string | null;
}

/** One dispatch of a run and what came of it. */
export interface Attempt {
  readonly number: number;
  readonly requestId: string;
  readonly workflowRunId: number | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  /** One phrase: passed, failed: <gate>, report rejected, cancelled. */
  readonly outcome: string | null;
}
