import { z } from 'zod';

/** One hand-made mistake in a realization, as people really make it. */
export const SabotageEntry = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  says: z.string().min(10),
  contract: z.string(),
  /** File under realizations/, or the header of a contract that is all header. */
  realization: z.string(),
  /** Exact text, found once each; all are changed together. */
  edits: z.array(z.strictObject({ find: z.string().min(1), replace: z.string() })).min(1),
  /** Name of the checkpoint that the engine is made for (a folder of the sabotage checkpoints). */
  checkpoint: z.string(),
  /** Other contracts that may rightly be named: two mistakes can be the same function. */
  also: z.array(z.string()).default([]),
  /** Weight format, where it isn't bf16. */
  weights: z.enum(['f32', 'bf16', 'f16']).default('bf16'),
});
export type SabotageEntry = z.infer<typeof SabotageEntry>;

/** Survivors of mechanical mutation whose program means the same, or that no gate can see: with the reason. */
export const EquivalentEntry = z.strictObject({
  contract: z.string(),
  realization: z.string(),
  /** Matches `original → replacement` on a line holding this text. */
  line: z.string().min(1),
  reason: z.string().min(10),
});
export type EquivalentEntry = z.infer<typeof EquivalentEntry>;

export const SabotageFile = z.strictObject({
  /** Of the engines that are made. */
  platform: z.enum(['cpu-x86_64', 'cuda']).default('cpu-x86_64'),
  /** Small models to make engines for: a config.json with random weights, or a folder of this repository. */
  checkpoints: z.record(
    z.string(),
    z.union([
      z.strictObject({ config: z.record(z.string(), z.unknown()) }),
      z.strictObject({ path: z.string() }),
    ]),
  ),
  mutations: z.array(SabotageEntry).min(1),
  equivalent: z.array(EquivalentEntry),
});
export type SabotageFile = z.infer<typeof SabotageFile>;
