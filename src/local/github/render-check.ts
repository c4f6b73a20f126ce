import type { CheckAnnotation, CheckRun, CheckSuite } from './conversation-data.ts';
import {
  renderApp,
  renderMinimalRepository,
  repositoryApiUrl,
  repositoryHtmlUrl,
  timestamp,
} from './render.ts';
import { renderMinimalPull } from './render-pull.ts';
import type { Repository, World } from './world.ts';

function pullsAt(world: World, repository: Repository, sha: string): Record<string, unknown>[] {
  return [...repository.pulls.values()]
    .filter((pull) => pull.headSha === sha && pull.headRepository === repository)
    .map((pull) => renderMinimalPull(world, repository, pull));
}

/** A check run as answers give it. */
export function renderCheckRun(world: World, repository: Repository, run: CheckRun): Record<string, unknown> {
  const url = `${repositoryApiUrl(world, repository)}/check-runs/${run.id}`;
  const html = `${repositoryHtmlUrl(world, repository)}/runs/${run.id}`;
  return {
    id: run.id,
    name: run.name,
    node_id: run.nodeId,
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: html,
    details_url: run.detailsUrl ?? html,
    status: run.status,
    conclusion: run.conclusion,
    started_at: timestamp(run.startedAt),
    completed_at: run.completedAt === null ? null : timestamp(run.completedAt),
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: run.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: run.suite.id },
    app: renderApp(world, run.app),
    pull_requests: pullsAt(world, repository, run.headSha),
  };
}

/** As `check_run` events carry it: with the suite. */
export function renderCheckRunForEvent(
  world: World,
  repository: Repository,
  run: CheckRun,
): Record<string, unknown> {
  return {
    ...renderCheckRun(world, repository, run),
    check_suite: renderSimpleSuite(world, repository, run.suite),
  };
}

/** Without the fields that only answers of the suites' own routes carry. */
function renderSimpleSuite(world: World, repository: Repository, suite: CheckSuite): Record<string, unknown> {
  const { status, conclusion } = stateOf(repository, suite);
  return {
    id: suite.id,
    node_id: suite.nodeId,
    head_branch: suite.headBranch,
    head_sha: suite.headSha,
    status,
    conclusion,
    url: `${repositoryApiUrl(world, repository)}/check-suites/${suite.id}`,
    before: null,
    after: suite.headSha,
    pull_requests: pullsAt(world, repository, suite.headSha),
    app: renderApp(world, suite.app),
    created_at: timestamp(suite.createdAt),
    updated_at: timestamp(suite.updatedAt),
    repository: renderMinimalRepository(world, repository),
  };
}

/** A suite is done when all its runs are, and as bad as the worst of them. */
function stateOf(
  repository: Repository,
  suite: CheckSuite,
): { readonly status: string; readonly conclusion: string | null } {
  const runs = [...repository.checkRuns.values()].filter((run) => run.suite === suite);
  if (runs.some((run) => run.status !== 'completed')) {
    const isQueued = runs.every((run) => run.status === 'queued');
    return { status: isQueued ? 'queued' : 'in_progress', conclusion: null };
  }
  const order = ['failure', 'timed_out', 'cancelled', 'action_required', 'success', 'neutral', 'skipped'];
  const conclusion = order.find((name) => runs.some((run) => run.conclusion === name)) ?? null;
  return { status: 'completed', conclusion };
}

/** GitHub's "check annotation". */
export function renderAnnotation(
  world: World,
  repository: Repository,
  run: CheckRun,
  annotation: CheckAnnotation,
): Record<string, unknown> {
  const path = encodeURIComponent(annotation.path);
  return { ...annotation, blob_href: `${repositoryHtmlUrl(world, repository)}/blob/${run.headSha}/${path}` };
}
