import type { Evidence } from '../../model/contract.ts';
import type { Problem } from '../../model/problem.ts';
import type { LoadedContract } from '../contract-folder.ts';
import { evidencePath, isSameEvidence, type KnowledgeSide } from './knowledge-side.ts';

interface PlacedEntry {
  readonly entry: Evidence;
  readonly index: number;
}

/** Entries that stand after the change and did not stand before it. */
export function listNewEntries(loaded: LoadedContract, before: KnowledgeSide): PlacedEntry[] {
  const old = before.contracts.get(loaded.contract.frontMatter.id)?.contract.evidence ?? [];
  return loaded.contract.evidence
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry }) => !old.some((known) => isSameEvidence(known, entry)));
}

/** A fault with its place in evidence.yaml. */
export function entryProblem(
  loaded: LoadedContract,
  path: (string | number)[],
  code: string,
  message: string,
  suggestion?: string,
): Problem {
  const place = loaded.evidenceYaml?.locate(path);
  const file = evidencePath(loaded);
  const tail = suggestion === undefined ? {} : { suggestion };
  return { severity: 'error', code, file, ...place, path: path.join('.'), message, ...tail };
}
