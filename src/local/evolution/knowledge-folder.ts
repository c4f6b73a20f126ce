import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type KnowledgeCommit, withLessons } from '../../evolution/to-commits.ts';
import { checkTree } from '../../knowledge/load-catalog.ts';
import { isCatalogFile, readTree, sha256Of } from '../../knowledge/read-tree.ts';
import type { Catalog } from '../../model/catalog.ts';
import { AppError } from '../../model/errors.ts';
import type { Lesson } from '../../model/lesson.ts';
import { formatProblem } from '../../model/problem.ts';

/** A knowledge folder as lessons see it. */
export interface KnowledgeFolder {
  readonly catalog: Catalog;
  readonly texts: ReadonlyMap<string, string>;
}

/** @throws AppError KNOWLEDGE_INVALID where the folder has faults, USAGE where it is no knowledge folder */
export async function readKnowledgeFolder(root: string): Promise<KnowledgeFolder> {
  const tree = await readTree(root);
  if (tree.size === 0) throw new AppError('USAGE', `${root} holds no contracts/: name a knowledge folder.`);
  const texts = new Map([...tree].map(([path, { text }]) => [path, text]));
  return { catalog: requireCatalog(texts, root), texts };
}

/**
 * What the folder holds with the lessons in it. @throws AppError KNOWLEDGE_INVALID where the check would not pass: then
 * nothing may be written
 */
export function checkLessons(lessons: readonly Lesson[], { texts }: KnowledgeFolder, root: string): Catalog {
  return requireCatalog(withLessons(lessons, texts), `${root} with these lessons`);
}

function requireCatalog(texts: ReadonlyMap<string, string>, what: string): Catalog {
  const paths = [...texts.keys()].filter(isCatalogFile);
  const tree = new Map(
    paths.sort().map((path) => {
      const text = texts.get(path)!;
      return [path, { path, text, sha256: sha256Of(text) }] as const;
    }),
  );
  const { catalog, problems } = checkTree(tree);
  if (catalog !== undefined) return catalog;
  const errors = problems.filter(({ severity }) => severity === 'error');
  const lines = errors.slice(0, 20).map((problem) => `- ${formatProblem(problem)}`);
  throw new AppError('KNOWLEDGE_INVALID', `${what} has ${errors.length} faults:\n${lines.join('\n')}`);
}

/** Writes what the commits change. @returns the paths, each once */
export async function writeCommits(commits: readonly KnowledgeCommit[], root: string): Promise<string[]> {
  const writes = commits.flatMap((commit) => commit.writes);
  for (const { path, text } of writes) {
    const file = join(root, path);
    if (text === null) await rm(file, { force: true });
    else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  }
  return [...new Set(writes.map(({ path }) => path))];
}
