import pg from 'pg';
import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { AppError } from '../../model/errors.ts';
import { createActiveSteps } from './active-steps.ts';
import { createCompletionTable } from './completion-table.ts';
import { countAll } from './count-all.ts';
import { createDatabase, type Database } from './database.ts';
import { createDeliveryTable } from './delivery-table.ts';
import { createEffectLog } from './effect-log.ts';
import { createJobQueues } from './job-queues.ts';
import { createJobSender } from './job-sender.ts';
import { migrate } from './migrations.ts';
import { openEmbedded } from './open-embedded.ts';
import { defineQueues, type QueueName } from './queue-definitions.ts';
import { createRepositoryNotes } from './repository-notes.ts';
import { createRepositoryTable } from './repository-table.ts';
import { createRunFinder } from './run-finder.ts';
import { createRunPapers } from './run-papers.ts';
import { createRunReader } from './run-reader.ts';
import { createRunTable, type StepFunction } from './run-table.ts';
import type { Queues, Store } from './store.ts';

export type StoreTarget =
  /** PostgreSQL in this process: one instance, nothing to install. `cacheFolder` holds what makes first starts fast. */
  | { readonly kind: 'embedded'; readonly folder: string; readonly cacheFolder: string }
  | { readonly kind: 'postgres'; readonly url: string };

export interface StoreOptions {
  readonly log: Logger;
  /** Name of this app instance in the database's register. */
  readonly instance: string;
  /** The runs' transition function: `step` of src/pipeline.ts. */
  readonly step: StepFunction;
  /** How often a failed delivery or step is tried again before it is given up; 15 unless said. */
  readonly retryLimit?: number;
}

/**
 * Opens the database, brings its schema up to date and makes the queues; no job runs before `queues.start`.
 * Close it after `queues.stop`.
 * @throws AppError DATABASE_UNAVAILABLE
 */
export async function openStore(
  target: StoreTarget,
  options: StoreOptions,
): Promise<{ readonly store: Store; readonly queues: Queues; close(): Promise<void> }> {
  const { log } = options;
  const database =
    target.kind === 'embedded'
      ? await openEmbedded(target.folder, target.cacheFolder, log)
      : await openServer(target.url, log);
  try {
    const boss = await alone(database, async () => {
      await migrate(database);
      return startBoss(database, options);
    });
    const parts = assemble(database, boss, options);
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closing ??= parts.queues.stop(0).then(() => database.close());
      return closing;
    };
    return { ...parts, close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Instances that start at the same moment prepare the database one after the other. */
async function alone<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  // An embedded database has one process and one connection: a transaction around the work would wait for itself.
  if (database.isEmbedded) return work();
  return database.transaction(async (transaction) => {
    await transaction.query(`select pg_advisory_xact_lock(hashtext('metainfer starts'))`);
    return work();
  });
}

function assemble(
  database: Database,
  boss: PgBoss,
  { log, step }: StoreOptions,
): { readonly store: Store; readonly queues: Queues } {
  const activeSteps = createActiveSteps();
  const reader = createRunReader(log);
  const workers = new Map<QueueName, string[]>();
  const jobs = createJobSender(boss, (queue) => {
    for (const id of workers.get(queue) ?? []) boss.notifyWorker(id);
  });
  const store: Store = {
    effects: createEffectLog(database),
    ...createDeliveryTable(database, jobs),
    ...createRunTable(database, jobs, activeSteps, reader, step),
    ...createRunFinder(database, reader),
    ...createRunPapers(database),
    ...createCompletionTable(database),
    ...createRepositoryNotes(database),
    ...createRepositoryTable(database),
    ping: async () => {
      await database.query('select 1');
    },
    counts: () => countAll(database, boss),
  };
  return { store, queues: createJobQueues({ boss, database, activeSteps, log, workers }) };
}

async function startBoss(database: Database, { log, instance, retryLimit }: StoreOptions): Promise<PgBoss> {
  const boss = new PgBoss({
    db: { executeSql: database.executeSql },
    backend: database.isEmbedded ? 'pglite' : 'postgres',
    instanceName: instance,
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
  });
  boss.on('error', (error) => log.error({ error: error.message }, 'the job queue met an error'));
  boss.on('warning', (warning) => log.warn({ warning: warning.message }, 'the job queue warns'));
  try {
    await boss.start();
    await defineQueues(boss, retryLimit);
    return boss;
  } catch (error) {
    await boss.stop({ close: false, graceful: false });
    throw error;
  }
}

/** @throws AppError DATABASE_UNAVAILABLE naming the server, never the password */
async function openServer(url: string, log: Logger): Promise<Database> {
  const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 10_000 });
  const database = createDatabase(pool, false, log);
  try {
    await database.query('select 1');
    return database;
  } catch (error) {
    await database.close();
    throw new AppError(
      'DATABASE_UNAVAILABLE',
      `PostgreSQL at ${withoutPassword(url)} cannot be reached: ${(error as Error).message}.\n` +
        'Look whether the server runs and DATABASE_URL names the right host, database and user.',
      { cause: error },
    );
  }
}

function withoutPassword(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'the address in DATABASE_URL';
  }
}
