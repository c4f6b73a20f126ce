import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Of } from '../knowledge/read-tree.ts';
import type { KnowledgeView } from '../knowledge/views/knowledge-view.ts';
import type { Catalog } from '../model/catalog.ts';
import type { ExampleRequest, KeptReport } from '../model/coverage.ts';
import { AppError } from '../model/errors.ts';
import { Report } from '../model/report.ts';
import { toTarget } from '../model/target.ts';
import { knowledgeRoot, openKnowledge } from './knowledge-base.ts';
import { readRequest } from './read-request.ts';

/**
 * Knowledge with its reports and examples.
 * @throws AppError KNOWLEDGE_INVALID listing every fault, USAGE where the folder holds no contracts
 */
export async function openKnowledgeView(cacheFolder: string, root = knowledgeRoot()): Promise<KnowledgeView> {
  const catalog = await openKnowledge(cacheFolder, root);
  if (catalog.contracts.length === 0) throw new AppError('USAGE', `${root} holds no contracts/.`);
  return viewKnowledge(catalog, root);
}

/** A catalog that was opened already, with the reports and examples beside it. */
export async function viewKnowledge(catalog: Catalog, root: string): Promise<KnowledgeView> {
  const [reports, examples] = await Promise.all([readReports(root), readExamples(root, catalog)]);
  return { catalog, reports, examples };
}

async function listNames(folder: string, ending: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(ending)).sort();
}

async function readReports(root: string): Promise<KeptReport[]> {
  const names = await listNames(join(root, 'reports'), '.json');
  return Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(root, 'reports', name));
      return { file: `knowledge/reports/${name}`, sha256: sha256Of(bytes), report: parseReport(bytes) };
    }),
  );
}

function parseReport(bytes: Buffer): Report | undefined {
  try {
    return Report.safeParse(JSON.parse(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Those that this program accepts; what an example's model needs (a checkpoint) may be on another machine. */
async function readExamples(root: string, catalog: Catalog): Promise<ExampleRequest[]> {
  const names = await listNames(join(root, 'examples'), '.yaml');
  const read = await Promise.all(names.map((name) => readExample(root, name, catalog)));
  return read.flatMap((example) => example ?? []);
}

async function readExample(
  root: string,
  name: string,
  catalog: Catalog,
): Promise<ExampleRequest | undefined> {
  const text = await readFile(join(root, 'examples', name), 'utf8');
  // A path in an example is one of this repository, wherever a copy of the knowledge lies.
  const fileName = join(knowledgeRoot(), 'examples', name);
  try {
    const { constraints, sha256, model } = await readRequest(text, {
      ...{ fileName, catalog, origin: 'command-line', weightsRoot: undefined, isElsewhere: true },
    });
    const target = toTarget(constraints, model.facts, model.tokenizer);
    return { file: `knowledge/examples/${name}`, name: constraints.name, constraintsSha256: sha256, target };
  } catch (error) {
    // A folder of older knowledge may ask for what was renamed since.
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
