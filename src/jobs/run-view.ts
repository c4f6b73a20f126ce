import type { RunView } from '../delivery/run-view.ts';
import type { RepositoryRef } from '../model/github.ts';
import type { RunRecord } from '../model/run-record.ts';
import { renderPlan } from '../plan/render-plan.ts';
import type { AppContext } from './app-context.ts';

/** Effects that belong to an issue or a pull request and outlive a run: its sticky comment. */
export function issueScope(repository: RepositoryRef, number: number): string {
  return `issue:${repository.id}/${number}`;
}

/** Everything that the texts about a run may say. */
export async function makeRunView(
  context: AppContext,
  run: RunRecord,
  more: Partial<
    Pick<RunView, 'queue' | 'need' | 'approvalFrom' | 'autoApproveTokens' | 'isBranchMoved' | 'isRepairing'>
  > = {},
): Promise<RunView> {
  const { store } = context;
  const [plan, problems, report, result, engine, log, timeline, attempts, waitingBehind] = await Promise.all([
    store.readDocument(run.id, 'plan'),
    store.readDocument(run.id, 'problems'),
    store.readDocument(run.id, 'report'),
    store.readDocument(run.id, 'result'),
    store.readDocument(run.id, 'engine'),
    store.readDocument(run.id, 'log'),
    store.readTimeline(run.id),
    store.readAttempts(run.id),
    findPredecessor(context, run),
  ]);
  return {
    run,
    ...(plan === undefined ? {} : { plan, planText: renderPlan(plan) }),
    ...(problems === undefined ? {} : { problems }),
    ...(report === undefined ? {} : { report }),
    ...(result === undefined ? {} : { runner: result.runner }),
    ...(engine === undefined ? {} : { engine }),
    ...(log === undefined ? {} : { log }),
    timeline,
    attempts,
    links: linksOf(context, run, report !== undefined),
    waitingBehind,
    queue: null,
    ...more,
  };
}

function linksOf(context: AppContext, run: RunRecord, hasReport: boolean): RunView['links'] {
  const { owner, name, isPrivate } = run.repository;
  const home = `${context.githubUrl}/${owner}/${name}`;
  const { github } = run.state;
  const page = context.publicUrl === null ? null : `${context.publicUrl}/runs/${run.number}`;
  // An image of a private repository's run would need the operator's token: GitHub's proxy has none.
  const hasPlots = page !== null && hasReport && !isPrivate;
  return {
    dashboard: page,
    source: `${home}/${run.source.kind === 'issue' ? 'issues' : 'pull'}/${run.source.number}`,
    pull: github === undefined ? null : `${home}/pull/${github.pullNumber}`,
    workflow:
      typeof github?.workflowRunId === 'number' ? `${home}/actions/runs/${github.workflowRunId}` : null,
    plots: hasPlots ? { speed: `${page}/plots/speed.svg` } : {},
  };
}

/** The run of the repository whose steps come first. One that waits for a person or a runner holds nobody up. */
async function findPredecessor(context: AppContext, run: RunRecord): Promise<number | null> {
  if (run.state.status !== 'running') return null;
  const open = await context.store.listRuns({ repositoryId: run.repository.id, isOpen: true, limit: 100 });
  const ahead = open.filter(({ number, state }) => number < run.number && state.status === 'running');
  return ahead.length === 0 ? null : Math.min(...ahead.map(({ number }) => number));
}
