import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { checkProvenance } from '../generation/check-provenance.ts';
import { readPlainFile } from '../generation/read-plain-file.ts';
import type { Catalog } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import { formatProblem } from '../model/problem.ts';
import { type PreparedEngine, prepareEngine } from '../preparation/prepare-engine.ts';
import { type Request, readRequest } from '../preparation/read-request.ts';
import { openCacheFolder } from '../verification/cache-folder.ts';
import { agentsOfFolder } from './agent-claims.ts';

/**
 * An engine folder that this program wrote, with everything that its constraint file and the knowledge say about it.
 * The folder's own text decides, so a changed constraint file is a changed engine.
 * @throws AppError ENGINE_INVALID where the folder is none
 */
export async function openEngineFolder(
  folder: string,
  places: {
    readonly catalog: Catalog;
    readonly weightsRoot: string | undefined;
    readonly weightsFolder: string | undefined;
    readonly cacheFolder: string;
  },
): Promise<PreparedEngine> {
  const path = resolve(folder);
  const { provenance, problems } = await checkProvenance(path);
  if (provenance === undefined) {
    const lines = problems.map((problem) => formatProblem(problem)).join('\n');
    throw new AppError(
      'ENGINE_INVALID',
      `${folder} is not an engine folder: ${lines}. \`metainfer generate\` writes one.`,
    );
  }
  const text = await readPlainFile(join(path, 'constraints.yaml'));
  if (text === undefined) throw new AppError('ENGINE_INVALID', `${folder} holds no constraints.yaml.`);
  const weightsFolder = places.weightsFolder ?? (await recallWeights(places.cacheFolder, path));
  const request = await readRequest(text, {
    fileName: join(path, 'constraints.yaml'),
    origin: 'command-line',
    weightsRoot: places.weightsRoot,
    weightsFolder,
    catalog: places.catalog,
  });
  return prepareEngine(request, places.catalog, { agents: await agentsOfFolder(path) });
}

/** Where this machine's weights of an engine folder are: not part of the engine, so kept in the cache. */
export async function rememberWeights(
  cacheFolder: string,
  engineFolder: string,
  request: Request,
): Promise<void> {
  const weightsFolder = request.model.folder;
  // Only a path can lose its meaning by standing in another folder; an id is looked up each time.
  if (!('path' in request.constraints.model) || weightsFolder === undefined) return;
  const path = memoryPath(cacheFolder, resolve(engineFolder));
  openCacheFolder(join(path, '..'));
  await writeFile(path, JSON.stringify({ engineFolder: resolve(engineFolder), weightsFolder }));
}

async function recallWeights(cacheFolder: string, engineFolder: string): Promise<string | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(memoryPath(cacheFolder, engineFolder), 'utf8'));
    const weightsFolder = (value as { weightsFolder?: unknown }).weightsFolder;
    return typeof weightsFolder === 'string' ? weightsFolder : undefined;
  } catch {
    return undefined;
  }
}

function memoryPath(cacheFolder: string, engineFolder: string): string {
  const key = createHash('sha256').update(engineFolder).digest('hex').slice(0, 16);
  return join(cacheFolder, 'engine-weights', `${key}.json`);
}
