import { z } from 'zod';
import { AgentWork, type RepairFinding } from './agent-work.ts';
import { Constraints } from './constraints.ts';
import type { Spending } from './spending.ts';

/**
 * Steps of a run on one machine, in order; `diagnose` only between a failed verification and a repair, `optimize` only
 * where it is asked for. `--stop-after` takes one of these names.
 */
export const localSteps = [
  'constraints',
  'plan',
  'generate',
  'verify',
  'diagnose',
  'bench',
  'optimize',
] as const;
/** Steps of a run that came through GitHub, in order: between `dispatch` and `judge` it waits for the runner. */
export const githubSteps = [
  'constraints',
  'plan',
  'announce',
  'generate',
  'publish',
  'dispatch',
  'judge',
  'diagnose',
  'conclude',
] as const;
export type LocalStep = (typeof localSteps)[number];
export type GithubStep = (typeof githubSteps)[number];
export type RunStep = LocalStep | GithubStep;
const RunStep = z.enum([...new Set<RunStep>([...localSteps, ...githubSteps])]);

/** Why a run ended without a usable engine: for a person, never a stack trace. */
const RunFailure = z.strictObject({
  step: RunStep,
  code: z.string(),
  message: z.string(),
  /** What the person can do next. */
  next: z.string(),
});
export type RunFailure = z.infer<typeof RunFailure>;

const VerificationOutcome = z.strictObject({
  passed: z.boolean(),
  treeSha256: z.string(),
  reportPath: z.string(),
  /** Contract ids that findings name, most upstream first. */
  guilty: z.array(z.string()),
  /** Gates that are red; absent in states of earlier versions. */
  redGates: z.array(z.string()).optional(),
  /** Gates that this machine has no device for: neither red nor green. Absent where every gate could run. */
  notRun: z.array(z.string()).optional(),
  /** One line per finding, shortened. */
  findings: z.array(z.string()),
});
export type VerificationOutcome = z.infer<typeof VerificationOutcome>;

const BenchmarkOutcome = z.strictObject({
  passed: z.boolean(),
  /** Timed gates that this machine has no device for. */
  notRun: z.array(z.string()).optional(),
  /** One line per goal: met, missed or not measured, with the figures. */
  goals: z.array(z.string()),
});
export type BenchmarkOutcome = z.infer<typeof BenchmarkOutcome>;

/** What a run has left on GitHub so far; each part appears once the step that makes it is done. */
const GithubTrail = z.strictObject({
  branch: z.string(),
  baseBranch: z.string(),
  /** The engine's folder in the repository. */
  enginePath: z.string(),
  /** The commit that runners check out and that a verdict is about. */
  engineCommit: z.string(),
  pullNumber: z.int(),
  pullNodeId: z.string(),
  /** The check run on `engineCommit`. */
  checkRunId: z.int().optional(),
  requestId: z.string().optional(),
  /** Null where GitHub did not say which run a dispatch became; `run-name` carries the request id. */
  workflowRunId: z.int().nullable().optional(),
  workflowConclusion: z.string().optional(),
});
export type GithubTrail = z.infer<typeof GithubTrail>;

/** unverified: nothing failed, and gates that need a device had none. */
const endings = ['passed', 'failed', 'unverified', 'cancelled', 'superseded'] as const;
const runStatuses = ['running', 'waiting', ...endings] as const;

/** Everything a run needs to be taken up again by another process. Serialises to JSON without loss. */
export const RunState = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  status: z.enum(runStatuses),
  /** The step that runs next; null while the run waits and once it has ended. */
  next: RunStep.nullable(),
  waitingFor: z.enum(['approval', 'workflow']).optional(),
  /** How the run ends once `conclude` has said so on GitHub. */
  ending: z.enum(endings).optional(),
  /** Plan only: generation waits for somebody who is allowed to ask for it. */
  holdAfterPlan: z.boolean().optional(),
  github: GithubTrail.optional(),
  /** What the engine is timed beside. */
  baseline: z.enum(['llama.cpp', 'none']).optional(),
  input: z.strictObject({
    fileName: z.string(),
    text: z.string(),
    origin: z.enum(['command-line', 'github']),
  }),
  folder: z.string(),
  constraints: Constraints.optional(),
  constraintsSha256: z.string().optional(),
  /** Hash of the plan's bytes: the plan itself is made again, and must come out the same. */
  planSha256: z.string().optional(),
  engineTreeSha256: z.string().optional(),
  /** Only where agents write something. */
  agents: AgentWork.optional(),
  attempt: z.int().min(0),
  /** Time that steps took, all sittings together; only where one process drives the run. */
  wallSeconds: z.number().min(0).optional(),
  /** How often the run was taken up again after it had ended. */
  retries: z.int().min(0).optional(),
  verification: VerificationOutcome.optional(),
  benchmark: BenchmarkOutcome.optional(),
  failure: RunFailure.optional(),
});
export type RunState = z.infer<typeof RunState>;

/** What happened; the only way a run moves. */
export type RunEvent =
  | { readonly type: 'constraints-accepted'; readonly constraints: Constraints; readonly sha256: string }
  | {
      readonly type: 'plan-made';
      readonly sha256: string;
      readonly missing: readonly string[];
      /** Absent where no agent is needed. */
      readonly agents?: AgentWork;
    }
  /** One attempt of an agent at the contract that `nextContract` names. */
  | {
      readonly type: 'contract-attempted';
      readonly contract: string;
      /** refused: no usable answer · accepted: nothing known against the file · rejected: see the findings. */
      readonly outcome: 'accepted' | 'rejected' | 'refused';
      readonly findings: readonly RepairFinding[];
      readonly objections: readonly RepairFinding[];
      /** Null where there is no new file. */
      readonly fileSha256: string | null;
      readonly spent: Spending;
      /** The budget is used up: no further attempt at anything. */
      readonly stop: { readonly reason: string; readonly message: string } | null;
    }
  /** The engine's files are put together, from the phases finished so far where not complete. */
  | { readonly type: 'engine-generated'; readonly treeSha256: string; readonly isComplete: boolean }
  /** After a failed verification: which contracts are to be repaired, likeliest first, and what their agents are told. */
  | {
      readonly type: 'diagnosed';
      readonly suspects: readonly string[];
      readonly findings: readonly RepairFinding[];
      readonly spent: Spending;
    }
  /** One proposal of the optimizer, kept or dropped; a kept one comes with what verification and benchmark said of it. */
  | {
      readonly type: 'optimized';
      readonly kept: {
        readonly contract: string;
        /** Of the file that replaced the contract's earlier one. */
        readonly fileSha256: string;
        readonly treeSha256: string;
        readonly verification: VerificationOutcome;
        readonly benchmark: BenchmarkOutcome;
      } | null;
      readonly spent: Spending;
      /** Nothing further is worth trying. */
      readonly isLast: boolean;
    }
  /** A person asks for a repair of an engine that a run of agents made. */
  | { readonly type: 'fix-requested'; readonly findings: readonly RepairFinding[] }
  | { readonly type: 'verified'; readonly outcome: VerificationOutcome }
  | { readonly type: 'benchmarked'; readonly outcome: BenchmarkOutcome }
  | { readonly type: 'announced'; readonly needsApproval: boolean }
  | { readonly type: 'approved' }
  | { readonly type: 'published'; readonly trail: GithubTrail }
  | {
      readonly type: 'dispatched';
      readonly requestId: string;
      readonly workflowRunId: number | null;
      readonly checkRunId: number;
    }
  | { readonly type: 'workflow-ended'; readonly workflowRunId: number; readonly conclusion: string }
  | {
      readonly type: 'judged';
      readonly verification: VerificationOutcome;
      /** Null where the engine failed a gate, or had no device, and was not timed. */
      readonly benchmark: BenchmarkOutcome | null;
    }
  | { readonly type: 'concluded' }
  /** Takes an ended run up again: from the dispatch where the engine is published, else from the start. */
  | { readonly type: 'retried'; readonly baseline?: 'llama.cpp' | 'none' }
  | { readonly type: 'step-failed'; readonly code: string; readonly message: string }
  | { readonly type: 'cancelled' }
  | { readonly type: 'superseded' };

/** What the caller must do next; each ends in exactly one event. */
export type RunEffect =
  | { readonly type: 'perform'; readonly step: RunStep }
  | { readonly type: 'announce-end' };
