import type { PartEvidence } from './coverage.ts';

/** What there is to say about one contract: for a person who asks, and for a page. */
export interface ContractAccount {
  readonly id: string;
  readonly version: string;
  readonly layer: string;
  readonly summary: string;
  /** From the root of the repository. */
  readonly folder: string;
  /** In words: `model.norm = rms`; empty where it always applies. */
  readonly appliesWhen: readonly string[];
  readonly isHeaderOnly: boolean;
  /** As in the header. */
  readonly signatures: readonly string[];
  readonly requires: readonly string[];
  readonly requiredBy: readonly { readonly contract: string; readonly by: 'contract' | readonly string[] }[];
  readonly realizations: readonly RealizationAccount[];
  /** Names of gates, and how many cases gate.yaml has; null without one. */
  readonly gates: readonly string[];
  readonly unitCases: number | null;
  readonly invariants: readonly { readonly id: string; readonly says: string; readonly gate: string }[];
  readonly failureModes: readonly { readonly id: string; readonly title: string; readonly symptom: string }[];
  /** What is not there, one sentence each. */
  readonly gaps: readonly string[];
  readonly sources: readonly string[];
}

export interface RealizationAccount {
  readonly file: string;
  readonly applies: readonly string[];
  readonly requires: readonly string[];
  readonly replaces: readonly string[];
  readonly fuses: readonly string[];
  /** For each platform, arch and format that a cell of the matrix uses it on. */
  readonly evidence: readonly PartEvidence[];
}
