import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeEngine } from '../../generation/write-engine.ts';
import type { EngineSources } from '../../model/engine.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { composePrepared } from '../../preparation/prepare-engine.ts';
import { hashEngineTree } from '../../verification/engine-tree.ts';
import type { AppContext } from '../app-context.ts';
import { prepareAgain } from './plan.ts';

/** Composes the engine. Its files are kept in the store: the commit that follows is made of these bytes and no others. */
export async function generate(context: AppContext, run: RunRecord, signal: AbortSignal): Promise<RunEvent> {
  const sources = composePrepared(await prepareAgain(context, run));
  signal.throwIfAborted();
  const treeSha256 = await hashSources(sources);
  const files = sources.files.map(({ path, text }) => ({ path, text }));
  await context.store.saveDocument(run.id, 'engine', { files });
  const text = `${sources.files.length} files, ${sources.lineCount} lines of C++`;
  await context.store.addTimeline(run.id, { kind: 'step', text: `engine composed: ${text}`, url: null });
  signal.throwIfAborted();
  return { type: 'engine-generated', treeSha256, isComplete: true };
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
