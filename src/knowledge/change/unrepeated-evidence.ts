import type { Tree } from '../read-tree.ts';
import { listNewEntries } from './evidence-entries.ts';
import { bareHash, evidencePath, readSide, shareFiles } from './knowledge-side.ts';

/** A run that only this change claims: it counts less until a runner has repeated it. */
export interface UnrepeatedEvidence {
  readonly contract: string;
  readonly realization: string;
  /** SHA-256 of the report, without prefix. */
  readonly report: string;
  /** The command that repeats it. */
  readonly repeat: string;
  readonly file: string;
  readonly line: number;
}

/** Every entry of evidence that stands after the change and not before it, in order of files. */
export function unrepeatedEvidence(before: Tree, after: Tree): UnrepeatedEvidence[] {
  const old = readSide(before);
  return [...readSide(shareFiles(before, after)).contracts].flatMap(([contract, loaded]) =>
    listNewEntries(loaded, old).map(({ entry, index }) => ({
      contract,
      realization: entry.realization,
      report: bareHash(entry.report),
      repeat: entry.repeat,
      file: evidencePath(loaded),
      line: loaded.evidenceYaml?.locate([index]).line ?? 1,
    })),
  );
}
