import { createHash } from 'node:crypto';
import type { Catalog } from '../model/catalog.ts';
import type { Problem } from '../model/problem.ts';
import { checkContract } from './check-contract.ts';
import { checkReferences } from './check-references.ts';
import { type LoadedContract, loadContractFolder } from './contract-folder.ts';
import { loadFailureModes } from './failure-mode-file.ts';
import { findUnwritten } from './find-unwritten.ts';
import { loadModels } from './model-file.ts';
import { loadPlatforms } from './platform-file.ts';
import { compareBytes, isCatalogFile, readTree, type Tree } from './read-tree.ts';

/**
 * Reads and checks everything under the knowledge root. Every problem of every file is reported at once, in the
 * order of files and lines; the catalog is absent where any of them is an error.
 */
export async function loadCatalog(
  root: string,
): Promise<{ readonly catalog?: Catalog; readonly problems: Problem[] }> {
  return checkTree(await readTree(root));
}

/** The same of files already read; pure. */
export function checkTree(tree: Tree): { readonly catalog?: Catalog; readonly problems: Problem[] } {
  const folders = [
    ...new Set([...tree.keys()].flatMap((path) => /^contracts\/([^/]+)\//.exec(path)?.[1] ?? [])),
  ];
  const read = folders.map((folder) => loadContractFolder(tree, folder));
  const contracts = read.flatMap((entry): LoadedContract[] =>
    entry.loaded === undefined ? [] : [entry.loaded],
  );
  const { failureModes, problems: failureModeProblems } = loadFailureModes(tree);
  const { families, models, problems: modelProblems } = loadModels(tree);
  const { platforms, problems: platformProblems } = loadPlatforms(tree);
  const problems = [
    ...read.flatMap((entry) => entry.problems),
    ...contracts.flatMap(checkContract),
    ...checkReferences(contracts, failureModes),
    ...findUnwritten(tree),
    ...failureModeProblems,
    ...modelProblems,
    ...platformProblems,
  ].sort(comparePlaces);
  if (problems.some((problem) => problem.severity === 'error')) return { problems };
  const catalog: Catalog = {
    contracts: contracts
      .map((entry) => entry.contract)
      .sort((a, b) => compareBytes(a.frontMatter.id, b.frontMatter.id)),
    families,
    models,
    platforms,
    failureModes: failureModes.map(({ slug, frontMatter, body }) => ({ slug, frontMatter, body })),
    failureModeIds: failureModes.flatMap((mode) => [mode.frontMatter.id, mode.slug]),
    sha256: hashTree(tree),
  };
  return { catalog, problems };
}

function comparePlaces(a: Problem, b: Problem): number {
  return (
    compareBytes(a.file ?? '', b.file ?? '') ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0)
  );
}

/** Over paths and contents of the catalog's files, in path order. */
export function hashTree(tree: Tree): string {
  const hash = createHash('sha256');
  for (const file of tree.values()) {
    if (isCatalogFile(file.path)) hash.update(`${file.path}\0${file.sha256}\n`);
  }
  return hash.digest('hex');
}
