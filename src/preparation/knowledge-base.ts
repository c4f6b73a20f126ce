import { createHash } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkTree, hashTree } from '../knowledge/load-catalog.ts';
import { readTree } from '../knowledge/read-tree.ts';
import type { Catalog } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import { formatProblem } from '../model/problem.ts';
import { openCacheFolder } from '../verification/cache-folder.ts';
import { packageRoot } from './package-root.ts';

export const knowledgeRoot = (): string => join(packageRoot(), 'knowledge');

/**
 * The checked knowledge base. Checking takes a second, so its result is kept in the cache folder under the hash of
 * the files and of the code that checks them.
 * @throws AppError KNOWLEDGE_INVALID listing every fault
 */
export async function openKnowledge(cacheFolder: string, root = knowledgeRoot()): Promise<Catalog> {
  const tree = await readTree(root);
  const key = createHash('sha256')
    .update(hashTree(tree))
    .update(await hashLoader())
    .digest('hex');
  const path = join(cacheFolder, 'knowledge', `${key.slice(0, 32)}.json`);
  const kept = await readKept(path);
  if (kept !== undefined) return kept;
  const { catalog, problems } = checkTree(tree);
  if (catalog === undefined) {
    const errors = problems.filter((problem) => problem.severity === 'error');
    const shown = errors.slice(0, 20).map((problem) => `- ${formatProblem(problem)}`);
    throw new AppError(
      'KNOWLEDGE_INVALID',
      `The knowledge base has ${errors.length} faults:\n${shown.join('\n')}`,
    );
  }
  await keep(path, catalog);
  return catalog;
}

/** Of the code whose judgement is kept: src/knowledge and src/model as they run now. */
async function hashLoader(): Promise<string> {
  const source = dirname(dirname(fileURLToPath(import.meta.url)));
  const hash = createHash('sha256');
  for (const part of ['knowledge', 'model']) {
    const files = (await readdir(join(source, part))).filter((file) => /\.[jt]s$/.test(file)).sort();
    const texts = await Promise.all(files.map((file) => readFile(join(source, part, file))));
    for (const text of texts) hash.update(text);
  }
  return hash.digest('hex');
}

async function readKept(path: string): Promise<Catalog | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Catalog;
  } catch {
    return undefined;
  }
}

/** A cache that cannot be written costs time, nothing else. */
async function keep(path: string, catalog: Catalog): Promise<void> {
  try {
    openCacheFolder(dirname(path));
    await writeFile(`${path}.${process.pid}`, JSON.stringify(catalog));
    await rename(`${path}.${process.pid}`, path);
  } catch {}
}
