import type { Pull, RepositoryClient } from '../../adapters/github/repository-client.ts';
import { renderPullBody, renderPullTitle } from '../../delivery/render-pull.ts';
import { renderIssueStatus } from '../../delivery/render-status.ts';
import { AppError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { step } from '../../pipeline.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { chooseBase } from '../choose-base.ts';
import { engineFolder, isEnginePath } from '../engine-path.ts';
import { describePublication } from '../publication.ts';
import { makeRunView } from '../run-view.ts';
import { tellSource } from '../tell-source.ts';
import { findEarlier } from './find-earlier.ts';

/** Engine onto its branch, draft pull request. */
export async function publish(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const { state, source } = run;
  const client = clientOf(context, run.repository);
  const { name } = state.constraints!;
  const branch = `metainfer/${source.number}-${name}`;
  const baseBranch = await chooseBase(context, run);
  const base = await client.readBranch(baseBranch);
  if (base === undefined) {
    throw new AppError(
      'NOT_PERMITTED',
      `The branch ${baseBranch} does not exist, so an engine has nothing to start from. An empty repository needs a first commit.`,
    );
  }
  const engine = (await context.store.readDocument(run.id, 'engine'))!;
  const enginePath = engineFolder(name);
  const files = engine.files.map(({ path, text }) => ({ path: `${enginePath}/${path}`, text }));
  requireEnginePaths(enginePath, files);
  const publication = describePublication(run, engine);
  const { key, message, phase } = publication;
  const earlier = await findEarlier(context, run, client, { branch, key });
  const commit = await client.commitFiles(
    { scope: run.id, key },
    {
      branch,
      base: baseBranch,
      expectedHead: earlier.head,
      files,
      deletions: await findStrangers(client, enginePath, earlier.head ?? baseBranch, files),
      message,
      trailers: {
        'Metainfer-Run': run.id,
        'Metainfer-Phase': phase,
        'Constraint-Hash': state.constraintsSha256!,
      },
    },
  );
  const place = { branch, baseBranch, earlier: earlier.pull, isPartial: publication.isPartial };
  const pull = await preparePull(context, run, client, place);
  const event: RunEvent = {
    type: 'published',
    trail: {
      ...{ branch, baseBranch, enginePath },
      ...{ engineCommit: commit.sha, pullNumber: pull.number, pullNodeId: pull.nodeId },
    },
  };
  if (key !== 'engine') await tellPhase(context, { ...run, state: step(state, event).state });
  await context.store.addTimeline(run.id, {
    ...{ kind: 'github', url: pull.url },
    text: `${phase} on ${branch}, pull request #${pull.number}`,
  });
  return event;
}

/**
 * What lies in the engine's folder and is no part of this engine: left by an earlier one of that name, or by a person.
 * The engine is judged as a whole folder, so it goes; the pull request shows that.
 */
async function findStrangers(
  client: RepositoryClient,
  enginePath: string,
  ref: string,
  files: readonly { readonly path: string }[],
): Promise<readonly string[]> {
  const entries = await client.listFolder(enginePath, ref);
  const folder = entries.find(({ isFolder }) => isFolder);
  if (folder !== undefined) {
    throw new AppError(
      'BRANCH_MOVED',
      `${folder.path} lies where the engine goes, and an engine has no folders inside. Nothing was changed. Move it elsewhere, or give the engine another name.`,
    );
  }
  return entries.map(({ path }) => path).filter((path) => !files.some((file) => file.path === path));
}

/** A new draft, or the pull request of a former run: its text is about another engine and promises what that one kept. */
async function preparePull(
  context: AppContext,
  run: RunRecord,
  client: RepositoryClient,
  place: {
    readonly branch: string;
    readonly baseBranch: string;
    readonly earlier: Pull | undefined;
    readonly isPartial: boolean;
  },
): Promise<Pull> {
  const { branch: head, baseBranch: base, earlier, isPartial } = place;
  // Of several commits the first opens it, and the last says what became of it.
  if (earlier !== undefined && run.state.github !== undefined && isPartial) return earlier;
  const view = await makeRunView(context, run);
  const body = renderPullBody(view, { closes: false });
  if (earlier === undefined) {
    const title = renderPullTitle(view);
    return client.openPull({ scope: run.id, key: 'pull' }, { head, base, title, body });
  }
  await client.updatePullBody({ scope: run.id, key: 'pull-body' }, earlier.number, body);
  return earlier;
}

/** The sticky comment where the engine was asked for, once a phase is there: at most once a minute. */
async function tellPhase(context: AppContext, run: RunRecord): Promise<void> {
  const told = (await context.store.readTimeline(run.id)).findLast(
    ({ kind, text }) => kind === 'github' && text.includes(' on metainfer/'),
  );
  if (told !== undefined && context.now().getTime() - told.at.getTime() < 60_000) return;
  await tellSource(context, run, renderIssueStatus(await makeRunView(context, run)));
}

/** Generated bytes go into the engine's folder and nowhere else, whatever made them. */
function requireEnginePaths(folder: string, files: readonly { readonly path: string }[]): void {
  const stray = files.find(({ path }) => !isEnginePath(folder, path));
  if (stray === undefined) return;
  throw new AppError('INTERNAL', `A generated file would lie at ${stray.path}, outside ${folder}.`);
}
