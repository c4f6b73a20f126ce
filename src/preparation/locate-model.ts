import { readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { KnownModel } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import { AppError } from '../model/errors.ts';
import { readModelConfig } from '../model/model-config.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import { formatProblem } from '../model/problem.ts';
import { readTokenizerFacts } from '../model/tokenizer-config.ts';
import { inspectCheckpoint } from '../verification/inspect-checkpoint.ts';

/** A model whose facts are known, and where its weights are on this machine (undefined: they are synthesised). */
export interface LocatedModel {
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  readonly config: Readonly<Record<string, unknown>>;
  readonly generationConfig: Readonly<Record<string, unknown>> | undefined;
  readonly folder: string | undefined;
}

const noTokenizer: TokenizerFacts = { model: 'none', preTokenizer: 'none', normalizer: 'none' };

/**
 * Finds the model that a constraint file names. A relative `model.path` is taken from the constraint file's folder,
 * else from the working directory; an id with weights from a checkpoint is a folder under the operator's weights root.
 * @throws AppError MODEL_UNKNOWN, MODEL_UNSUPPORTED, TOKENIZER_UNSUPPORTED or CHECKPOINT_INVALID
 */
export async function locateModel(
  constraints: Constraints,
  places: {
    readonly constraintsFile: string;
    readonly weightsRoot: string | undefined;
    /** Where the checkpoint is, whatever the file says: for an engine whose constraint file was moved. */
    readonly weightsFolder?: string | undefined;
    /** The weights are on a runner: a known id's facts come from the catalog, and the runner compares them with its folder. */
    readonly isElsewhere?: boolean | undefined;
    readonly models: readonly KnownModel[];
  },
): Promise<LocatedModel> {
  const { model, weights } = constraints;
  if (places.weightsFolder !== undefined) return readFolder(await findPath(places.weightsFolder, '.'));
  if ('path' in model) return readFolder(await findPath(model.path, places.constraintsFile));
  if ('config' in model) return fromConfig(model.config, undefined, noTokenizer);
  const known = places.models.find((candidate) => candidate.id === model.id);
  if (known === undefined)
    throw new AppError('MODEL_UNKNOWN', `No file of knowledge/models lists "${model.id}".`);
  if (weights.source === 'checkpoint' && places.isElsewhere === true)
    return fromConfig(known.config, known.generationConfig, known.tokenizer);
  if (weights.source === 'checkpoint') return readFolder(await folderUnderRoot(model.id, places.weightsRoot));
  // A synthetic checkpoint has random weights and no text: its engine is composed without a tokenizer.
  return fromConfig(known.config, known.generationConfig, noTokenizer);
}

function fromConfig(
  config: Readonly<Record<string, unknown>>,
  generationConfig: Readonly<Record<string, unknown>> | undefined,
  tokenizer: TokenizerFacts,
  folder?: string,
): LocatedModel {
  const { facts, problems } = readModelConfig(config, generationConfig);
  if (facts === undefined) {
    throw new AppError(
      'MODEL_UNSUPPORTED',
      `config.json cannot be used:\n${problems.map((problem) => `- ${formatProblem(problem)}`).join('\n')}`,
    );
  }
  return { facts, tokenizer, config, generationConfig, folder };
}

/** Reads config.json, generation_config.json and tokenizer.json of a checkpoint folder. */
export async function readFolder(folder: string): Promise<LocatedModel> {
  const config = await readJson(join(folder, 'config.json'), 'CHECKPOINT_INVALID');
  if (config === undefined) throw new AppError('CHECKPOINT_INVALID', `config.json is missing in ${folder}.`);
  const generationConfig = await readJson(join(folder, 'generation_config.json'), 'CHECKPOINT_INVALID');
  refuseBroken(folder);
  const tokenizerJson = await readJson(join(folder, 'tokenizer.json'), 'TOKENIZER_UNSUPPORTED');
  return fromConfig(config, generationConfig, tokenizerFacts(tokenizerJson), folder);
}

/** Headers, names and shapes of every tensor are checked before anything is generated for them. */
function refuseBroken(folder: string): void {
  const { facts, problems } = inspectCheckpoint(folder);
  if (problems.every((problem) => problem.severity === 'warning')) return;
  const code = facts === undefined ? 'MODEL_UNSUPPORTED' : 'CHECKPOINT_INVALID';
  const lines = problems.map((problem) => `- ${formatProblem(problem)}`);
  throw new AppError(code, `The checkpoint ${folder} cannot be used:\n${lines.join('\n')}`);
}

function tokenizerFacts(tokenizerJson: Record<string, unknown> | undefined): TokenizerFacts {
  if (tokenizerJson === undefined) return noTokenizer;
  const { facts, problems } = readTokenizerFacts(tokenizerJson);
  if (facts !== undefined) return facts;
  throw new AppError(
    'TOKENIZER_UNSUPPORTED',
    `tokenizer.json cannot be used:\n${problems.map((problem) => `- ${formatProblem(problem)}`).join('\n')}`,
  );
}

async function readJson(
  path: string,
  code: 'CHECKPOINT_INVALID' | 'TOKENIZER_UNSUPPORTED',
): Promise<Record<string, unknown> | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new AppError(code, `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (error) {
    throw new AppError(code, `${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  throw new AppError(code, `${path}: expected an object.`);
}

async function findPath(written: string, constraintsFile: string): Promise<string> {
  const candidates = isAbsolute(written)
    ? [written]
    : [resolve(dirname(constraintsFile), written), resolve(written)];
  for (const candidate of candidates) {
    try {
      return await realpath(candidate);
    } catch {}
  }
  throw new AppError(
    'CHECKPOINT_INVALID',
    `model.path "${written}" does not exist (looked at ${[...new Set(candidates)].join(' and ')}).`,
  );
}

/** The real path of `<root>/<id>`, which must stay inside the root whatever links it holds. */
async function folderUnderRoot(id: string, root: string | undefined): Promise<string> {
  if (root === undefined) {
    throw new AppError(
      'CHECKPOINT_INVALID',
      `Weights of ${id} are asked for, and METAINFER_WEIGHTS is not set to the folder that holds them (as ${id}/config.json).`,
    );
  }
  let real: string;
  let realRoot: string;
  try {
    realRoot = await realpath(root);
    real = await realpath(join(realRoot, id));
  } catch {
    throw new AppError(
      'CHECKPOINT_INVALID',
      `METAINFER_WEIGHTS holds no folder "${id}". Put the checkpoint there, or use weights.source: synthetic.`,
    );
  }
  const inside = relative(realRoot, real);
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw new AppError(
      'CHECKPOINT_INVALID',
      `The folder of "${id}" leads out of METAINFER_WEIGHTS; links out of it are not followed.`,
    );
  }
  return real;
}
