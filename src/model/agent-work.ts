import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Spending, SpendingLimits } from './spending.ts';

/** What tells an agent that its work is wrong. Made by gates, by static rules, by the reviewer, or by a person. */
export const RepairFinding = z.strictObject({
  contract: z.string(),
  /** A gate of DESIGN §6, `answer` (no usable answer), `review` (the reviewer's), `person` (a comment). */
  source: z.string(),
  file: z.string().nullable(),
  line: z.int().min(1).nullable(),
  message: z.string().max(4000),
  expected: z.string().max(1000).nullable(),
  got: z.string().max(1000).nullable(),
  /** The statement of the contract that it breaks, in the contract's own words. */
  clause: z.string().max(1000).nullable(),
});
export type RepairFinding = z.infer<typeof RepairFinding>;

const ContractWork = z.strictObject({
  contract: z.string(),
  phase: z.string(),
  /** open: to be written · accepted: nothing known against it · failed: attempts used up · stopped: budget or refusal. */
  status: z.enum(['open', 'accepted', 'failed', 'stopped']),
  /** In this round. */
  attempts: z.int().min(0),
  /** In the whole run. */
  totalAttempts: z.int().min(0),
  /** What the next attempt is told; newest attempt's findings only. */
  findings: z.array(RepairFinding).max(12),
  /** Objections of the reviewer that stayed while the gates were green. */
  objections: z.array(RepairFinding).max(12),
  /** SHA-256 of the newest file; null before the first. */
  fileSha256: z.string().nullable(),
});
export type ContractWork = z.infer<typeof ContractWork>;

/** The agents' part of a run's state. */
export const AgentWork = z.strictObject({
  /** In dependency order; those of one phase stand together. */
  contracts: z.array(ContractWork),
  /** Names of the phases whose files are published (GitHub) or composed. */
  publishedPhases: z.array(z.string()),
  /** Whole-engine verification rounds begun. */
  round: z.int().min(0),
  limits: z.strictObject({
    attemptsPerContract: z.int().min(1),
    rounds: z.int().min(1),
    optimizations: z.int().min(0),
    spending: SpendingLimits,
  }),
  spent: Spending,
  /** Tried so far, kept or dropped. */
  optimizations: z.int().min(0),
  /** Why no more is done. */
  stop: z
    .strictObject({ reason: z.string(), contract: z.string().nullable(), message: z.string() })
    .nullable(),
});
export type AgentWork = z.infer<typeof AgentWork>;

/** A file that an agent wrote. */
export const AgentFile = z
  .strictObject({
    contract: z.string(),
    /** Within the engine folder. */
    path: z.string().regex(/^[a-z0-9_]+\.(?:cpp|cu)$/),
    text: z.string(),
    sha256: z.string(),
    origin: z.strictObject({
      model: z.string(),
      /** Of the prompt with its settings: finds the call in the record. */
      requestSha256: z.string(),
      attempt: z.int().min(1),
    }),
  })
  // A state names a version by its hash: under that name no other text may come in.
  .refine(({ text, sha256 }) => createHash('sha256').update(text).digest('hex') === sha256, {
    message: 'its text is not the one that it was saved with',
    path: ['sha256'],
  });
export type AgentFile = z.infer<typeof AgentFile>;

/** One attempt at one contract, for the record. */
export const ContractAttempt = z.strictObject({
  contract: z.string(),
  phase: z.string(),
  round: z.int().min(1),
  number: z.int().min(1),
  outcome: z.enum(['accepted', 'rejected', 'refused']),
  /** A gate, `answer`, `review` or `person`, each once; empty where accepted. */
  rejectedBy: z.array(z.string()),
  /**
   * Sources of the findings that the agent was told, each once: they name the gate that rejected the text before, also
   * one that saw the whole engine. Absent in records of earlier versions.
   */
  told: z.array(z.string()).optional(),
  seconds: z.number().min(0),
  calls: z.int().min(0),
  lines: z.int().min(0),
});
export type ContractAttempt = z.infer<typeof ContractAttempt>;

/** What was said of the text of one attempt, in full: a lesson is drawn from it once the run is over. */
export const AttemptAccount = z.strictObject({
  contract: z.string(),
  round: z.int().min(1),
  number: z.int().min(1),
  /** Null where no file came. */
  fileSha256: z.string().nullable(),
  /** What the agent was told before it wrote: about its text before, also by gates of the whole engine. */
  told: z.array(RepairFinding).max(12),
  /** What its own text was rejected for. */
  findings: z.array(RepairFinding).max(12),
  /** Places where the reviewer found that the contract says nothing. */
  unstated: z.array(z.strictObject({ clause: z.string().max(200), reason: z.string().max(1000) })).max(50),
});
export type AttemptAccount = z.infer<typeof AttemptAccount>;

/** One proposal of the optimizer and what became of it. */
export const OptimizationAttempt = z.strictObject({
  contract: z.string(),
  number: z.int().min(1),
  outcome: z.enum(['kept', 'dropped']),
  /** Why it was dropped: `gate <name>`, `no improvement beyond the spread`, `no usable answer`; null where kept. */
  reason: z.string().nullable(),
  /** Speed against the engine before, interleaved in one run (> 1 is faster), with half the width of its 95 % interval; null where it was not timed. */
  ratio: z.number().nullable(),
  spread: z.number().nullable(),
  metric: z.string(),
});
export type OptimizationAttempt = z.infer<typeof OptimizationAttempt>;

/**
 * What agents made in one run, beside its state. It only grows: a step that is done again after a crash must see what it
 * saw before, and `fileSha256` of the state, not the order here, says which version of a file counts.
 */
export const AgentPapers = z.strictObject({
  /** Every version of every file. */
  versions: z.array(AgentFile),
  attempts: z.array(ContractAttempt),
  /** One for each attempt; absent in papers of earlier versions. */
  accounts: z.array(AttemptAccount).optional(),
  optimizations: z.array(OptimizationAttempt),
});
export type AgentPapers = z.infer<typeof AgentPapers>;

/** Whether all contracts of the phase are settled: none is to be written any more. */
export function isPhaseSettled(work: AgentWork, phase: string): boolean {
  return work.contracts.every((entry) => entry.phase !== phase || entry.status !== 'open');
}

/** What the next step of generation is about; undefined where nothing is open. */
export function nextContract(work: AgentWork): ContractWork | undefined {
  return work.stop === null ? work.contracts.find(({ status }) => status === 'open') : undefined;
}

export const noPapers: AgentPapers = { versions: [], attempts: [], optimizations: [] };

/** The versions that count, by contract. */
export function currentFiles(work: AgentWork, papers: AgentPapers): ReadonlyMap<string, AgentFile> {
  const entries = work.contracts.flatMap(({ contract, fileSha256 }) => {
    const file = papers.versions.find(
      (version) => version.contract === contract && version.sha256 === fileSha256,
    );
    return file === undefined ? [] : [[contract, file] as const];
  });
  return new Map(entries);
}

/** The papers with one more attempt and, where there is one, its file; the same attempt again changes nothing. */
export function keepAttempt(
  papers: AgentPapers,
  attempt: ContractAttempt,
  file: AgentFile | null,
  account?: AttemptAccount,
): AgentPapers {
  const isSame = (other: ContractAttempt | AttemptAccount): boolean =>
    other.contract === attempt.contract && other.round === attempt.round && other.number === attempt.number;
  const hasFile =
    file === null ||
    papers.versions.some(({ contract, sha256 }) => contract === file.contract && sha256 === file.sha256);
  return {
    ...papers,
    versions: hasFile ? papers.versions : [...papers.versions, file],
    attempts: [...papers.attempts.filter((other) => !isSame(other)), attempt],
    ...(account === undefined
      ? {}
      : { accounts: [...(papers.accounts ?? []).filter((other) => !isSame(other)), account] }),
  };
}
