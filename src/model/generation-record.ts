import { z } from 'zod';
import { ContractAttempt, OptimizationAttempt } from './agent-work.ts';
import { Spending } from './spending.ts';

/** `generation` of report.json: how the engine's files came to be. Figures of the run, none of the engine. */
export const GenerationRecord = z.strictObject({
  mode: z.enum(['knowledge-first', 'zero-reference', 'source-reference']),
  /** Role → model. Empty where no model was asked. */
  models: z.record(z.string(), z.string()),
  /** Endpoint's host; `scripted` where a test double said so of itself. */
  endpoint: z.string().nullable(),
  /** False for a test double and for file drop: then no rate may be derived from these figures. */
  isRealModel: z.boolean(),
  seconds: z.number().min(0),
  spent: Spending,
  byRole: z.record(z.string(), Spending),
  byPhase: z.record(z.string(), Spending),
  byContract: z.record(z.string(), Spending),
  attempts: z.array(ContractAttempt),
  /**
   * Contracts whose first text was accepted and that no gate rejected later, of those that agents wrote; null where no
   * real model was asked.
   */
  firstPass: z.strictObject({ accepted: z.int().min(0), contracts: z.int().min(0) }).nullable(),
  /** Gate (or `answer`, `review`, `person`) → texts it rejected, also one that was accepted before the whole engine ran. */
  rejections: z.record(z.string(), z.int().min(0)),
  /** From a contract's failing gate to its next acceptance: time and calls of the attempts between, once per gate. */
  repairs: z.array(
    z.strictObject({
      contract: z.string(),
      gate: z.string(),
      seconds: z.number().min(0),
      calls: z.int().min(0),
    }),
  ),
  linesByAgents: z.int().min(0),
  linesTotal: z.int().min(0),
  /** Share of an agent file's fingerprints found in a reference (winnowing), the nearest reference of each kind for each file. */
  similarity: z.array(
    z.strictObject({
      file: z.string(),
      nearest: z.string(),
      kind: z.enum(['realization', 'source-reference']),
      share: z.number().min(0).max(1),
    }),
  ),
  optimizations: z.array(OptimizationAttempt),
});
export type GenerationRecord = z.infer<typeof GenerationRecord>;
