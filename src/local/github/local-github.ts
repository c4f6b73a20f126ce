import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppDraft, addApp, addRepository, addUser, findUser, install } from './accounts.ts';
import { createWorld, type EmittedEvent } from './create-world.ts';
import { createListener, type Exchange, type ListenerOptions } from './http-listener.ts';
import { allRoutes, plainRoutes, refListeners } from './routes.ts';
import { createWebhookQueue, type DeliveryRequest } from './webhook-queue.ts';
import type { App, Installation, Repository, User, World } from './world.ts';

export interface LocalGitHubOptions {
  readonly now?: () => Date;
  /** Faults for tests, asked before each API request. */
  readonly intercept?: ListenerOptions['intercept'];
  /** True: this delivery gets lost on its way. */
  readonly isLost?: (request: DeliveryRequest) => boolean;
}

export interface Observer {
  /** After every answer of the API. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** At every event, before its delivery to an app. */
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
  observe(observer: Observer): void;
  /** Resolves when every webhook so far was delivered (or tried). */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the stand-in on a free port of 127.0.0.1; its data lies in a temporary folder until `stop`. */
export async function startLocalGitHub(options: LocalGitHubOptions = {}): Promise<LocalGitHub> {
  const folder = await mkdtemp(join(tmpdir(), 'metainfer-github-'));
  const observers: Observer[] = [];
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { world, queue } = createWorld({
    url,
    now: options.now ?? (() => new Date()),
    refListeners,
    makeQueue: (clock) => createWebhookQueue(clock, { isLost: options.isLost ?? (() => false) }),
    onEmit: (event) => {
      for (const observer of observers) observer.onDelivery?.(event);
    },
  });
  const listener = createListener(world, {
    apiRoutes: allRoutes,
    plainRoutes,
    intercept: options.intercept ?? (() => undefined),
    onExchange: (exchange) => {
      for (const observer of observers) observer.onExchange?.(exchange);
    },
  });
  server.on('request', listener);
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
    observe: (observer) => void observers.push(observer),
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
