import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppDraft, addApp, addRepository, addUser, findUser, install } from './accounts.ts';
import { createWorld, type EmittedEvent } from './create-world.ts';
import { handleGit, isGitRequest } from './git-http.ts';
import { commonHeaders, handleRequest, type IncomingRequest } from './handle-request.ts';
import { compileRoutes, type Reply } from './router.ts';
import { allRoutes, plainRoutes, refListeners } from './routes.ts';
import { createWebhookQueue, type DeliveryRequest } from './webhook-queue.ts';
import type { App, Installation, Repository, User, World } from './world.ts';

/** One answered API request. */
export interface Exchange {
  readonly method: string;
  /** The route's path as GitHub's OpenAPI names it; null where no route fitted. */
  readonly route: string | null;
  readonly path: string;
  readonly status: number;
  readonly requestBody: unknown;
  readonly responseBody: unknown;
}

export interface LocalGitHubOptions {
  readonly now?: () => Date;
  /**
   * Faults for tests, before a request is handled: a reply instead of the answer, or 'drop-after': the request is
   * handled and the client gets 502.
   */
  readonly intercept?: (request: {
    readonly method: string;
    readonly path: string;
    readonly body: unknown;
  }) => Reply | 'drop-after' | undefined;
  /** True: this delivery gets lost on its way. */
  readonly isLost?: (request: DeliveryRequest) => boolean;
  readonly onExchange?: (exchange: Exchange) => void;
  readonly onDelivery?: (event: EmittedEvent) => void;
}

export interface LocalGitHub {
  /** http://127.0.0.1:port */
  readonly url: string;
  /** For Octokit's `baseUrl`. */
  readonly apiUrl: string;
  readonly world: World;
  addUser(login: string, type?: User['type']): User;
  addRepository(
    owner: string,
    name: string,
    options?: {
      readonly isPrivate?: boolean;
      readonly files?: Readonly<Record<string, string | Buffer>>;
      readonly ownerType?: 'User' | 'Organization';
    },
  ): Promise<Repository>;
  addApp(draft: AppDraft): { readonly app: App; readonly appId: number; readonly privateKey: string };
  install(app: App, repositories: readonly Repository[]): Installation;
  /** A personal token; also the password for git. */
  userToken(login: string): string;
  /** Resolves when every webhook so far was delivered (or tried). */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const maxBodyBytes = 40 * 1024 * 1024;

/** Starts the stand-in on a free port of 127.0.0.1; its data lies in a temporary folder until `stop`. */
export async function startLocalGitHub(options: LocalGitHubOptions = {}): Promise<LocalGitHub> {
  const folder = await mkdtemp(join(tmpdir(), 'metainfer-github-'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { world, queue } = createWorld({
    url,
    now: options.now ?? (() => new Date()),
    refListeners,
    makeQueue: (clock) => createWebhookQueue(clock, { isLost: options.isLost ?? (() => false) }),
    onEmit: (event) => options.onDelivery?.(event),
  });
  server.on('request', createListener(world, options));
  return {
    url,
    apiUrl: `${url}/api/v3`,
    world,
    addUser: (login, type) => addUser(world, login, type),
    addRepository: (owner, name, repositoryOptions) =>
      addRepository(world, folder, owner, name, repositoryOptions),
    addApp: (draft) => {
      const added = addApp(world, draft);
      return { ...added, appId: added.app.id };
    },
    install: (app, repositories) => install(world, app, repositories),
    userToken: (login) => userToken(world, login),
    settled: () => queue.settled(),
    async stop() {
      queue.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await queue.settled();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function userToken(world: World, login: string): string {
  const user = findUser(world, login) ?? addUser(world, login);
  const token = `ghp_${randomBytes(18).toString('hex')}`;
  world.tokens.set(token, { kind: 'user', user });
  return token;
}

function createListener(world: World, options: LocalGitHubOptions) {
  const apiRoutes = compileRoutes(allRoutes);
  const otherRoutes = compileRoutes(plainRoutes);
  let requests = 0;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const rawBody = await readBody(request);
      const incoming = { ...splitPath(world, request), headers: request.headers, rawBody };
      requests += 1;
      if (isGitRequest(incoming)) {
        sendReply(response, await handleGit(world, incoming), {});
        return;
      }
      if (!incoming.isApi) {
        sendReply(response, (await handleRequest(world, otherRoutes, incoming)).reply, {});
        return;
      }
      const outcome = await handleRequest(world, apiRoutes, incoming);
      options.onExchange?.({
        method: incoming.method,
        route: outcome.route?.path ?? null,
        path: incoming.path,
        status: outcome.reply.status,
        requestBody: outcome.requestBody,
        responseBody: outcome.reply.body,
      });
      sendReply(response, outcome.reply, commonHeaders(world, 5000 - requests));
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(error instanceof Error ? error.stack : String(error));
    }
  };
}

/** `/api/v3/x` and `/api/graphql` are the API; the rest are pages, git and the runner's own routes. */
function splitPath(
  world: World,
  request: IncomingMessage,
): Pick<IncomingRequest, 'method' | 'url' | 'path'> & { readonly isApi: boolean } {
  const url = new URL(request.url ?? '/', world.url);
  const method = request.method ?? 'GET';
  if (url.pathname === '/api/graphql') return { method, url, path: '/graphql', isApi: true };
  if (!url.pathname.startsWith('/api/v3/')) return { method, url, path: url.pathname, isApi: false };
  return { method, url, path: url.pathname.slice('/api/v3'.length), isApi: true };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error('The request body is larger than 40 MB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sendReply(response: ServerResponse, reply: Reply, headers: Readonly<Record<string, string>>): void {
  const hasJson = reply.raw === undefined && reply.body !== undefined;
  const content = reply.raw ?? (hasJson ? Buffer.from(JSON.stringify(reply.body)) : Buffer.alloc(0));
  response.writeHead(reply.status, {
    ...headers,
    ...(hasJson ? { 'content-type': 'application/json; charset=utf-8' } : {}),
    ...(reply.status === 204 || reply.status === 304 ? {} : { 'content-length': String(content.length) }),
    ...reply.headers,
  });
  response.end(content);
}
