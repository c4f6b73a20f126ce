import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type ApplicationFunction, createNodeMiddleware, Probot } from 'probot';
import { AppOctokit } from './adapters/github/app-octokit.ts';
import { createAppClient } from './adapters/github/create-app-client.ts';
import type { AppClient } from './adapters/github/repository-client.ts';
import { labelsFor, readRunnerLabels } from './adapters/runner/runner-labels.ts';
import { openStore, type StoreTarget } from './adapters/store/open-store.ts';
import type { JobHandlers, Store } from './adapters/store/store.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { createMetrics, type Metrics } from './dashboard/metrics.ts';
import { renderPlot } from './delivery/plots.ts';
import type { AppContext, Home } from './jobs/app-context.ts';
import { handleDelivery } from './jobs/handle-delivery.ts';
import { performStep } from './jobs/perform-step.ts';
import { reconcile } from './jobs/reconcile.ts';
import { step } from './pipeline.ts';
import { renderPlan } from './plan/render-plan.ts';
import { openKnowledge } from './preparation/knowledge-base.ts';
import { packageRoot } from './preparation/package-root.ts';
import { describeDelivery } from './webhooks/describe-delivery.ts';

/** Settings of a running app; `readServeConfig` makes them from the environment. */
export interface AppSettings {
  readonly appId: number;
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly database: StoreTarget;
  readonly cacheFolder: string;
  /** Another knowledge base than this program's own. */
  readonly knowledgeFolder?: string;
  /** Where people reach this app; null: no links to its pages are given. `listening` takes the address it listens on. */
  readonly publicUrl: string | 'listening' | null;
  readonly home: Home;
  /** Web address of GitHub, and base of its REST API. */
  readonly githubUrl: string;
  readonly apiUrl: string;
  readonly operatorToken: string | undefined;
  /** Space between writes: as GitHub asks (1 s, 3 s where people are notified), or none against a stand-in in tests. */
  readonly writeSpacing: 'github' | 'none';
  /** The clock; default: this machine's. */
  readonly now?: () => Date;
  /** Names this instance in the database. */
  readonly instance: string;
}

export interface RunningApp {
  readonly url: string;
  readonly client: AppClient;
  readonly store: Store;
  /** Drains: no new webhook or job is taken, running ones may finish for this long. */
  stop(graceSeconds: number): Promise<void>;
}

const webhooksPath = '/api/github/webhooks';
/** GitHub sends nothing larger. */
const largestPayload = 25 * 2 ** 20;

/** The app function: every delivery is stored with its job in one transaction, then acknowledged. Nothing else. */
export function createAppFunction(
  store: Pick<Store, 'acceptDelivery'>,
  metrics: Pick<Metrics, 'observeAcknowledgement'>,
  log: Logger,
): ApplicationFunction {
  return (app) => {
    app.onAny(async ({ id, name, payload }) => {
      const began = performance.now();
      const { queue, ...described } = describeDelivery(name, payload);
      const accepted = await store.acceptDelivery({ id, event: name, payload, ...described }, queue);
      metrics.observeAcknowledgement((performance.now() - began) / 1000);
      log.debug({ delivery: id, event: name, action: described.action, accepted }, 'delivery accepted');
    });
  };
}

/**
 * Starts one instance: store, queues, webhooks, dashboard. Several may share a PostgreSQL database.
 * @throws AppError DATABASE_UNAVAILABLE, KNOWLEDGE_INVALID
 */
export async function startApp(settings: AppSettings, log: Logger): Promise<RunningApp> {
  const catalog = await openKnowledge(settings.cacheFolder, settings.knowledgeFolder);
  const labels = await readRunnerLabels(join(packageRoot(), 'runner-config/labels.yaml'));
  const opened = await openStore(settings.database, { log, instance: settings.instance, step });
  const { store, queues } = opened;
  const probot = new Probot({
    appId: settings.appId,
    privateKey: settings.privateKey,
    secret: settings.webhookSecret,
    baseUrl: settings.apiUrl,
    Octokit: settings.writeSpacing === 'github' ? AppOctokit : unspacedOctokit(),
    log,
  });
  const client = createAppClient({ probot, effects: store.effects, log });
  const metrics = createMetrics(store, client.requestCounts);
  let isReady = true;
  const dashboard = createDashboard({
    ...{ store, metrics, githubUrl: settings.githubUrl, operatorToken: settings.operatorToken, log },
    ...{ renderPlan, renderPlot, isReady: () => isReady },
  });
  const middleware = await createNodeMiddleware(createAppFunction(store, metrics, log), {
    probot,
    webhooksPath,
  });
  const server = await listen(settings, async (request, response) => {
    if (refuseLarge(request, response) || (await dashboard(request, response))) return;
    await middleware(request, response, () => response.writeHead(404).end('Not found\n'));
  });
  const url = `http://${settings.host}:${(server.address() as AddressInfo).port}`;
  const context: AppContext = {
    ...{ store, queues, app: client, catalog, log, home: settings.home },
    publicUrl: settings.publicUrl === 'listening' ? url : settings.publicUrl,
    githubUrl: settings.githubUrl,
    labelsFor: (target) =>
      labelsFor(labels, String(target['hardware.platform']), String(target['hardware.arch'])),
    observeStep: metrics.observeStep,
    now: settings.now ?? (() => new Date()),
  };
  await queues.start(createHandlers(context));
  await queues.sendReconcile();
  const stop = async (graceSeconds: number): Promise<void> => {
    isReady = false;
    await close(server);
    await queues.stop(graceSeconds);
    await opened.close();
  };
  return { url, client, store, stop };
}

function unspacedOctokit(): typeof AppOctokit {
  return AppOctokit.defaults((options: { readonly throttle?: object }) => ({
    ...options,
    throttle: { ...options.throttle, enabled: false },
  })) as typeof AppOctokit;
}

function createHandlers(context: AppContext): JobHandlers {
  const memory = { hasSwept: false, redelivered: new Map<string, number>() };
  return {
    delivery: (deliveryId) => handleDelivery(context, deliveryId),
    step: (repositoryId, signal) => performStep(context, repositoryId, signal),
    reconcile: (signal) => reconcile(context, memory, signal),
    async onDead(queue, data) {
      context.log.error({ queue, data }, 'a job was given up');
    },
  };
}

function listen(
  { host, port }: AppSettings,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Server> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function refuseLarge(request: IncomingMessage, response: ServerResponse): boolean {
  if (Number(request.headers['content-length'] ?? 0) <= largestPayload) return false;
  response.writeHead(413, { connection: 'close' }).end('Too large\n');
  return true;
}

/** Waits for requests in flight; idle keep-alive connections would hold it open for seconds. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
