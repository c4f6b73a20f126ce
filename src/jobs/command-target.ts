import type { CommandPlace, RepositoryRef } from '../model/github.ts';
import type { RunRecord, RunSource } from '../model/run-record.ts';
import { findConstraintBlock } from '../webhooks/find-constraint-block.ts';
import { type AppContext, clientOf } from './app-context.ts';
import { hashRequest } from './constraint-request.ts';

/** What a command is about. */
export interface Target {
  /** The newest run of the issue, of the pull request's constraint file, or of the engine's pull request. */
  readonly newest: RunRecord | undefined;
  /** What the issue asks for now; undefined on pull requests and where there is no constraint file. */
  readonly request: { readonly source: RunSource; readonly text: string } | undefined;
  /** Somebody allowed has let this constraint hash through. */
  readonly isApproved: boolean;
}

export async function findTarget(
  context: AppContext,
  repository: RepositoryRef,
  place: CommandPlace,
): Promise<Target> {
  const engineRun = place.isPull ? await context.store.findRunByPull(repository.id, place.number) : undefined;
  if (engineRun !== undefined) return { newest: engineRun, request: undefined, isApproved: false };
  const [newest] = await context.store.listRuns({
    repositoryId: repository.id,
    sourceKind: place.isPull ? 'pull' : 'issue',
    sourceNumber: place.number,
    limit: 1,
  });
  if (place.isPull) return { newest, request: requestOf(newest), isApproved: false };
  const { body } = await clientOf(context, repository).readIssue(place.number);
  const block = findConstraintBlock(body);
  if (block.kind !== 'found') return { newest, request: undefined, isApproved: false };
  const approval = await context.store.findApproval(
    repository.id,
    place.number,
    hashRequest(context, block.text),
  );
  const source = { kind: 'issue', number: place.number, path: null, firstLine: block.firstLine } as const;
  return { newest, request: { source, text: block.text }, isApproved: approval !== undefined };
}

function requestOf(run: RunRecord | undefined): Target['request'] {
  return run === undefined ? undefined : { source: run.source, text: run.state.input.text };
}
