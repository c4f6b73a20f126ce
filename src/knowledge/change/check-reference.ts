import type { Problem } from '../../model/problem.ts';
import type { KnowledgeChange } from './knowledge-side.ts';

/**
 * reference.ts is what the gates compare with, and no hash of evidence covers it: where its code changes and the
 * contract does not, somebody should look at whether the meaning did.
 */
export function checkReference({ before, after }: KnowledgeChange): Problem[] {
  return [...after.contracts].flatMap(([id, { contract, referenceText }]): Problem[] => {
    const old = before.contracts.get(id);
    if (old?.referenceText === undefined || referenceText === undefined) return [];
    if (old.contract.sha256 !== contract.sha256) return [];
    if (withoutComments(old.referenceText) === withoutComments(referenceText)) return [];
    const file = `contracts/${contract.folder}/reference.ts`;
    const message = `the code of the reference changed and ${id} ${contract.frontMatter.version} did not: say in contract.md what else it means now, or that it means the same`;
    return [{ severity: 'warning', code: 'reference-changed', file, line: 1, message }];
  });
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').replace(/\s+/g, ' ');
}
