import type { IncomingMessage, ServerResponse } from 'node:http';
import { handleGit, isGitRequest } from './git-http.ts';
import {
  commonHeaders,
  handleRequest,
  type IncomingRequest,
  type Outcome,
  renderError,
} from './handle-request.ts';
import { compileRoutes, GitHubError, type Reply, type Route } from './router.ts';
import type { World } from './world.ts';

/** One answered API request. */
export interface Exchange {
  readonly method: string;
  /** The route's path as GitHub's OpenAPI names it; null where no route fitted. */
  readonly route: string | null;
  readonly path: string;
  readonly status: number;
  readonly requestBody: unknown;
  /** Undefined for empty and for raw answers. */
  readonly responseBody: unknown;
}

/** A fault for tests. A reply stands instead of the answer; 'drop-after': the request lands, the client gets 502. */
export type Fault = Reply | 'drop-after' | undefined;

export interface ListenerOptions {
  readonly apiRoutes: readonly Route[];
  readonly plainRoutes: readonly Route[];
  readonly intercept: (request: {
    readonly method: string;
    /** Without /api/v3. */
    readonly path: string;
    readonly body: unknown;
  }) => Fault;
  readonly onExchange: (exchange: Exchange) => void;
}

const maxBodyBytes = 40 * 1024 * 1024;

/** What answers the requests of the stand-in's server: API, git and pages. */
export function createListener(world: World, options: ListenerOptions) {
  const apiRoutes = compileRoutes(options.apiRoutes);
  const plainRoutes = compileRoutes(options.plainRoutes);
  let requests = 0;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const incoming = await readRequest(world, request);
      if (isGitRequest(incoming)) {
        sendReply(response, await handleGit(world, incoming), {});
      } else if (!incoming.isApi) {
        sendReply(response, (await handleRequest(world, plainRoutes, incoming)).reply, {});
      } else {
        requests += 1;
        sendReply(response, await answerApi(incoming), commonHeaders(world, 5000 - requests));
      }
    } catch (error) {
      answerFault(response, error);
    }
  };

  async function answerApi(incoming: IncomingRequest): Promise<Reply> {
    const fault = options.intercept({ ...incoming, body: jsonOf(incoming.rawBody) });
    if (fault !== undefined && fault !== 'drop-after') return fault;
    const outcome = await handleRequest(world, apiRoutes, incoming);
    options.onExchange(exchangeOf(incoming, outcome));
    return fault === 'drop-after' ? renderError(new GitHubError(502, 'Server Error')) : outcome.reply;
  }
}

function exchangeOf(incoming: IncomingRequest, outcome: Outcome): Exchange {
  return {
    method: incoming.method,
    route: outcome.route?.path ?? null,
    path: incoming.path,
    status: outcome.reply.status,
    requestBody: outcome.requestBody,
    responseBody: outcome.reply.body,
  };
}

/** `/api/v3/x` and `/api/graphql` are the API; the rest are pages, git and the runner's own routes. */
async function readRequest(
  world: World,
  request: IncomingMessage,
): Promise<IncomingRequest & { readonly isApi: boolean }> {
  const url = new URL(request.url ?? '/', world.url);
  const isGraphql = url.pathname === '/api/graphql';
  const isApi = isGraphql || url.pathname.startsWith('/api/v3/');
  const path = isGraphql ? '/graphql' : isApi ? url.pathname.slice('/api/v3'.length) : url.pathname;
  const rawBody = await readBody(request);
  return { method: request.method ?? 'GET', url, path, headers: request.headers, rawBody, isApi };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new GitHubError(413, 'The request body is larger than 40 MB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function sendReply(response: ServerResponse, reply: Reply, headers: Readonly<Record<string, string>>): void {
  const hasJson = reply.raw === undefined && reply.body !== undefined;
  const content = reply.raw ?? (hasJson ? Buffer.from(JSON.stringify(reply.body)) : Buffer.alloc(0));
  const hasLength = reply.status !== 204 && reply.status !== 304;
  response.writeHead(reply.status, {
    ...headers,
    ...(hasJson ? { 'content-type': 'application/json; charset=utf-8' } : {}),
    ...(hasLength ? { 'content-length': String(content.length) } : {}),
    ...reply.headers,
  });
  response.end(content);
}

/** A fault of the stand-in itself: told in full, since only its developers see it. */
function answerFault(response: ServerResponse, error: unknown): void {
  if (error instanceof GitHubError) {
    sendReply(response, renderError(error), {});
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`The local GitHub stumbled: ${text}\n`);
  const message = `The local stand-in stumbled: ${text.split('\n')[0]}`;
  sendReply(response, { status: 500, body: { message, documentation_url: '', status: '500' } }, {});
}
