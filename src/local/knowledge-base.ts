import { join } from 'node:path';
import { loadCatalog } from '../knowledge/load-catalog.ts';
import type { Catalog } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import { formatProblem } from '../model/problem.ts';
import { packageRoot } from './package-root.ts';

export const knowledgeRoot = (): string => join(packageRoot(), 'knowledge');

/** The checked knowledge base. @throws AppError KNOWLEDGE_INVALID listing every fault */
export async function openKnowledge(root: string = knowledgeRoot()): Promise<Catalog> {
  const { catalog, problems } = await loadCatalog(root);
  if (catalog !== undefined) return catalog;
  const errors = problems.filter((problem) => problem.severity === 'error');
  const shown = errors.slice(0, 20).map((problem) => `- ${formatProblem(problem)}`);
  throw new AppError(
    'KNOWLEDGE_INVALID',
    `The knowledge base has ${errors.length} faults:\n${shown.join('\n')}`,
  );
}
