import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findRepository } from './accounts.ts';
import { authenticate } from './authenticate.ts';
import { canSee, hasRole, isGranted } from './authorize-request.ts';
import { pushFileVariable, refuseWorkflowsVariable } from './bare-repository.ts';
import { GitFailure, runGit } from './git.ts';
import { headerText, type IncomingRequest } from './handle-request.ts';
import { announceRefChange } from './move-ref.ts';
import { type Actor, GitHubError, type Reply } from './router.ts';
import type { Repository, User, World } from './world.ts';

const gitPath = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

export function isGitRequest(request: Pick<IncomingRequest, 'path'>): boolean {
  return gitPath.test(request.path);
}

/** Smart HTTP through git's own `http-backend`; a token or a person's token is the password of Basic auth. */
export async function handleGit(world: World, request: IncomingRequest): Promise<Reply> {
  try {
    const [, owner = '', name = '', service = ''] = gitPath.exec(request.path) ?? [];
    const isPush =
      service === 'git-receive-pack' || request.url.searchParams.get('service') === 'git-receive-pack';
    const actor = authenticate(world, headerText(request.headers.authorization));
    const repository = findRepository(world, owner, name);
    const user = requireAccess(repository, actor, isPush);
    const environment = cgiEnvironment(request, service, user);
    if (service !== 'git-receive-pack') return parseCgi(await runBackend(repository!, request, environment));
    return await receivePush(world, repository!, request, { environment, actor, user: user! });
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    const headers = error.status === 401 ? { 'www-authenticate': 'Basic realm="GitHub"' } : {};
    return {
      status: error.status,
      headers: { 'content-type': 'text/plain', ...headers },
      raw: Buffer.from(`${error.message}\n`),
    };
  }
}

/** The user that acts; undefined for an anonymous clone. @throws GitHubError 401 so that git asks for a password */
function requireAccess(repository: Repository | undefined, actor: Actor, isPush: boolean): User | undefined {
  const isAnonymous = actor.kind === 'anonymous';
  if (isAnonymous && (isPush || repository === undefined || repository.isPrivate)) {
    throw new GitHubError(401, 'Repository not found.');
  }
  if (repository === undefined || !canSee(repository, actor)) {
    throw new GitHubError(404, 'Repository not found.');
  }
  if (actor.kind === 'app') throw new GitHubError(401, 'Bad credentials');
  if (actor.kind === 'installation') {
    const isInstalled = actor.repositoryIds.has(repository.id);
    const isAllowed = isInstalled && isGranted(actor.permissions, ['contents', isPush ? 'write' : 'read']);
    if (!isAllowed && (isPush || repository.isPrivate)) {
      throw new GitHubError(403, 'Write access to repository not granted.');
    }
  }
  if (actor.kind === 'user' && isPush && !hasRole(repository, actor.user, 'write')) {
    throw new GitHubError(403, `Permission to ${repository.name} denied to ${actor.user.login}.`);
  }
  return isAnonymous ? undefined : actor.user;
}

function cgiEnvironment(
  request: IncomingRequest,
  service: string,
  user: User | undefined,
): Record<string, string> {
  const header = (name: string) => headerText(request.headers[name]) ?? '';
  return {
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${service}`,
    QUERY_STRING: request.url.search.slice(1),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: header('content-type'),
    CONTENT_LENGTH: String(request.rawBody.length),
    HTTP_CONTENT_ENCODING: header('content-encoding'),
    HTTP_GIT_PROTOCOL: header('git-protocol'),
    ...(user === undefined ? {} : { REMOTE_USER: user.login }),
  };
}

async function runBackend(
  repository: Repository,
  request: IncomingRequest,
  environment: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const whole = { ...environment, GIT_PROJECT_ROOT: repository.folder };
  try {
    return await runGit(repository.folder, ['http-backend'], request.rawBody, whole);
  } catch (error) {
    // A refused shallow fetch ends with a status, after its answer was written.
    if (error instanceof GitFailure && error.stdout.length > 0) return error.stdout;
    throw error;
  }
}

/** The hook names what changed; it is announced before git hears that its push went through. */
async function receivePush(
  world: World,
  repository: Repository,
  request: IncomingRequest,
  by: {
    readonly environment: Readonly<Record<string, string>>;
    readonly actor: Actor;
    readonly user: User;
  },
): Promise<Reply> {
  const file = join(repository.folder, `push-${randomUUID()}`);
  const mayChangeWorkflows =
    by.actor.kind !== 'installation' || isGranted(by.actor.permissions, ['workflows', 'write']);
  const environment = {
    ...by.environment,
    [pushFileVariable]: file,
    ...(mayChangeWorkflows ? {} : { [refuseWorkflowsVariable]: '1' }),
  };
  const reply = parseCgi(await runBackend(repository, request, environment));
  const lines = await readFile(file, 'utf8').catch(() => '');
  await rm(file, { force: true });
  for (const line of lines.split('\n').filter((text) => text !== '')) {
    const [before = '', after = '', ref = ''] = line.split(' ');
    const change = { ref, before: shaOrNull(before), after: shaOrNull(after), sender: by.user };
    await announceRefChange(world, repository, change);
  }
  return reply;
}

function shaOrNull(sha: string): string | null {
  return /^0+$/.test(sha) ? null : sha;
}

/** A CGI answer: headers, an empty line, the body. */
function parseCgi(output: Buffer): Reply {
  const end = output.indexOf('\r\n\r\n');
  const lines = output.subarray(0, end).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  let status = 200;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'status') status = Number.parseInt(value, 10);
    else headers[name] = value;
  }
  return { status, headers, raw: output.subarray(end + 4) };
}
