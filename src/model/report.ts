import { z } from 'zod';
import { GenerationRecord } from './generation-record.ts';

/** Gates in the order in which they run. */
export const gateNames = [
  'static',
  'build',
  'ledger',
  'unit',
  'trace',
  'logits',
  'edges',
  'equivalence',
  'text',
  'determinism',
  'bench',
  'physics',
] as const;
export const GateName = z.enum(gateNames);
export type GateName = z.infer<typeof GateName>;

/** They need a clock; all others are correctness gates. */
export const timedGates: ReadonlySet<GateName> = new Set(['bench', 'physics']);

/** One failure with its place. `contract` and `file` are null where the failure belongs to no single one. */
export const Finding = z.strictObject({
  gate: GateName,
  contract: z.string().nullable(),
  /** Relative to the engine folder. */
  file: z.string().nullable(),
  line: z.int().min(1).nullable(),
  message: z.string().max(4000),
  /** Figures and places that prove it, flat. */
  evidence: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
export type Finding = z.infer<typeof Finding>;

export const Measurements = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
export type Measurements = z.infer<typeof Measurements>;

export const GateResult = z.strictObject({
  gate: GateName,
  /**
   * skipped: an earlier gate failed that it depends on · not-applicable: the engine has no such part · not-run: this
   * machine lacks what the gate needs (a GPU), so it says nothing at all.
   */
  status: z.enum(['passed', 'failed', 'skipped', 'not-applicable', 'not-run']),
  /** Where the code under test ran: emulation shows that the arithmetic is right and nothing else. Absent: host. */
  ranOn: z.enum(['host', 'device', 'emulation']).optional(),
  /** Why it did not run; null where it did. */
  reason: z.string().nullable(),
  seconds: z.number().min(0),
  findings: z.array(Finding),
  measurements: Measurements,
});
export type GateResult = z.infer<typeof GateResult>;

export const GoalVerdict = z.strictObject({
  metric: z.string(),
  /** As the person wrote it. */
  written: z.string(),
  status: z.enum(['met', 'missed', 'not-measured']),
  measured: z.number().nullable(),
  /** The baseline's figure, where the goal is relative. */
  baseline: z.number().nullable(),
  note: z.string().nullable(),
});
export type GoalVerdict = z.infer<typeof GoalVerdict>;

/** not-run-on-device: nothing failed, but the gates that need a GPU had none. */
export const VerdictOutcome = z.enum(['passed', 'failed', 'not-run-on-device']);
export type VerdictOutcome = z.infer<typeof VerdictOutcome>;

/** The GPU that ran the engine, as its driver names it. */
export const ReportDevice = z.strictObject({
  name: z.string(),
  driver: z.string(),
  /** e.g. 9.0 for sm_90. */
  computeCapability: z.string(),
  memoryBytes: z.number().min(0),
});
export type ReportDevice = z.infer<typeof ReportDevice>;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** report.json of a verified engine: everything that another machine needs to repeat it, and what came out. */
export const Report = z.strictObject({
  schema: z.literal('metainfer/report/v1'),
  engine: z.strictObject({
    name: z.string(),
    /** Over every file of the engine folder but report.json and README.md; the verdict is bound to it. */
    treeSha256: sha256,
    lineCount: z.int().min(0),
  }),
  verdict: VerdictOutcome,
  goals: z.array(GoalVerdict),
  gates: z.array(GateResult),
  inputs: z.strictObject({
    constraintsSha256: sha256,
    weights: z.strictObject({
      source: z.string(),
      sha256,
      /** full: over all bytes · sampled: headers, sizes and blocks spread over each file. */
      method: z.enum(['full', 'sampled']),
      bytes: z.number().min(0),
    }),
    /** Prompts, ids and seeds are drawn from it. */
    runSeed: z.int().min(0),
  }),
  environment: z.strictObject({
    compiler: z.string(),
    compilerFlags: z.array(z.string()),
    cpu: z.string(),
    cpuFlags: z.array(z.string()),
    cores: z.int().min(1),
    memoryBytes: z.number().min(0),
    /** Of a CUDA engine: its compiler and flags, and the GPU; device is null where there was none. */
    cuda: z
      .strictObject({
        compiler: z.string(),
        flags: z.array(z.string()),
        device: ReportDevice.nullable(),
      })
      .optional(),
    kernel: z.string(),
    node: z.string(),
    protection: z.strictObject({
      sandbox: z.enum(['bubblewrap', 'none']),
      reason: z.string(),
      limits: z.array(z.string()),
    }),
  }),
  /** src/model/benchmark.ts describes it; null where bench did not run. */
  benchmark: z.unknown(),
  /** How agents made the engine; written by whoever drove the run, absent where no agent was asked. */
  generation: GenerationRecord.optional(),
  /** The command that repeats this report. */
  repeat: z.string(),
  startedAt: z.string(),
  seconds: z.number().min(0),
});
export type Report = z.infer<typeof Report>;
