import type { Problem } from '../../model/problem.ts';
import { checkTree } from '../load-catalog.ts';
import { compareBytes, type Tree } from '../read-tree.ts';
import { checkClaims } from './check-claims.ts';
import { checkContradictions } from './check-contradictions.ts';
import { checkEvidence } from './check-evidence.ts';
import { checkFailureModes } from './check-failure-modes.ts';
import { checkGateStrength } from './check-gate-strength.ts';
import { checkReference } from './check-reference.ts';
import { checkSabotage } from './check-sabotage.ts';
import { checkSimilarity, type ReferenceFile } from './check-similarity.ts';
import { checkSources } from './check-sources.ts';
import { checkStatements } from './check-statements.ts';
import { checkVersions } from './check-versions.ts';
import { readSide, shareFiles } from './knowledge-side.ts';

export interface ChangeOptions {
  /** Trees that no realization may be copied from. */
  readonly references?: readonly ReferenceFile[];
}

/**
 * Everything about a knowledge change that can be judged without building an engine; pure. Each problem has a file
 * (relative to knowledge/) and a line, in their order; a change without an error may be built and gated.
 */
export function checkChange(before: Tree, after: Tree, options: ChangeOptions = {}): Problem[] {
  const shared = shareFiles(before, after);
  const change = { before: readSide(before), after: readSide(shared) };
  const problems = [
    ...checkTree(shared).problems,
    ...checkVersions(change),
    ...checkStatements(change),
    ...checkEvidence(change),
    ...checkContradictions(change),
    ...checkFailureModes(change),
    ...checkSabotage(change.after),
    ...checkGateStrength(change),
    ...checkReference(change),
    ...checkClaims(change),
    ...checkSources(change),
    ...checkSimilarity(change, options.references ?? []),
  ];
  return problems
    .map((problem) => ({ ...problem, line: problem.line ?? 1 }))
    .filter((problem, index, all) => all.findIndex((other) => isSame(other, problem)) === index)
    .sort((a, b) => compareBytes(a.file ?? '', b.file ?? '') || a.line - b.line);
}

function isSame(a: Problem, b: Problem): boolean {
  return a.file === b.file && a.line === b.line && a.code === b.code && a.message === b.message;
}
