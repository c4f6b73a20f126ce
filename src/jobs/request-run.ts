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

/** The newest run of this source, where it asks the same. */
export async function findSame(
  context: AppContext,
  { repository, source, text }: Pick<RunRequest, 'repository' | 'source' | 'text'>,
): Promise<RunRecord | undefined> {
  const [newest] = await runsOfSource(context, repository, source);
  const isSame =
    newest !== undefined && hashRequest(context, newest.state.input.text) === hashRequest(context, text);
  return isSame ? newest : undefined;
}

/**
 * A run for what the text asks. Where the newest run of this source asks the same, that one is given back: an edit that
 * changes nothing starts nothing. Otherwise the new run takes the place of every open one.
 */
export async function requestRun(
  context: AppContext,
  request: RunRequest,
): Promise<{ readonly run: RunRecord; readonly isNew: boolean }> {
  const { repository, source, text } = request;
  const earlier = await runsOfSource(context, repository, source);
  const same = await findSame(context, request);
  const isDue = same === undefined || (request.isAnew === true && !isOpen(same.state));
  const made = isDue
    ? await createRun(context, request, hashRequest(context, text))
    : { run: same, isNew: false };
  // Also where the run was there: whoever made it may have died before this.
  for (const run of earlier.filter(
    (candidate) => isOpen(candidate.state) && candidate.number < made.run.number,
  ))
    await stopRun(context, run, made.run.number);
  return made;
}

function createRun(
  context: AppContext,
  { repository, source, actor, text, holdAfterPlan }: RunRequest,
  requestSha256: string,
): Promise<{ readonly run: RunRecord; readonly isNew: boolean }> {
  const id = randomUUID();
  const fileName = source.path ?? `issue #${source.number}`;
  const state = {
    ...startRun(id, { fileName, text, origin: 'github' }, ''),
    ...(holdAfterPlan ? { holdAfterPlan } : {}),
  };
  return context.store.createRun({ id, repository, source, requestedBy: actor, state, requestSha256 });
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
