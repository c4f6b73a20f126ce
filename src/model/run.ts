import { z } from 'zod';
import { Constraints } from './constraints.ts';

/** Steps of a run in order; `--stop-after` takes one of these names. */
export const runSteps = ['constraints', 'plan', 'generate', 'verify', 'bench'] as const;
export type RunStep = (typeof runSteps)[number];

/** Why a run ended without a usable engine: for a person, never a stack trace. */
const RunFailure = z.strictObject({
  step: z.enum(runSteps),
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
  /** One line per finding, shortened. */
  findings: z.array(z.string()),
});
export type VerificationOutcome = z.infer<typeof VerificationOutcome>;

const BenchmarkOutcome = z.strictObject({
  passed: z.boolean(),
  /** One line per goal: met, missed or not measured, with the figures. */
  goals: z.array(z.string()),
});
export type BenchmarkOutcome = z.infer<typeof BenchmarkOutcome>;

/** Everything a run needs to be taken up again by another process. Serialises to JSON without loss. */
export const RunState = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  status: z.enum(['running', 'passed', 'failed', 'cancelled']),
  /** The step that runs next; null once the run has ended. */
  next: z.enum(runSteps).nullable(),
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
  attempt: z.int().min(0),
  verification: VerificationOutcome.optional(),
  benchmark: BenchmarkOutcome.optional(),
  failure: RunFailure.optional(),
});
export type RunState = z.infer<typeof RunState>;

/** What happened; the only way a run moves. */
export type RunEvent =
  | { readonly type: 'constraints-accepted'; readonly constraints: Constraints; readonly sha256: string }
  | { readonly type: 'plan-made'; readonly sha256: string; readonly missing: readonly string[] }
  | { readonly type: 'engine-generated'; readonly treeSha256: string }
  | { readonly type: 'verified'; readonly outcome: VerificationOutcome }
  | { readonly type: 'benchmarked'; readonly outcome: BenchmarkOutcome }
  | { readonly type: 'step-failed'; readonly code: string; readonly message: string }
  | { readonly type: 'cancelled' };

/** What the caller must do next; each ends in exactly one event. */
export type RunEffect =
  | { readonly type: 'perform'; readonly step: RunStep }
  | { readonly type: 'announce-end' };
