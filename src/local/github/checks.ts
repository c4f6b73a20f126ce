import { type CheckPatch, type NewCheck, readCheckPatch, readNewCheck } from './check-requests.ts';
import type { CheckRun, CheckSuite } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { renderPage } from './pagination.ts';
import { resolveCommit } from './read-commits.ts';
import { renderAnnotation, renderCheckRun, renderCheckRunForEvent } from './render-check.ts';
import {
  GitHubError,
  numberParam,
  type PermissionNeed,
  type Reply,
  type RequestContext,
  type Route,
} from './router.ts';
import type { App, Repository, World } from './world.ts';

/** @throws GitHubError 403: people's tokens can't write checks */
function appOfCheck(context: RequestContext): App {
  if (context.actor.kind !== 'installation') {
    throw new GitHubError(403, 'You must authenticate via a GitHub App.');
  }
  return context.actor.app;
}

/** The check run of `{check_run_id}`. @throws GitHubError 404 */
function findCheckRun(context: RequestContext): CheckRun {
  const run = context.repository.checkRuns.get(numberParam(context, 'check_run_id'));
  if (run === undefined) throw new GitHubError(404, 'Not Found');
  return run;
}

async function suiteOf(context: RequestContext, app: App, headSha: string): Promise<CheckSuite> {
  const { world, repository } = context;
  const known = repository.checkSuites.find((suite) => suite.app === app && suite.headSha === headSha);
  if (known !== undefined) return known;
  const args = ['for-each-ref', '--points-at', headSha, '--format=%(refname:strip=2)', 'refs/heads'];
  const [branch = ''] = (await world.git(repository, args)).split('\n');
  const id = world.nextId();
  const suite: CheckSuite = {
    id,
    nodeId: nodeId('CS', id),
    app,
    headSha,
    headBranch: branch === '' ? null : branch,
    createdAt: world.now(),
    updatedAt: world.now(),
  };
  repository.checkSuites.push(suite);
  return suite;
}

function emitCheckRun(world: World, repository: Repository, run: CheckRun, action: string): void {
  const payload = { action, check_run: renderCheckRunForEvent(world, repository, run) };
  world.emit(repository, 'check_run', payload, run.app.bot);
}

/** Carries out what creating and updating have in common. A conclusion completes; another status opens again. */
function applyCheck(world: World, run: CheckRun, change: NewCheck | CheckPatch): void {
  if (change.details_url !== undefined) run.detailsUrl = change.details_url;
  if (change.external_id !== undefined) run.externalId = change.external_id;
  if (change.started_at !== undefined) run.startedAt = new Date(change.started_at);
  if (change.actions !== undefined) run.actions = change.actions;
  if (change.conclusion !== undefined) {
    run.status = 'completed';
    run.conclusion = change.conclusion;
    run.completedAt = change.completed_at === undefined ? world.now() : new Date(change.completed_at);
  } else if (change.status !== undefined) {
    run.status = change.status;
    run.conclusion = null;
    run.completedAt = null;
  }
  run.suite.updatedAt = world.now();
  if (change.output !== undefined) applyOutput(run, change.output);
}

function applyOutput(run: CheckRun, output: NonNullable<CheckPatch['output']>): void {
  run.title = output.title ?? run.title;
  run.summary = output.summary;
  run.text = output.text ?? null;
  for (const annotation of output.annotations ?? []) {
    run.annotations.push({
      path: annotation.path,
      start_line: annotation.start_line,
      end_line: annotation.end_line,
      start_column: annotation.start_column ?? null,
      end_column: annotation.end_column ?? null,
      annotation_level: annotation.annotation_level,
      title: annotation.title ?? null,
      message: annotation.message,
      raw_details: annotation.raw_details ?? null,
    });
  }
}

async function createCheck(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const app = appOfCheck(context);
  const wanted = readNewCheck(context);
  const { head_sha: headSha } = wanted;
  const commit = /^[0-9a-f]{40}$/.test(headSha) ? await resolveCommit(world, repository, headSha) : undefined;
  if (commit === undefined) throw new GitHubError(422, `No commit found for SHA: ${headSha}`);
  const id = world.nextId();
  const run: CheckRun = {
    id,
    nodeId: nodeId('CR', id),
    suite: await suiteOf(context, app, headSha),
    app,
    headSha,
    name: wanted.name,
    externalId: '',
    detailsUrl: null,
    status: 'queued',
    conclusion: null,
    startedAt: world.now(),
    completedAt: null,
    title: null,
    summary: null,
    text: null,
    annotations: [],
    actions: [],
  };
  applyCheck(world, run, wanted);
  repository.checkRuns.set(id, run);
  emitCheckRun(world, repository, run, 'created');
  if (run.status === 'completed') emitCheckRun(world, repository, run, 'completed');
  return { status: 201, body: renderCheckRun(world, repository, run) };
}

async function updateCheck(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const app = appOfCheck(context);
  const run = findCheckRun(context);
  if (run.app !== app) {
    throw new GitHubError(
      403,
      `Invalid app_id \`${app.id}\` - check run can only be modified by the GitHub App that created it.`,
    );
  }
  const patch = readCheckPatch(context);
  if (patch.name !== undefined) run.name = patch.name;
  applyCheck(world, run, patch);
  if (patch.conclusion !== undefined) emitCheckRun(world, repository, run, 'completed');
  return { status: 200, body: renderCheckRun(world, repository, run) };
}

/** By `check_name`, `status` and `app_id`; `filter` latest (the default) keeps the newest of each name and app. */
async function listForRef(context: RequestContext): Promise<Reply> {
  const { world, repository, params, query } = context;
  const sha = await resolveCommit(world, repository, params.ref ?? '');
  if (sha === undefined) throw new GitHubError(422, `No commit found for SHA: ${params.ref}`);
  const name = query.get('check_name');
  const status = query.get('status');
  const appId = query.get('app_id');
  let runs = [...repository.checkRuns.values()].filter(
    (run) =>
      run.headSha === sha &&
      (name === null || run.name === name) &&
      (status === null || run.status === status) &&
      (appId === null || String(run.app.id) === appId),
  );
  if (query.get('filter') !== 'all') {
    const newest = new Map(runs.map((run) => [`${run.app.id} ${run.name}`, run]));
    runs = runs.filter((run) => newest.get(`${run.app.id} ${run.name}`) === run);
  }
  return renderPage(
    context,
    runs.reverse(),
    (run) => renderCheckRun(world, repository, run),
    (rendered, total) => ({ total_count: total, check_runs: rendered }),
  );
}

const read: PermissionNeed = ['checks', 'read'];
const write: PermissionNeed = ['checks', 'write'];
const all = '/repos/{owner}/{repo}/check-runs';
const one = `${all}/{check_run_id}`;

export const checkRoutes: readonly Route[] = [
  { method: 'POST', path: all, needs: write, handle: createCheck },
  { method: 'PATCH', path: one, needs: write, handle: updateCheck },
  {
    method: 'GET',
    path: one,
    needs: read,
    async handle(context) {
      const { world, repository } = context;
      return { status: 200, body: renderCheckRun(world, repository, findCheckRun(context)) };
    },
  },
  {
    method: 'GET',
    path: `${one}/annotations`,
    needs: read,
    async handle(context) {
      const { world, repository } = context;
      const run = findCheckRun(context);
      return renderPage(context, run.annotations, (annotation) =>
        renderAnnotation(world, repository, run, annotation),
      );
    },
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/check-runs',
    needs: read,
    handle: listForRef,
  },
];
