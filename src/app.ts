import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type ApplicationFunction, createNodeMiddleware, Probot } from 'probot';
import { AppOctokit } from './adapters/github/app-octokit.ts';
import { createAppClient } from './adapters/github/create-app-client.ts';
import type { AppClient } from './adapters/github/repository-client.ts';
import { addressText, closeServer, listen, type RequestHandler } from './adapters/http/listen.ts';
import { createWebhookReceiver } from './adapters/http/receive-webhook.ts';
import { openLanguageModel } from './adapters/llm/open-language-model.ts';
import { labelsFor, readRunnerLabels } from './adapters/runner/runner-labels.ts';
import { describeFolderFault, makeFolder } from './adapters/store/make-folder.ts';
import { openStore, type StoreTarget } from './adapters/store/open-store.ts';
import type { JobHandlers, Store } from './adapters/store/store.ts';
import { createDashboard } from './dashboard/dashboard.ts';
import { createMetrics, type Metrics } from './dashboard/metrics.ts';
import { renderPlot } from './delivery/plots.ts';
import type { AppContext, Home } from './jobs/app-context.ts';
import { handleDelivery } from './jobs/handle-delivery.ts';
import { performStep } from './jobs/perform-step.ts';
import { reconcile } from './jobs/reconcile.ts';
import { AppError } from './model/errors.ts';
import type { LlmSettings } from './model/llm-settings.ts';
import { step } from './pipeline.ts';
import { renderPlan } from './plan/render-plan.ts';
import { openKnowledge } from './preparation/knowledge-base.ts';
import { createKnowledgePages } from './preparation/knowledge-pages.ts';
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
  /** Without it contracts that knowledge has no realization for stay missing. */
  readonly llm?: { readonly settings: LlmSettings; readonly apiKey: string | undefined };
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
/** Requests in flight may finish for this long once the app is being stopped. */
const requestGraceSeconds = 2;

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
 * Starts one instance: store, queues, webhooks, dashboard. Several may share a PostgreSQL database. Nothing stays open
 * where it does not start.
 * @throws AppError SETTINGS_INVALID, DATABASE_UNAVAILABLE, KNOWLEDGE_INVALID
 */
export async function startApp(settings: AppSettings, log: Logger): Promise<RunningApp> {
  const opened: (() => Promise<void>)[] = [];
  try {
    return await open(settings, log, opened);
  } catch (error) {
    for (const close of opened.reverse()) {
      await close().catch((late: unknown) => log.warn({ err: late }, 'the end of the start-up met an error'));
    }
    throw error;
  }
}

async function open(
  settings: AppSettings,
  log: Logger,
  opened: (() => Promise<void>)[],
): Promise<RunningApp> {
  await assertCacheFolder(settings.cacheFolder);
  // First of all: a port that is taken is said at once, and whoever comes too early gets an answer.
  let handle: RequestHandler = async (_, response) => {
    response.writeHead(503, { 'retry-after': '5', connection: 'close' }).end('starting\n');
  };
  const server = await listen(settings, (request, response) => handle(request, response), log);
  opened.push(() => closeServer(server, 0));
  const catalog = await openKnowledge(settings.cacheFolder, settings.knowledgeFolder);
  const labels = await readRunnerLabels(join(packageRoot(), 'runner-config/labels.yaml'));
  const database = await openStore(settings.database, { log, instance: settings.instance, step });
  opened.push(database.close);
  const { store, queues } = database;
  const probot = createProbot(settings, log);
  const client = createAppClient({ probot, effects: store.effects, log });
  const metrics = createMetrics(store, client.requestCounts);
  let isReady = true;
  const dashboard = createDashboard({
    ...{ store, metrics, githubUrl: settings.githubUrl, operatorToken: settings.operatorToken, log },
    ...{ renderPlan, renderPlot, isReady: () => isReady },
    knowledge: createKnowledgePages(() => catalog, settings.knowledgeFolder),
  });
  const app = createAppFunction(store, metrics, log);
  const receive = createWebhookReceiver(await createNodeMiddleware(app, { probot, webhooksPath }));
  const url = `http://${addressText(settings.host, (server.address() as AddressInfo).port)}`;
  const context: AppContext = {
    ...{ store, queues, app: client, catalog, log, home: settings.home },
    publicUrl: settings.publicUrl === 'listening' ? url : settings.publicUrl,
    githubUrl: settings.githubUrl,
    ...(settings.llm === undefined ? {} : { llm: connectModel(settings.llm, log) }),
    labelsFor: (target) =>
      labelsFor(labels, String(target['hardware.platform']), String(target['hardware.arch'])),
    observeStep: metrics.observeStep,
    now: settings.now ?? (() => new Date()),
  };
  await queues.start(createHandlers(context));
  await queues.sendReconcile();
  handle = async (request, response) => {
    if (isWebhook(request.url)) return receive(request, response);
    if (!(await dashboard(request, response))) response.writeHead(404).end('Not found\n');
  };
  const stop = async (graceSeconds: number): Promise<void> => {
    isReady = false;
    await closeServer(server, requestGraceSeconds);
    await queues.stop(graceSeconds);
    await database.close();
  };
  return { url, client, store, stop };
}

/** Each run gets a model of its own, which keeps that run's limits and record. Prompts go into no log. */
function connectModel(
  { settings, apiKey }: NonNullable<AppSettings['llm']>,
  log: Logger,
): NonNullable<AppContext['llm']> {
  const onNote = (note: string): void => log.info({ note }, 'a note of the language model');
  return {
    settings,
    open: (ledger, limits, signal) => openLanguageModel(settings, { apiKey, ledger, limits, signal, onNote }),
  };
}

/** Whether it can be written is another matter: an existing cache may be read-only. */
async function assertCacheFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw new AppError(
      'SETTINGS_INVALID',
      `The cache folder ${folder} cannot be used: ${describeFolderFault(error)}.\n` +
        'Set METAINFER_CACHE to a folder that this user can make or write, or leave it out.',
      { cause: error },
    );
  }
}

function isWebhook(url = '/'): boolean {
  const [path] = url.split('?', 1);
  return path === webhooksPath || path === `${webhooksPath}/`;
}

function createProbot(settings: AppSettings, log: Logger): Probot {
  return new Probot({
    appId: settings.appId,
    privateKey: settings.privateKey,
    secret: settings.webhookSecret,
    baseUrl: settings.apiUrl,
    Octokit: settings.writeSpacing === 'github' ? AppOctokit : unspacedOctokit(),
    log: log.child({}, { serializers: { err: withoutPayload } }),
  });
}

/** Probot hangs the whole delivery on an error; what people wrote in private repositories isn't for the log. */
function withoutPayload(error: Error & { readonly code?: unknown }): object {
  const { name, message, code, stack } = error;
  return { type: name, message, code, stack };
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
