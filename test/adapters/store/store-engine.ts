import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openStore, type StoreTarget } from '../../../src/adapters/store/open-store.ts';
import type { JobHandlers, NewDelivery, NewRun, Store } from '../../../src/adapters/store/store.ts';
import type { RepositoryRef } from '../../../src/model/github.ts';
import type { RunRecord } from '../../../src/model/run-record.ts';
import { startRun, step } from '../../../src/pipeline.ts';
import { isPostgresLacking, startPrivatePostgres } from '../../support/private-postgres.ts';

export type OpenedStore = Awaited<ReturnType<typeof openStore>>;

/** One database, of which any number of instances can be opened (one at a time where it is embedded). */
export interface StoreEngine {
  readonly target: StoreTarget;
  open(instance?: string, retryLimit?: number): Promise<OpenedStore>;
  remove(): void;
}

export const engines = [
  { name: 'PGlite', isLacking: false, start: startEmbedded },
  { name: 'PostgreSQL', isLacking: isPostgresLacking(), start: startServer },
] as const;

/** Kept between runs of the tests: making it takes ten seconds. */
export const templateFolder = join(tmpdir(), 'metainfer-test-templates');

export function openTarget(target: StoreTarget, instance: string, retryLimit?: number): Promise<OpenedStore> {
  const log = pino({ level: process.env.METAINFER_TEST_LOG ?? 'silent' });
  return openStore(target, { log, instance, step, ...(retryLimit === undefined ? {} : { retryLimit }) });
}

function startEmbedded(): StoreEngine {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-store-'));
  const target = { kind: 'embedded', folder, cacheFolder: templateFolder } as const;
  return {
    target,
    open: (instance = 'one', retryLimit) => openTarget(target, instance, retryLimit),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function startServer(): StoreEngine {
  const server = startPrivatePostgres();
  const target = { kind: 'postgres', url: server.createDatabase('metainfer') } as const;
  return {
    target,
    open: (instance = 'one', retryLimit) => openTarget(target, instance, retryLimit),
    remove: () => server.stop(),
  };
}

export async function openRun(store: Store, ...args: Parameters<typeof newRun>): Promise<RunRecord> {
  return (await store.createRun(newRun(...args))).run;
}

let lastId = 0;

/** Tests share a database, so each works on a repository of its own. */
export function newRepository(): RepositoryRef {
  lastId++;
  const id = Date.now() * 100 + lastId;
  return {
    id,
    owner: 'octo',
    name: `engines-${id}`,
    isPrivate: false,
    defaultBranch: 'main',
    installationId: 7,
  };
}

export function newDelivery(changes: Partial<NewDelivery> = {}): NewDelivery {
  lastId++;
  const id = `delivery-${process.pid}-${lastId}`;
  return {
    id,
    event: 'issues',
    action: 'opened',
    repositoryId: 1,
    installationId: 7,
    semanticKey: `content of ${id}`,
    copyWindowSeconds: 600,
    payload: { issue: { number: 1 } },
    ...changes,
  };
}

export function newRun(repository: RepositoryRef, changes: Partial<NewRun> = {}): NewRun {
  lastId++;
  const id = `run-${process.pid}-${lastId}`;
  return {
    id,
    repository,
    source: { kind: 'issue', number: lastId, path: null, firstLine: 3 },
    requestedBy: { id: 9, login: 'octocat', isBot: false },
    state: startRun(id, { fileName: 'issue.yaml', text: 'model: x', origin: 'github' }, 'engines/x'),
    requestSha256: 'a'.repeat(64),
    ...changes,
  };
}

/** Handlers that do what a test has put into the maps, by delivery id and repository id; nothing for others. */
export function createHandlers(): {
  readonly handlers: JobHandlers;
  readonly onDelivery: Map<string, () => Promise<void>>;
  readonly onStep: Map<number, (signal: AbortSignal) => Promise<void>>;
  readonly dead: { readonly queue: string; readonly data: unknown }[];
} {
  const onDelivery = new Map<string, () => Promise<void>>();
  const onStep = new Map<number, (signal: AbortSignal) => Promise<void>>();
  const dead: { queue: string; data: unknown }[] = [];
  const handlers: JobHandlers = {
    delivery: async (id) => onDelivery.get(id)?.(),
    step: async (repositoryId, signal) => onStep.get(repositoryId)?.(signal),
    reconcile: async () => {},
    onDead: async (queue, data) => {
      dead.push({ queue, data });
    },
  };
  return { handlers, onDelivery, onStep, dead };
}

/** Waits for an outcome, not for a time; the limit only ends a test that would never end. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
