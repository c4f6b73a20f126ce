import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { addApp } from './accounts.ts';
import type { WorkflowRun } from './actions-data.ts';
import { nodeId } from './create-world.ts';
import { headerText } from './handle-request.ts';
import { repositoryHtmlUrl } from './render.ts';
import { parseBody } from './request-body.ts';
import { GitHubError, numberParam, type Reply, type RequestContext, type Route } from './router.ts';
import { failLostJobs, noteHeartbeat } from './runner-heartbeats.ts';
import { runnerState } from './runner-state.ts';
import { claimJob, completeJob } from './workflow-runs.ts';
import type { Installation, Repository, World } from './world.ts';

/** Header that carries the registration token; `Authorization` belongs to people and apps. */
export const runnerTokenHeader = 'x-runner-token';

function requireRunner(context: RequestContext): void {
  const given = Buffer.from(headerText(context.headers[runnerTokenHeader]) ?? '');
  const wanted = Buffer.from(runnerState(context.world).token);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new GitHubError(401, 'This is not the registration token of the stand-in');
  }
}

const RegisterBody = z.object({ name: z.string().max(200), labels: z.array(z.string().max(100)).max(50) });

async function register(context: RequestContext): Promise<Reply> {
  const { name, labels } = parseBody(context, RegisterBody);
  const id = context.world.nextId();
  runnerState(context.world).runners.set(id, { id, name, labels });
  return { status: 201, body: { runner_id: id } };
}

/** What the runner needs to know of its job. */
export interface ClaimedJob {
  readonly job_id: number;
  readonly workflow_path: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly clone_url: string;
  /** Password for git: reads this repository's contents, for an hour. */
  readonly clone_token: string;
}

async function claim(context: RequestContext): Promise<Reply> {
  const { world } = context;
  const { runner_id } = parseBody(context, z.object({ runner_id: z.number() }));
  failLostJobs(world);
  const runner = runnerState(world).runners.get(runner_id);
  if (runner === undefined) throw new GitHubError(404, 'No runner has this id: register again');
  const claimed = claimJob(world, runner);
  if (claimed === undefined) return { status: 204 };
  const { repository, run } = claimed;
  noteHeartbeat(world, run.job.id);
  const body: ClaimedJob = {
    job_id: run.job.id,
    workflow_path: run.workflow.path,
    inputs: run.inputs,
    clone_url: `${repositoryHtmlUrl(world, repository)}.git`,
    clone_token: createJobToken(world, repository),
  };
  return { status: 200, body };
}

/** As GITHUB_TOKEN with `permissions: contents: read`. */
function createJobToken(world: World, repository: Repository): string {
  const token = `ghs_${randomBytes(18).toString('hex')}`;
  const expiresAt = new Date(world.now().getTime() + 3_600_000);
  const permissions = { metadata: 'read', contents: 'read' };
  const repositoryIds = new Set([repository.id]);
  const installation = actionsInstallation(world, repository);
  world.tokens.set(token, { kind: 'installation', installation, permissions, repositoryIds, expiresAt });
  return token;
}

/** GitHub Actions is an app like any other; it hears no events. */
function actionsInstallation(world: World, repository: Repository): Installation {
  const slug = 'github-actions';
  const known = [...world.installations.values()].find((candidate) => candidate.app.slug === slug);
  if (known !== undefined) return known;
  const draft = { permissions: { contents: 'read' }, events: [], webhookUrl: '', webhookSecret: '' };
  const { app } = addApp(world, { name: 'GitHub Actions', ...draft });
  const installation: Installation = {
    id: world.nextId(),
    app,
    account: repository.owner,
    repositoryIds: new Set(),
    permissions: app.permissions,
    events: [],
    createdAt: world.now(),
  };
  world.installations.set(installation.id, installation);
  return installation;
}

function jobOf(context: RequestContext): { readonly repository: Repository; readonly run: WorkflowRun } {
  const id = numberParam(context, 'job_id');
  for (const repository of context.world.repositories.values()) {
    for (const run of repository.workflowRuns.values()) {
      if (run.job.id === id && run.job.status === 'in_progress') return { repository, run };
    }
  }
  throw new GitHubError(404, 'No such job is running');
}

const maxLogLength = 2 ** 20;

/** Heartbeat: takes what the job printed since, and says whether it is to stop. */
async function progress(context: RequestContext): Promise<Reply> {
  const { run } = jobOf(context);
  noteHeartbeat(context.world, run.job.id);
  const { log } = parseBody(context, z.object({ log: z.string() }));
  run.job.log = (run.job.log + log).slice(-maxLogLength);
  return { status: 200, body: { is_cancel_requested: run.job.isCancelRequested } };
}

const retentionMilliseconds = 7 * 24 * 3_600_000;

async function upload(context: RequestContext): Promise<Reply> {
  const { world } = context;
  const { repository, run } = jobOf(context);
  const Body = z.object({ name: z.string().min(1).max(200), zip: z.base64() });
  const { name, zip } = parseBody(context, Body);
  const isTaken = [...repository.artifacts.values()].some(
    (other) => other.run === run && other.name === name,
  );
  if (isTaken) throw new GitHubError(409, `The run has an artifact with the name ${name} already`);
  const id = world.nextId();
  const createdAt = world.now();
  repository.artifacts.set(id, {
    ...{ id, nodeId: nodeId('MDg6QXJ0aWZhY3Q', id), name, run, createdAt },
    zip: Buffer.from(zip, 'base64'),
    expiresAt: new Date(createdAt.getTime() + retentionMilliseconds),
  });
  return { status: 201, body: { artifact_id: id } };
}

async function complete(context: RequestContext): Promise<Reply> {
  const { repository, run } = jobOf(context);
  const Body = z.object({ conclusion: z.enum(['success', 'failure', 'cancelled']) });
  completeJob(context.world, repository, run, parseBody(context, Body).conclusion);
  return { status: 204 };
}

/** The blob store behind the redirect: it knows no token of ours and refuses requests that bring one. */
async function download(context: RequestContext): Promise<Reply> {
  if (context.headers.authorization !== undefined) {
    throw new GitHubError(400, 'InvalidAuthenticationInfo: the address needs no Authorization header');
  }
  const offer = runnerState(context.world).downloads.get(context.params.key ?? '');
  if (offer === undefined) throw new GitHubError(404, 'BlobNotFound');
  if (offer.expiresAt <= context.world.now()) throw new GitHubError(403, 'AuthenticationFailed: expired');
  return { status: 200, headers: { 'content-type': 'application/zip' }, raw: offer.zip };
}

function runnerRoute(path: string, handle: Route['handle']): Route {
  return {
    method: 'POST',
    path: `/_runner/${path}`,
    access: 'anyone',
    handle: (context) => {
      requireRunner(context);
      return handle(context);
    },
  };
}

/** What the local runner speaks, and where artifacts are downloaded from. Not GitHub's protocol for runners. */
export const runnerRoutes: readonly Route[] = [
  runnerRoute('runners', register),
  runnerRoute('claims', claim),
  runnerRoute('jobs/{job_id}/progress', progress),
  runnerRoute('jobs/{job_id}/artifacts', upload),
  runnerRoute('jobs/{job_id}/completion', complete),
  { method: 'GET', path: '/_artifacts/{key}', access: 'anyone', handle: download },
];
