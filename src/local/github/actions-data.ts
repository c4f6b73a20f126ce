import type { Commit } from './read-commits.ts';
import type { User } from './world.ts';

/** What GitHub Actions holds for a repository. Owned by the actions routes; world.ts only makes it part of Repository. */
export interface ActionsData {
  /** Workflow files that were ever seen on the default branch, by path. */
  readonly workflows: Map<string, Workflow>;
  readonly workflowRuns: Map<number, WorkflowRun>;
  readonly artifacts: Map<number, Artifact>;
}

export interface Workflow {
  readonly id: number;
  readonly nodeId: string;
  /** .github/workflows/x.yml */
  readonly path: string;
  readonly createdAt: Date;
  state: 'active' | 'disabled_manually';
}

export type RunConclusion = 'success' | 'failure' | 'cancelled';

/** A run with its one job; the stand-in's workflows have no more. */
export interface WorkflowRun {
  readonly id: number;
  readonly nodeId: string;
  readonly checkSuiteId: number;
  /** Counts the runs of its workflow. */
  readonly number: number;
  readonly workflow: Workflow;
  readonly workflowName: string;
  /** The file's run-name with the inputs filled in. */
  readonly displayTitle: string;
  readonly headBranch: string;
  readonly headCommit: Commit;
  readonly actor: User;
  readonly inputs: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  updatedAt: Date;
  readonly job: WorkflowJob;
}

export interface WorkflowJob {
  readonly id: number;
  readonly nodeId: string;
  readonly name: string;
  readonly labels: readonly string[];
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: RunConclusion | null;
  startedAt: Date | null;
  completedAt: Date | null;
  runner: Runner | null;
  /** The runner hears of it with its next heartbeat. */
  isCancelRequested: boolean;
  /** Newest part of what the runner printed. */
  log: string;
}

/** A machine that takes jobs. */
export interface Runner {
  readonly id: number;
  readonly name: string;
  readonly labels: readonly string[];
}

export interface Artifact {
  readonly id: number;
  readonly nodeId: string;
  readonly name: string;
  readonly run: WorkflowRun;
  readonly zip: Buffer;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export function createActionsData(): ActionsData {
  return { workflows: new Map(), workflowRuns: new Map(), artifacts: new Map() };
}
