import type { Pull, RepositoryClient } from '../../adapters/github/repository-client.ts';
import { renderPullBody, renderPullTitle } from '../../delivery/render-pull.ts';
import { AppError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { chooseBase } from '../choose-base.ts';
import { engineFolder, isEnginePath } from '../engine-path.ts';
import { findReportCommits } from '../report-commits.ts';
import { makeRunView } from '../run-view.ts';

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
  const earlier = await findEarlier(context, run, client, branch);
  const commit = await client.commitFiles(
    { scope: run.id, key: 'engine' },
    {
      branch,
      base: baseBranch,
      expectedHead: earlier.head,
      files,
      deletions: await findStrangers(client, enginePath, earlier.head ?? baseBranch, files),
      message: `feat(engines): ${name}\n\nGenerated for ${source.kind === 'issue' ? 'issue' : 'pull request'} #${source.number}.`,
      trailers: {
        'Metainfer-Run': run.id,
        'Metainfer-Phase': 'engine',
        'Constraint-Hash': state.constraintsSha256!,
      },
    },
  );
  const pull = await preparePull(context, run, client, { branch, baseBranch, earlier: earlier.pull });
  await context.store.addTimeline(run.id, {
    kind: 'github',
    text: `engine on ${branch}, pull request #${pull.number}`,
    url: pull.url,
  });
  return {
    type: 'published',
    trail: {
      branch,
      baseBranch,
      enginePath,
      engineCommit: commit.sha,
      pullNumber: pull.number,
      pullNodeId: pull.nodeId,
    },
  };
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

interface Earlier {
  /** Head of the branch that a former run of this issue left; undefined: there is no branch, or no run of ours made it. */
  readonly head: string | undefined;
  readonly pull: Pull | undefined;
}

/** What a superseded or failed run for the same engine left: its branch and its pull request are used again. */
async function findEarlier(
  context: AppContext,
  run: RunRecord,
  client: RepositoryClient,
  branch: string,
): Promise<Earlier> {
  const runs = await context.store.listRuns({
    repositoryId: run.repository.id,
    sourceKind: run.source.kind,
    sourceNumber: run.source.number,
    limit: 50,
  });
  const former = runs.find(({ id, state }) => id !== run.id && state.github?.branch === branch);
  const nothing = { head: undefined, pull: undefined };
  if (former === undefined) return nothing;
  const trail = former.state.github!;
  const head = await client.readBranch(branch);
  if (head === undefined) return nothing;
  const reports = await findReportCommits(context, former);
  const own = [trail.engineCommit, ...reports];
  const mine = await context.store.effects.find(run.id, 'engine');
  // This very run may have committed before a crash: then the commit is found by its trailer.
  if (!own.includes(head.sha) && mine === undefined) {
    throw new AppError(
      'BRANCH_MOVED',
      `The branch ${branch} was changed since run ${former.number} wrote it (its head is ${head.sha.slice(0, 12)}). Nothing was overwritten. Delete or rename the branch, then \`/metainfer retry\`.`,
    );
  }
  const pull = await client.readPull(trail.pullNumber);
  return {
    head: own.find((sha) => sha === head.sha) ?? head.sha,
    pull: pull.state === 'open' ? pull : undefined,
  };
}

/** A new draft, or the pull request of a former run: its text is about another engine and promises what that one kept. */
async function preparePull(
  context: AppContext,
  run: RunRecord,
  client: RepositoryClient,
  place: { readonly branch: string; readonly baseBranch: string; readonly earlier: Pull | undefined },
): Promise<Pull> {
  const { branch: head, baseBranch: base, earlier } = place;
  const view = await makeRunView(context, run);
  const body = renderPullBody(view, { closes: false });
  if (earlier === undefined) {
    const title = renderPullTitle(view);
    return client.openPull({ scope: run.id, key: 'pull' }, { head, base, title, body });
  }
  await client.updatePullBody({ scope: run.id, key: 'pull-body' }, earlier.number, body);
  return earlier;
}

/** Generated bytes go into the engine's folder and nowhere else, whatever made them. */
function requireEnginePaths(folder: string, files: readonly { readonly path: string }[]): void {
  const stray = files.find(({ path }) => !isEnginePath(folder, path));
  if (stray === undefined) return;
  throw new AppError('INTERNAL', `A generated file would lie at ${stray.path}, outside ${folder}.`);
}
