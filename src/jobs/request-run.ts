import { randomUUID } from 'node:crypto';
import type { Actor, RepositoryRef } from '../model/github.ts';
import type { RunRecord, RunSource } from '../model/run-record.ts';
import { isOpen, startRun } from '../pipeline.ts';
import type { AppContext } from './app-context.ts';
import { hashRequest } from './constraint-request.ts';

export interface RunRequest {
  readonly repository: RepositoryRef;
  readonly source: RunSource;
  readonly actor: Actor;
  readonly text: string;
  /** Plan only, until somebody asks for the engine. */
  readonly holdAfterPlan: boolean;
  /** Make it anew even where the newest run asks the same: what knowledge composes has changed since. */
  readonly isAnew?: boolean;
}

/** Runs of the same issue, or of the same file of a pull request, newest first. */
export async function runsOfSource(
  context: AppContext,
  repository: RepositoryRef,
  source: Pick<RunSource, 'kind' | 'number' | 'path'>,
): Promise<readonly RunRecord[]> {
  const runs = await context.store.listRuns({
    repositoryId: repository.id,
    sourceKind: source.kind,
    sourceNumber: source.number,
    limit: 50,
  });
  return runs.filter((run) => run.source.path === source.path);
}

/**
 * A run for what the text asks. Where the newest run of this source asks the same, that one is given back: an edit that
 * changes nothing starts nothing. Otherwise the new run takes the place of every open one.
 */
export async function requestRun(
  context: AppContext,
  request: RunRequest,
): Promise<{ readonly run: RunRecord; readonly isNew: boolean }> {
  const { repository, source, actor, text } = request;
  const requestSha256 = hashRequest(context, text);
  const earlier = await runsOfSource(context, repository, source);
  const newest = earlier[0];
  const isSame = newest !== undefined && hashRequest(context, newest.state.input.text) === requestSha256;
  if (isSame && (request.isAnew !== true || isOpen(newest.state))) return { run: newest, isNew: false };
  const id = randomUUID();
  const fileName = source.path ?? `issue #${source.number}`;
  const state = {
    ...startRun(id, { fileName, text, origin: 'github' }, ''),
    ...(request.holdAfterPlan ? { holdAfterPlan: true } : {}),
  };
  const made = await context.store.createRun({
    id,
    repository,
    source,
    requestedBy: actor,
    state,
    requestSha256,
  });
  for (const run of earlier.filter((candidate) => isOpen(candidate.state) && candidate.id !== made.run.id))
    await stopRun(context, run, made.run.number);
  return made;
}

/**
 * Asks a run to stop: one that waits is concluded by the next step job, a step that is being performed gives way.
 * `supersededBy` is the number of the run that takes its place.
 */
export async function stopRun(
  context: AppContext,
  run: RunRecord,
  supersededBy: number | null,
): Promise<void> {
  if (supersededBy !== null) await context.store.markSuperseded(run.id, supersededBy);
  await context.store.requestCancel(run.id);
}
