import type { CoverageState } from './coverage.ts';

export interface ContractChange {
  readonly contract: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Null where there was, or is, none. */
  readonly from: string | null;
  readonly to: string | null;
  /** `header`, `gate`, `cuda.cu added`…; empty for a contract that is new or gone. */
  readonly parts: readonly string[];
}

export interface CellChange {
  readonly row: string;
  readonly platform: string;
  readonly weights: string;
  /** Null where that row or column was, or is, not in the matrix. */
  readonly from: CoverageState | null;
  readonly to: CoverageState | null;
}

/** What changed between two knowledge bases, and what of it people notice. */
export interface KnowledgeDiff {
  readonly contracts: readonly ContractChange[];
  /** Families, models, platforms and failure modes, one line each. */
  readonly facts: readonly string[];
  readonly cells: readonly CellChange[];
  /** One paragraph for users. */
  readonly effect: string;
}
