import type { Pull, RepositoryClient } from '../../adapters/github/repository-client.ts';
import { AppError } from '../../model/errors.ts';
import type { RunRecord } from '../../model/run-record.ts';
import type { AppContext } from '../app-context.ts';
import { findReportCommits } from '../report-commits.ts';

/** What is there of an engine before this commit of it. */
export interface Earlier {
  /** Head of the branch that this run or a former one of this issue left; undefined: there is no branch, or no run of ours made it. */
  readonly head: string | undefined;
  readonly pull: Pull | undefined;
}

/**
 * What earlier phases of this run, or a superseded or failed run for the same engine left: its branch and its pull
 * request are used again.
 * @throws AppError BRANCH_MOVED where somebody else pushed to the branch
 */
export async function findEarlier(
  context: AppContext,
  run: RunRecord,
  client: RepositoryClient,
  { branch, key }: { readonly branch: string; readonly key: string },
): Promise<Earlier> {
  const former = run.state.github === undefined ? await findFormer(context, run, branch) : run;
  const nothing = { head: undefined, pull: undefined };
  if (former === undefined) return nothing;
  const trail = former.state.github!;
  const head = await client.readBranch(branch);
  const isOwn = former.id === run.id;
  if (head === undefined && isOwn) throw gone(`The branch ${branch} is gone`);
  if (head === undefined) return nothing;
  const reports = await findReportCommits(context, former);
  const own = [trail.engineCommit, ...reports];
  const mine = await context.store.effects.find(run.id, key);
  // This very run may have committed before a crash: then the commit is found by its trailer.
  if (!own.includes(head.sha) && mine === undefined) {
    throw new AppError(
      'BRANCH_MOVED',
      `The branch ${branch} was changed since run ${former.number} wrote it (its head is ${head.sha.slice(0, 12)}). Nothing was overwritten. Delete or rename the branch, then \`/metainfer retry\`.`,
    );
  }
  const pull = await client.readPull(trail.pullNumber);
  if (pull.state === 'closed' && isOwn)
    throw gone(`Pull request #${pull.number} is ${pull.isMerged ? 'merged' : 'closed'}`);
  return { head: head.sha, pull: pull.state === 'open' ? pull : undefined };
}

function gone(what: string): AppError {
  return new AppError(
    'BRANCH_MOVED',
    `${what}, so there is nowhere to go on. Reopen or restore it and comment \`/metainfer retry\`, or ask anew in another issue.`,
  );
}

async function findFormer(
  { store }: AppContext,
  run: RunRecord,
  branch: string,
): Promise<RunRecord | undefined> {
  const runs = await store.listRuns({
    repositoryId: run.repository.id,
    sourceKind: run.source.kind,
    sourceNumber: run.source.number,
    limit: 50,
  });
  return runs.find(({ id, state }) => id !== run.id && state.github?.branch === branch);
}
