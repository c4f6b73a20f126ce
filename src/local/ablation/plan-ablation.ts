import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Catalog } from '../../model/catalog.ts';
import { AppError } from '../../model/errors.ts';
import { agentRoles } from '../../model/language-model.ts';
import type { LlmSettings } from '../../model/llm-settings.ts';
import { programVersion } from '../../preparation/package-root.ts';
import { prepareEngine } from '../../preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../preparation/read-request.ts';
import type { AblationPlan } from './ablation-plan.ts';
import { type Mode, textInMode } from './mode-text.ts';

/** What a person asks for. */
export interface AblationRequest {
  readonly paths: readonly string[];
  readonly modes: readonly Mode[];
  readonly repeats: number;
  /** Instead of those that the constraint files name; relative to the working folder. */
  readonly sources: readonly string[];
}

interface Places {
  readonly catalog: Catalog;
  readonly weightsRoot: string | undefined;
}

/**
 * The plan of an ablation, with everything refused that would end a run later: every file in every mode is read and
 * planned. `tokens` are those that all runs together are expected to need; null where that is not known.
 * @throws AppError USAGE, CONSTRAINTS_INVALID, NOT_COVERED, or what reading a checkpoint throws
 */
export async function planAblation(
  request: AblationRequest,
  settings: LlmSettings,
  places: Places,
): Promise<{ plan: AblationPlan; tokens: number | null }> {
  const files: AblationPlan['files'] = [];
  let tokens: number | null = 0;
  for (const path of request.paths) {
    const file = await readFileInModes(resolve(path), request, places);
    const same = files.find(({ name }) => name === file.name);
    if (same !== undefined) throw new AppError('USAGE', sameName(same.path, resolve(path), file.name));
    files.push({ name: file.name, path: resolve(path), text: file.text, sources: file.sources });
    tokens = tokens === null || file.tokens === null ? null : tokens + file.tokens * request.repeats;
  }
  const plan: AblationPlan = {
    schema: 'metainfer/ablation/v1',
    files,
    modes: [...request.modes],
    repeats: request.repeats,
    model: describeModel(settings),
    knowledgeSha256: places.catalog.sha256,
    programVersion: programVersion(),
  };
  return { plan, tokens };
}

function sameName(first: string, second: string, name: string): string {
  if (first === second) return `${first} is named twice; --repeats runs a file several times.`;
  return `${first} and ${second} both call their engine "${name}". Give each its own name: the report keeps them apart by it.`;
}

async function readFileInModes(path: string, { modes, sources }: AblationRequest, places: Places) {
  const text = await readConstraintFile(path);
  const where = { fileName: path, origin: 'command-line', ...places } as const;
  const { constraints } = await readRequest(text, where);
  const named = constraints.generation.source_files ?? [];
  const shown =
    sources.length > 0
      ? sources.map((each) => resolve(each))
      : named.map((each) => resolve(dirname(path), each));
  if (modes.includes('source-reference') && shown.length === 0) throw new AppError('USAGE', noSources(path));
  let tokens: number | null = 0;
  for (const mode of modes) {
    const inMode = await readRequest(textInMode(text, mode, shown), where);
    const { plan } = prepareEngine(inMode, places.catalog, { agents: { hasModel: true } });
    if (plan.missing.length > 0) throw new AppError('NOT_COVERED', notCovered(path, mode, plan.missing));
    tokens = tokens === null || plan.cost.modelTokens === null ? null : tokens + plan.cost.modelTokens;
  }
  return { name: constraints.name, text, sources: await Promise.all(shown.map(readSource)), tokens };
}

function noSources(path: string): string {
  return (
    `source-reference shows source files to the agents, and none is named for ${path}.\n` +
    'Name them with --source PATH (repeatable) or as generation.source_files of the file, or leave the mode out: --modes zero-reference,knowledge-first'
  );
}

function notCovered(path: string, mode: Mode, missing: readonly string[]): string {
  return `${path} cannot be built in ${mode}:\n${missing.map((line) => `- ${line}`).join('\n')}`;
}

async function readSource(path: string): Promise<{ path: string; sha256: string }> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new AppError('USAGE', `The source file ${path} cannot be read (${error.code ?? error.message}).`);
  });
  return { path, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** What decides the answers. Prices and keys do not. */
function describeModel(settings: LlmSettings): AblationPlan['model'] {
  const { limits, roles } = settings;
  const models = agentRoles.map((role) => [role, roles[role]?.model ?? settings.model] as const);
  return {
    endpoint: new URL(settings.base_url).host,
    models: Object.fromEntries(models.filter(([role]) => role !== 'optimizer')),
    settings: {
      temperature: settings.temperature ?? null,
      seed: settings.seed ?? null,
      reasoning_effort: settings.reasoning_effort ?? null,
      max_output_tokens: settings.max_output_tokens,
      context_tokens: settings.context_tokens,
      structured_output: settings.structured_output,
      review: settings.review,
      attempts_per_contract: limits.attempts_per_contract,
      rounds: limits.rounds,
      hard_tokens: limits.hard_tokens,
      ...(Object.keys(roles).length === 0 ? {} : { roles: JSON.stringify(roles) }),
    },
  };
}

/**
 * The settings of one repeat. A fixed seed would give every repeat the same answers and no spread, so each gets the
 * next one.
 */
export function settingsOfRepeat(settings: LlmSettings, repeat: number): LlmSettings {
  const shift = <T extends { seed?: number | undefined }>(part: T): T =>
    part.seed === undefined ? part : { ...part, seed: (part.seed + repeat - 1) % 2 ** 32 };
  const roles = Object.entries(settings.roles).map(([role, part]) => [role, shift(part)]);
  // No benchmark runs, and without one nothing is made faster.
  return { ...shift(settings), roles: Object.fromEntries(roles), optimizations: 0 };
}
