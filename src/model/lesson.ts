import { z } from 'zod';
import type { AgentFile, AgentPapers } from './agent-work.ts';
import type { Catalog, SelectedContract } from './catalog.ts';
import type { Constraints } from './constraints.ts';
import { type Contract, Evidence } from './contract.ts';
import type { FileProvenance } from './engine.ts';
import type { ModelFacts } from './model-facts.ts';
import { MeasuredDevice } from './platform-facts.ts';
import type { Report } from './report.ts';
import { SabotageEntry } from './sabotage.ts';
import type { Target } from './target.ts';

/** Below knowledge/, without a way out of it. */
const path = z.string().regex(/^(?:[a-z0-9][a-z0-9._-]*\/)*[A-Za-z0-9][A-Za-z0-9._-]*$/);

/**
 * One change of knowledge, said so that it can still be made after somebody else changed the same file. Whole texts
 * come from `toCommits` in src/evolution.
 */
export const KnowledgeEdit = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), path, text: z.string() }),
  z.strictObject({ kind: z.literal('delete'), path }),
  z.strictObject({ kind: z.literal('add-evidence'), path, entry: Evidence }),
  /** Every entry of a realization that goes. */
  z.strictObject({ kind: z.literal('drop-evidence'), path, realization: z.string() }),
  /** One more reference of a failure mode. */
  z.strictObject({ kind: z.literal('add-reference'), path, reference: z.string().min(1) }),
  z.strictObject({ kind: z.literal('add-mutation'), path, entry: SabotageEntry }),
  /** A small model of sabotage.yaml, for a mutation that no other one reaches. */
  z.strictObject({
    kind: z.literal('add-checkpoint'),
    path,
    name: z.string(),
    config: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({ kind: z.literal('add-model'), path, entry: z.record(z.string(), z.unknown()) }),
  z.strictObject({ kind: z.literal('add-measurement'), path, entry: MeasuredDevice }),
  /** A statement at the end of a contract's Edges, and the version that it makes. */
  z.strictObject({ kind: z.literal('clarify'), path, statement: z.string().min(1) }),
]);
export type KnowledgeEdit = z.infer<typeof KnowledgeEdit>;

export const lessonKinds = [
  'new-realization',
  'better-realization',
  'more-evidence',
  'failure-mode',
  'known-failure-mode',
  'model-fact',
  'platform-fact',
  'clarification',
] as const;

/** What a run taught: one commit of a knowledge pull request. Kept with the pull request, so that later runs can join it. */
export const Lesson = z.strictObject({
  kind: z.enum(lessonKinds),
  /** Null where it is about no contract. */
  contract: z.string().nullable(),
  /** Two lessons with the same key teach the same thing. */
  key: z.string(),
  /** One line of plain text. */
  title: z.string(),
  /** Markdown for a person, escaped already: what it is and why it is believed. */
  says: z.string(),
  /** Subject, blank line, figures, device and command. */
  commit: z.string(),
  /** The run that taught it. */
  run: z.string(),
  edits: z.array(KnowledgeEdit).min(1),
});
export type Lesson = z.infer<typeof Lesson>;

/** Everything of a finished run that lessons are drawn from. Nothing in it is trusted but knowledge and the report. */
export interface Learnt {
  readonly run: { readonly id: string; readonly engine: string };
  readonly constraints: Constraints;
  readonly facts: ModelFacts;
  /** config.json as it was read. */
  readonly modelConfig: Readonly<Record<string, unknown>>;
  readonly target: Target;
  /** Targets on which all gates were green with these files; the run's own target is always among them. */
  readonly confirmed: readonly Target[];
  readonly selection: readonly SelectedContract[];
  /** Contract → the file that the verdict is about. */
  readonly files: ReadonlyMap<string, AgentFile>;
  /** Of the engine's files, as its provenance.yaml has it: which texts of contracts and gates they were judged by. */
  readonly provenance: readonly FileProvenance[];
  readonly papers: AgentPapers;
  /** Null where the run ended before it was verified. */
  readonly report: Report | null;
  readonly catalog: Catalog;
  /** Path below knowledge/ → text. */
  readonly knowledge: ReadonlyMap<string, string>;
  /** Targets of the small models of sabotage.yaml. */
  readonly checkpoints: readonly SabotageTarget[];
  /** The realization that the planner takes for a target. */
  readonly choose: (contract: Contract, target: Target) => string | undefined;
}

export interface SabotageTarget {
  readonly checkpoint: string;
  readonly weights: SabotageEntry['weights'];
  readonly target: Target;
}
