import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Catalog } from '../model/catalog.ts';
import { AppError } from '../model/errors.ts';
import { SabotageFile } from '../model/sabotage.ts';
import { knowledgeRoot } from '../preparation/knowledge-base.ts';
import { prepareEngine } from '../preparation/prepare-engine.ts';
import { readRequest } from '../preparation/read-request.ts';
import { sabotageRequest } from '../preparation/sabotage-request.ts';
import type { OracleRun } from '../verification/gate-context.ts';
import { listMutations, type Mutation } from '../verification/mutations.ts';
import { openOracle } from '../verification/oracle.ts';
import { mapParallel } from '../verification/parallel.ts';
import { Random } from '../verification/random.ts';
import type { JudgeOptions } from './judge-engine.ts';
import { provideWeights } from './local-weights.ts';
import { type SabotageOutcome, type SabotageSubject, tryHandMade, tryMechanical } from './sabotage.ts';
import { openToolchain } from './toolchain.ts';

export interface CampaignOptions extends JudgeOptions {
  readonly catalog: Catalog;
  readonly seed: number;
  /** How many mechanical mutants must compile; more are drawn until so many did. */
  readonly mechanical: number;
  /** Default: cpu-x86_64. */
  readonly platform?: SabotagePlatform;
  /** Only those whose id holds one of these texts, separated by commas. */
  readonly only?: string | undefined;
  readonly jobs: number;
}

export interface Campaign {
  readonly seed: number;
  readonly handMade: readonly SabotageOutcome[];
  readonly mechanical: readonly (SabotageOutcome & { readonly equivalentBecause: string | null })[];
  /** Mechanical mutants that did not compile and say nothing. */
  readonly stillborn: number;
}

export type SabotagePlatform = SabotageFile['platform'];

/** knowledge/sabotage.yaml, or that of another platform. @throws AppError KNOWLEDGE_INVALID */
export async function readSabotageFile(platform: SabotagePlatform = 'cpu-x86_64'): Promise<SabotageFile> {
  const name = platform === 'cuda' ? 'sabotage-cuda.yaml' : 'sabotage.yaml';
  const parsed = SabotageFile.safeParse(parse(await readFile(join(knowledgeRoot(), name), 'utf8')));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new AppError('KNOWLEDGE_INVALID', `${name} ${issue.path.join('.')}: ${issue.message}`);
}

type WeightFormat = SabotageFile['mutations'][number]['weights'];

async function openSubject(
  name: string,
  spec: SabotageFile['checkpoints'][string],
  weights: WeightFormat,
  options: CampaignOptions,
): Promise<SabotageSubject> {
  const request = await readRequest(sabotageRequest(name, spec, weights, options.platform ?? 'cpu-x86_64'), {
    ...{ fileName: `${name}.yaml`, origin: 'command-line', weightsRoot: undefined, catalog: options.catalog },
  });
  const prepared = prepareEngine(request, options.catalog);
  const checkpointFolder = await provideWeights(request, { ...options, onProgress: options.onDetail });
  const toolchain = { ...(await openToolchain(prepared, undefined, options)), jobs: 1 };
  const answers = new Map<string, Promise<OracleRun>>();
  const oracle = openOracle(checkpointFolder, {
    facts: request.model.facts,
    weightFormat: weights,
    threads: 1,
  });
  const ask = (ids: readonly number[]): Promise<OracleRun> => {
    const key = ids.join();
    const answer = answers.get(key) ?? oracle.run(ids);
    answers.set(key, answer);
    return answer;
  };
  return { name: `${name}-${weights}`, prepared, checkpointFolder, toolchain, oracle: ask };
}

function isWanted(id: string, only: string | undefined): boolean {
  return only === undefined || only.split(',').some((text) => id.includes(text));
}

function mechanicalId(place: Pick<Place, 'contract' | 'realization' | 'mutation'>): string {
  return `${place.contract}/${place.realization}:${place.mutation.line} ${place.mutation.kind}`;
}

/** Breaks realizations one by one, by hand-made mistakes and by mechanical ones, and says which gate saw each. */
export async function runCampaign(options: CampaignOptions): Promise<Campaign> {
  const file = await readSabotageFile(options.platform);
  const subjects = new Map<string, Promise<SabotageSubject>>();
  const subjectOf = (name: string, weights: WeightFormat): Promise<SabotageSubject> => {
    const spec = file.checkpoints[name];
    if (spec === undefined)
      throw new AppError('KNOWLEDGE_INVALID', `sabotage.yaml: there is no checkpoint "${name}".`);
    const key = `${name}-${weights}`;
    const subject = subjects.get(key) ?? openSubject(name, spec, weights, options);
    subjects.set(key, subject);
    return subject;
  };
  const entries = file.mutations.filter((entry) => isWanted(entry.id, options.only));
  const handMade = await mapParallel(entries, options.jobs, async (entry) => {
    options.signal.throwIfAborted();
    const outcome = await tryHandMade(entry, await subjectOf(entry.checkpoint, entry.weights), options.seed);
    options.onNote(describe(outcome));
    return outcome;
  });
  const names = options.mechanical === 0 ? [] : Object.keys(file.checkpoints);
  const all = await Promise.all(names.map((name) => subjectOf(name, 'bf16')));
  const { outcomes, stillborn } = await runMechanical(all, options);
  // Nothing broken is nothing shown: it must not read as a pass.
  if (handMade.length + outcomes.length + stillborn === 0) throw nothingToBreak(file, options);
  const mechanical = outcomes.map(({ outcome, lineText }) => ({
    ...outcome,
    equivalentBecause: equivalence(file, outcome, lineText),
  }));
  return { seed: options.seed, handMade, mechanical, stillborn };
}

function nothingToBreak(file: SabotageFile, { only, mechanical }: CampaignOptions): AppError {
  const ids = file.mutations.map(({ id }) => id).join(', ');
  const asked =
    only === undefined ? 'There is no hand-made mistake' : `No mistake has an id that holds "${only}"`;
  const drawn = mechanical === 0 ? ', and --mechanical 0 draws none' : '';
  return new AppError('USAGE', `${asked}${drawn}. Hand-made ones: ${ids}.`);
}

interface Place {
  readonly subject: SabotageSubject;
  readonly contract: string;
  readonly realization: string;
  readonly text: string;
  readonly mutation: Mutation;
}

/** Every mutation of every realization of every subject, shuffled; one realization counts once. */
function drawPlaces(subjects: readonly SabotageSubject[], seed: number): Place[] {
  const byRealization = new Map<string, Place[]>();
  for (const subject of subjects) {
    for (const { contract, realization } of subject.prepared.selection.contracts) {
      if (realization === undefined) continue;
      const key = `${contract.frontMatter.id}/${realization.file}`;
      if (byRealization.has(key)) continue;
      const common = {
        subject,
        contract: contract.frontMatter.id,
        realization: realization.file,
        text: realization.text,
      };
      byRealization.set(
        key,
        listMutations(realization.text).map((mutation) => ({ ...common, mutation })),
      );
    }
  }
  const places = [...byRealization.values()].flat();
  const random = new Random(seed, 'mechanical');
  for (let index = places.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    [places[index], places[other]] = [places[other]!, places[index]!];
  }
  return places;
}

async function runMechanical(subjects: readonly SabotageSubject[], options: CampaignOptions) {
  const places = drawPlaces(subjects, options.seed).filter((place) =>
    isWanted(mechanicalId(place), options.only),
  );
  const outcomes: { readonly outcome: SabotageOutcome; readonly lineText: string }[] = [];
  let stillborn = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (outcomes.length < options.mechanical && next < places.length) {
      options.signal.throwIfAborted();
      const place = places[next++]!;
      const outcome = await tryMechanical(place, place.mutation, place.subject, options.seed);
      if (outcome.detectedBy === 'build') stillborn++;
      else {
        outcomes.push({ outcome, lineText: place.text.split('\n')[place.mutation.line - 1] ?? '' });
        options.onNote(describe(outcome));
      }
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  return { outcomes: outcomes.slice(0, options.mechanical), stillborn };
}

function equivalence(file: SabotageFile, outcome: SabotageOutcome, lineText: string): string | null {
  if (outcome.detectedBy !== null) return null;
  const known = file.equivalent.find(
    (entry) =>
      entry.contract === outcome.contract &&
      entry.realization === outcome.realization &&
      lineText.includes(entry.line),
  );
  return known?.reason ?? null;
}

function describe(outcome: SabotageOutcome): string {
  const seen =
    outcome.detectedBy === null
      ? 'SURVIVED'
      : `${outcome.detectedBy}, blames ${outcome.blamed ?? 'nobody'}${outcome.isLocated ? '' : ' (wrong)'}`;
  return `${outcome.id} [${outcome.says.slice(0, 70)}]: ${seen} (${outcome.seconds.toFixed(1)} s)`;
}
