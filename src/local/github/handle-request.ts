import { createHash, randomUUID } from 'node:crypto';
import { findRepository } from './accounts.ts';
import { authenticate } from './authenticate.ts';
import { authorizeRequest, canSee } from './authorize-request.ts';
import {
  type CompiledRoute,
  GitHubError,
  matchRoute,
  type Reply,
  type RequestContext,
  type Route,
} from './router.ts';
import type { Repository, World } from './world.ts';

/** A request after its body was read. */
export interface IncomingRequest {
  readonly method: string;
  readonly url: URL;
  /** Encoded path, without the prefix of the API. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawBody: Buffer;
}

/** What was answered, with the route that answered; null where none fits. */
export interface Outcome {
  readonly reply: Reply;
  readonly route: Route | null;
  readonly requestBody: unknown;
}

/** Routes, authenticates, authorizes and answers one request. Never throws for what GitHub would answer. */
export async function handleRequest(
  world: World,
  routes: readonly CompiledRoute[],
  request: IncomingRequest,
): Promise<Outcome> {
  let route: Route | null = null;
  let requestBody: unknown;
  try {
    const matched = matchRoute(routes, request.method, request.path);
    if (matched === undefined) throw unknownRoute(request);
    route = matched.route;
    requestBody = parseBody(request);
    const actor = authenticate(world, headerText(request.headers.authorization));
    const repository = findVisible(world, matched.params, actor);
    authorizeRequest(route, actor, repository);
    const context = contextOf(world, request, {
      actor,
      repository,
      params: matched.params,
      body: requestBody,
    });
    return { reply: withCache(request, await route.handle(context)), route, requestBody };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    return { reply: renderError(error), route, requestBody };
  }
}

function contextOf(
  world: World,
  request: IncomingRequest,
  parts: {
    readonly actor: RequestContext['actor'];
    readonly repository: Repository | undefined;
    readonly params: Readonly<Record<string, string>>;
    readonly body: unknown;
  },
): RequestContext {
  return {
    world,
    actor: parts.actor,
    get repository() {
      if (parts.repository === undefined) throw new Error(`No repository in ${request.path}`);
      return parts.repository;
    },
    params: parts.params,
    query: request.url.searchParams,
    body: parts.body,
    headers: request.headers,
    url: request.url,
  };
}

function findVisible(
  world: World,
  params: Readonly<Record<string, string>>,
  actor: RequestContext['actor'],
): Repository | undefined {
  if (params.owner === undefined || params.repo === undefined) return undefined;
  const repository = findRepository(world, params.owner, params.repo);
  if (repository === undefined || !canSee(repository, actor)) throw new GitHubError(404, 'Not Found');
  return repository;
}

function parseBody(request: IncomingRequest): unknown {
  if (request.rawBody.length === 0) return undefined;
  try {
    return JSON.parse(request.rawBody.toString('utf8'));
  } catch {
    throw new GitHubError(400, 'Problems parsing JSON');
  }
}

function unknownRoute(request: IncomingRequest): GitHubError {
  return new GitHubError(404, `${request.method} ${request.path} is not part of the local stand-in`);
}

/** The body of an error answer, as GitHub writes it. */
export function renderError(error: GitHubError): Reply {
  return {
    status: error.status,
    headers: error.headers,
    body: {
      message: error.message,
      ...(error.errors === undefined ? {} : { errors: error.errors }),
      documentation_url: 'https://docs.github.com/rest',
      status: String(error.status),
    },
  };
}

/** ETag on every successful GET; 304 where the client has it already. */
function withCache(request: IncomingRequest, reply: Reply): Reply {
  if (request.method !== 'GET' || reply.status !== 200) return reply;
  const hash = createHash('sha256').update(reply.raw ?? JSON.stringify(reply.body));
  const etag = `W/"${hash.digest('hex')}"`;
  const headers = { ...reply.headers, etag };
  if (headerText(request.headers['if-none-match']) === etag) return { status: 304, headers };
  return { ...reply, headers };
}

/** Headers that stand on every answer of the API. */
export function commonHeaders(world: World, remaining: number): Record<string, string> {
  const limit = 5000;
  return {
    'x-github-request-id': randomUUID().toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, remaining)),
    'x-ratelimit-used': String(limit - Math.max(0, remaining)),
    'x-ratelimit-reset': String(Math.floor(world.now().getTime() / 1000) + 3600),
    'x-ratelimit-resource': 'core',
  };
}

export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
