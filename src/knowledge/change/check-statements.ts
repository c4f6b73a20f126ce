import type { Problem } from '../../model/problem.ts';
import { checkCompleteness } from '../completeness/check-completeness.ts';
import type { LoadedContract } from '../contract-folder.ts';
import type { KnowledgeChange, KnowledgeSide } from './knowledge-side.ts';

/** A new or changed contract leaves nothing unsaid that its version before said, and a new one nothing at all. */
export function checkStatements({ before, after }: KnowledgeChange): Problem[] {
  return [...after.contracts].flatMap(([id, loaded]) => {
    const old = before.contracts.get(id);
    const isChanged = old === undefined || fingerprintOf(old) !== fingerprintOf(loaded);
    if (!isChanged) return [];
    const known = new Set(old === undefined ? [] : holesOf(old, before).map(({ message }) => message));
    return holesOf(loaded, after).filter(({ message }) => !known.has(message));
  });
}

function holesOf(loaded: LoadedContract, { tree }: KnowledgeSide): readonly Problem[] {
  const page = tree.get(`contracts/${loaded.contract.folder}/contract.md`);
  return page === undefined ? [] : checkCompleteness(loaded, page.text).holes;
}

function fingerprintOf({ contract, referenceText }: LoadedContract): string {
  return [contract.sha256, contract.header.sha256, contract.shim?.sha256, referenceText].join('\n');
}
