import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseProvenance, provenancePath } from '../../generation/provenance-file.ts';
import { readPlainFile } from '../../generation/read-plain-file.ts';
import { type AgentFile, type AgentPapers, currentFiles, noPapers } from '../../model/agent-work.ts';
import type { FileProvenance } from '../../model/engine.ts';
import { AppError } from '../../model/errors.ts';
import type { Learnt } from '../../model/lesson.ts';
import type { Report } from '../../model/report.ts';
import type { RunState } from '../../model/run.ts';
import { parseRunState } from '../../pipeline.ts';
import { gatherLearnt } from '../../preparation/gather-learnt.ts';
import { type PreparedEngine, prepareEngine } from '../../preparation/prepare-engine.ts';
import { readRequest } from '../../preparation/read-request.ts';
import { hashEngineTree } from '../../verification/engine-tree.ts';
import { readAgentFiles } from '../agent-claims.ts';
import { papersPathOf, readPapers } from '../agents/local-agents.ts';
import { openEngineFolder } from '../engine-folder.ts';
import { readReport } from '../local-runner.ts';
import type { KnowledgeFolder } from './knowledge-folder.ts';

export interface RunPlaces {
  readonly knowledge: KnowledgeFolder;
  readonly cacheFolder: string;
  readonly weightsRoot: string | undefined;
  /** Where the checkpoint is, if not where the constraint file says. */
  readonly weightsFolder: string | undefined;
}

interface FoundRun {
  readonly id: string;
  readonly prepared: PreparedEngine;
  readonly files: ReadonlyMap<string, AgentFile>;
  readonly papers: AgentPapers;
  readonly folder: string;
  readonly report: Report | null;
}

/**
 * What a run left on this machine: the saved state of `metainfer build`, with all attempts beside it, or the folder of
 * an engine, which knows its final files alone.
 * @throws AppError USAGE, RUN_STATE_INVALID or ENGINE_INVALID
 */
export async function readRun(source: string, places: RunPlaces): Promise<Learnt> {
  const path = resolve(source);
  const found = (await isFolder(path)) ? await fromFolder(path, places) : await fromState(path, places);
  const { id, report, folder, ...rest } = found;
  if (report !== null && report.engine.treeSha256 !== hashEngineTree(folder))
    throw new AppError('ENGINE_INVALID', `${folder} was changed since its report was made: verify it again.`);
  const { catalog, texts } = places.knowledge;
  return gatherLearnt({
    ...rest,
    ...{ runId: id, report, catalog, knowledge: texts, provenance: await readProvenance(folder) },
  });
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined)
    throw new AppError(
      'USAGE',
      `${path} does not exist: name the saved state of a run, or an engine folder.`,
    );
  return found.isDirectory();
}

async function fromFolder(folder: string, places: RunPlaces): Promise<FoundRun> {
  const { catalog } = places.knowledge;
  const prepared = await openEngineFolder(folder, { ...places, catalog });
  const report = await readReport(folder);
  const files = await readAgentFiles(prepared.selection, folder);
  const id = `engine-${report.engine.treeSha256.slice(0, 12)}`;
  return { id, prepared, files, papers: noPapers, folder, report };
}

async function fromState(path: string, places: RunPlaces): Promise<FoundRun> {
  const state = parseRunState(await readFile(path, 'utf8'));
  if (state.status === 'running' || state.status === 'waiting')
    throw new AppError(
      'USAGE',
      `The run in ${path} is not over: end it first with \`npx metainfer build --resume ${path}\`.`,
    );
  const papers = state.agents === undefined ? noPapers : await readPapers(papersPathOf(path));
  const files = state.agents === undefined ? new Map() : currentFiles(state.agents, papers);
  const prepared = await prepareAgain(state, places);
  const report = state.verification === undefined ? null : await readReport(state.folder);
  return { id: state.id, prepared, files, papers, folder: state.folder, report };
}

async function prepareAgain(
  { input, agents }: RunState,
  { knowledge: { catalog }, weightsRoot, weightsFolder }: RunPlaces,
): Promise<PreparedEngine> {
  const { text, fileName, origin } = input;
  const request = await readRequest(text, { fileName, origin, weightsRoot, weightsFolder, catalog });
  const rewritten = new Set(agents?.contracts.map(({ contract }) => contract));
  return prepareEngine(request, catalog, { agents: { hasModel: agents !== undefined, rewritten } });
}

/** Nothing where no engine was written. */
async function readProvenance(folder: string): Promise<readonly FileProvenance[]> {
  const text = await readPlainFile(join(folder, provenancePath)).catch(() => undefined);
  return text === undefined ? [] : (parseProvenance(text)?.files ?? []);
}
