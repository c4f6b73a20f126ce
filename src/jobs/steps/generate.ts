import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeEngine } from '../../generation/write-engine.ts';
import { type AgentWork, isPhaseSettled } from '../../model/agent-work.ts';
import type { EngineSources } from '../../model/engine.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { generationTask } from '../../pipeline/agent-transitions.ts';
import { composePrepared, type PreparedEngine } from '../../preparation/prepare-engine.ts';
import { hashEngineTree } from '../../verification/engine-tree.ts';
import { agentFilesOf } from '../agent-runs.ts';
import type { AppContext } from '../app-context.ts';
import { attemptNext } from './attempt.ts';
import { prepareAgain } from './plan.ts';

/** One attempt of an agent at one contract, or the engine's files put together. */
export async function generate(context: AppContext, run: RunRecord, signal: AbortSignal): Promise<RunEvent> {
  const prepared = await prepareAgain(context, run);
  const task = generationTask(run.state);
  if (task.kind === 'attempt') return attemptNext(context, run, task.work, prepared, signal);
  return compose(context, run, { prepared, isComplete: task.isComplete }, signal);
}

/** What is composed is kept in the store: the commit that follows is made of these bytes and no others. */
async function compose(
  context: AppContext,
  run: RunRecord,
  { prepared, isComplete }: { readonly prepared: PreparedEngine; readonly isComplete: boolean },
  signal: AbortSignal,
): Promise<RunEvent> {
  const agentFiles = await agentFilesOf(context, run);
  const sources = composePrepared(prepared, { agentFiles, isPartial: !isComplete });
  signal.throwIfAborted();
  const treeSha256 = await hashSources(sources);
  const files = sources.files.map(({ path, text }) => ({ path, text }));
  const phases = newPhases(run.state.agents);
  await context.store.saveDocument(run.id, 'engine', { files, ...(phases.length === 0 ? {} : { phases }) });
  const text = `${phases.length === 0 ? '' : `${phases.join(', ')}, `}${sources.files.length} files, ${sources.lineCount} lines of C++`;
  await context.store.addTimeline(run.id, { kind: 'step', text: `engine composed: ${text}`, url: null });
  signal.throwIfAborted();
  return { type: 'engine-generated', treeSha256, isComplete };
}

/** Phases whose files are in these for the first time, or once more after a repair. */
function newPhases(agents: AgentWork | undefined): readonly string[] {
  if (agents === undefined) return [];
  const phases = [...new Set(agents.contracts.map(({ phase }) => phase))];
  return phases.filter((phase) => isPhaseSettled(agents, phase) && !agents.publishedPhases.includes(phase));
}

/** The hash that the runner computes over the folder it checks out. */
async function hashSources(sources: EngineSources): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'metainfer-engine-'));
  try {
    await writeEngine(sources, join(folder, sources.name));
    return hashEngineTree(join(folder, sources.name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
