import type { Report } from './report.ts';
import type { Target } from './target.ts';

/** From best to worst. */
export const coverageStates = ['verified', 'composed', 'agents only', 'missing'] as const;
export type CoverageState = (typeof coverageStates)[number];

/** What each state promises, for a legend. */
export const coverageMeaning: Readonly<Record<CoverageState, string>> = {
  verified:
    'composed without a model; every part, and every feature of the row, was in a passed run that the printed command repeats',
  composed: 'composed without a model, but not every part has a passed run behind it that anyone can repeat',
  'agents only': 'the contracts are there, and agents write what no realization fills',
  missing: 'no engine can be made: a contract, a platform or a format is missing',
};

export const evidenceStates = [
  'repeatable',
  'command missing',
  'emulated',
  'not passed',
  'report missing',
  'stale',
  'for another target',
  'on another arch',
  'absent',
] as const;
/** What stands behind one realization, from best to worst. Only `repeatable` counts. */
export type EvidenceState = (typeof evidenceStates)[number];

/** The evidence of one realization for one platform, arch and format of weights. */
export interface PartEvidence {
  readonly contract: string;
  readonly realization: string;
  readonly platform: string;
  readonly arch: string;
  readonly weights: string;
  readonly state: EvidenceState;
  /** One sentence: which run, or what keeps the entry from counting. */
  readonly says: string;
  /** File under knowledge/reports; null where there is none. */
  readonly report: string | null;
  /** Commands that repeat the run, in order; empty unless repeatable. */
  readonly repeat: readonly string[];
}

export interface CoverageCell {
  readonly platform: string;
  readonly weights: string;
  /** The arch with the best state; all archs of the platform were looked at. Null where the platform has none. */
  readonly arch: string | null;
  readonly state: CoverageState;
  /** One sentence: why not better. */
  readonly says: string;
  /** Contracts without a realization, each with the reason. */
  readonly open: readonly { readonly contract: string; readonly reason: string }[];
  /** Keys of `parts` of the matrix: one for each realization of this engine. */
  readonly parts: readonly string[];
  /** Commands that repeat the runs behind the cell; empty unless it is verified. */
  readonly repeat: readonly string[];
}

export interface CoverageRow {
  /** Family and the features that decide, e.g. `llama: tied head, RoPE llama3, tokenizer llama3`. */
  readonly name: string;
  readonly family: string;
  readonly features: readonly string[];
  /** Known models that are this row; empty for a combination that no known model has. */
  readonly models: readonly string[];
  readonly cells: readonly CoverageCell[];
}

export interface CoverageMatrix {
  readonly catalogSha256: string;
  readonly columns: readonly { readonly platform: string; readonly weights: string }[];
  readonly rows: readonly CoverageRow[];
  readonly counts: Readonly<Record<CoverageState, number>>;
  readonly parts: Readonly<Record<string, PartEvidence>>;
}

/** A report under knowledge/reports. */
export interface KeptReport {
  readonly file: string;
  readonly sha256: string;
  /** Absent where the file is no report of this program. */
  readonly report: Report | undefined;
}

/** A constraint file under knowledge/examples: what a run of it is about. */
export interface ExampleRequest {
  /** From the root of the repository. */
  readonly file: string;
  readonly name: string;
  readonly constraintsSha256: string;
  readonly target: Target;
}
