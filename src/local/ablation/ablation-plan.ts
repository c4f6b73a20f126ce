import { z } from 'zod';
import { GenerationRecord } from '../../model/generation-record.ts';
import { modes } from './mode-text.ts';

const Mode = z.enum(modes);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** What an ablation runs and with what: a folder holds the runs of exactly one. */
export const AblationPlan = z.strictObject({
  schema: z.literal('metainfer/ablation/v1'),
  files: z
    .array(
      z.strictObject({
        /** The engine's name in the file: no two files share it. */
        name: z.string(),
        path: z.string(),
        /** As it was when the ablation began. */
        text: z.string(),
        /** Shown to the agents in source-reference mode; absolute paths. */
        sources: z.array(z.strictObject({ path: z.string(), sha256 })),
      }),
    )
    .min(1),
  modes: z.array(Mode).min(1),
  repeats: z.int().min(1).max(100),
  model: z.strictObject({
    endpoint: z.string(),
    /** Role → model. */
    models: z.record(z.string(), z.string()),
    /** What else decides the answers, as the settings say it: temperature, seed, review, limits. */
    settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  }),
  knowledgeSha256: z.string(),
  programVersion: z.string(),
});
export type AblationPlan = z.infer<typeof AblationPlan>;

/** One run of an ablation. */
export interface AblationCell {
  readonly file: AblationPlan['files'][number];
  readonly mode: z.infer<typeof Mode>;
  /** From 1. */
  readonly repeat: number;
}

/** What a finished run leaves. */
export const AblationResult = z.strictObject({
  schema: z.literal('metainfer/ablation-run/v1'),
  file: z.string(),
  mode: Mode,
  repeat: z.int().min(1),
  /** failed: gates stayed red or attempts ran out · budget: what the run might spend was used up. */
  end: z.enum(['passed', 'failed', 'budget']),
  /** Why it did not pass, first line; null where it did. */
  reason: z.string().nullable(),
  /** Wall time that the run was worked on, all sittings together. */
  seconds: z.number().min(0),
  /** More than one: it was interrupted, and its time holds what had to be done again. */
  sittings: z.int().min(1),
  /** Null where no agent had a part. */
  record: GenerationRecord.nullable(),
});
export type AblationResult = z.infer<typeof AblationResult>;

/**
 * Every run, in the order in which they are done: all of one repeat before the next, the modes in turn first, so that
 * what changes in the course of hours (load of the endpoint, of this machine) falls on all modes alike.
 */
export function listCells(plan: AblationPlan): AblationCell[] {
  return Array.from({ length: plan.repeats }, (_, round) =>
    plan.files.flatMap((file) =>
      plan.modes.map((_, index) => ({
        file,
        mode: plan.modes[(index + round) % plan.modes.length]!,
        repeat: round + 1,
      })),
    ),
  ).flat();
}

/** What differs between the plan that a folder was begun with and this one, in words; more repeats are no difference. */
export function differencesOf(begun: AblationPlan, now: AblationPlan): string[] {
  const fields = [
    ['files', begun.files, now.files],
    ['modes', begun.modes, now.modes],
    ['language model', begun.model, now.model],
    ['knowledge', begun.knowledgeSha256, now.knowledgeSha256],
    ['version of this program', begun.programVersion, now.programVersion],
  ] as const;
  const differing = fields.flatMap(([name, before, after]) =>
    JSON.stringify(before) === JSON.stringify(after) ? [] : [name as string],
  );
  const fewer = now.repeats < begun.repeats ? [`repeats (${begun.repeats} before, ${now.repeats} now)`] : [];
  return [...differing, ...fewer];
}
