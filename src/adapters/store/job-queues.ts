import { setTimeout as sleep } from 'node:timers/promises';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { ActiveSteps } from './active-steps.ts';
import type { Database } from './database.ts';
import { plainText } from './plain-text.ts';
import { type QueueName, queueNames, workersPerQueue } from './queue-definitions.ts';
import type { JobHandlers, Queues } from './store.ts';
import { sweep } from './sweep.ts';

/** What the queues of one instance work with. */
interface QueueContext {
  readonly boss: PgBoss;
  readonly database: Database;
  readonly activeSteps: ActiveSteps;
  readonly log: Logger;
  /** Filled with the ids of this instance's workers, for waking them. */
  readonly workers: Map<QueueName, string[]>;
}

type Job = JobWithMetadata<Record<string, unknown>>;
type Performer = (job: Job, handlers: JobHandlers) => Promise<void>;

const heartbeatRefreshSeconds = 2;
/** A cancelled step that doesn't heed its signal no longer holds up the repository after this long. */
const cancelGraceSeconds = 30;

export function createJobQueues(context: QueueContext): Queues {
  const { boss } = context;
  let watch: NodeJS.Timeout | undefined;
  return {
    start: async (handlers) => {
      if (context.database.isEmbedded) await releaseOrphans(context);
      for (const name of queueNames) await startWorkers(context, name, handlers);
      watch = setInterval(() => void noticeCancellations(context), 1000);
    },
    stop: async (graceSeconds) => {
      clearInterval(watch);
      context.workers.clear();
      await boss.stop({ close: false, timeout: graceSeconds * 1000 });
    },
    sendReconcile: async () => {
      await boss.send('reconcile', {});
      wake(context, 'reconcile');
    },
    sendStep: async (repositoryId) => {
      await boss.send('steps', { repositoryId }, { singletonKey: String(repositoryId) });
      wake(context, 'steps');
    },
  };
}

function wake({ boss, workers }: QueueContext, name: QueueName): void {
  for (const id of workers.get(name) ?? []) boss.notifyWorker(id);
}

async function startWorkers(context: QueueContext, name: QueueName, handlers: JobHandlers): Promise<void> {
  const { boss, database } = context;
  const perform = performers(context)[name];
  const options = {
    includeMetadata: true,
    heartbeatRefreshSeconds,
    // In one process everything that is ready is announced by waking; only what was delayed waits for a poll.
    pollingIntervalSeconds: database.isEmbedded ? 2 : 1,
  } as const;
  const ids: string[] = [];
  for (let index = 0; index < workersPerQueue[name]; index++) {
    const work = async ([job]: Job[]): Promise<void> => {
      await withPlainError(context, job!, perform(job!, handlers));
      // The next job, if there is one, at once: a worker that found work doesn't wait for its next poll.
      boss.notifyWorker(ids[index] ?? '');
    };
    ids.push(await boss.work<Record<string, unknown>, void, typeof options>(name, options, work));
  }
  context.workers.set(name, ids);
}

function performers(context: QueueContext): Readonly<Record<QueueName, Performer>> {
  const deliver: Performer = (job, handlers) => handlers.delivery(String(job.data.deliveryId), job.signal);
  return {
    deliveries: deliver,
    control: deliver,
    steps: (job, handlers) => performStep(context, job, handlers),
    reconcile: async (job, handlers) => {
      await sweep(context.database, context.boss);
      await handlers.reconcile(job.signal);
    },
    dead: async (job, handlers) => {
      await markDead(context.database, job);
      await handlers.onDead(job.sourceName ?? 'dead', job.data);
    },
  };
}

/** A step whose run was cancelled ends well however its handler ends: the job that concludes the run is queued. */
async function performStep({ activeSteps }: QueueContext, job: Job, handlers: JobHandlers): Promise<void> {
  const repositoryId = Number(job.data.repositoryId);
  const { cancelled, end } = activeSteps.begin(repositoryId);
  const ended = new AbortController();
  try {
    await Promise.race([
      handlers.step(repositoryId, AbortSignal.any([job.signal, cancelled])),
      cancelledFor(cancelGraceSeconds, cancelled, ended.signal),
    ]);
  } catch (error) {
    if (!cancelled.aborted) throw error;
  } finally {
    ended.abort();
    end();
  }
}

async function cancelledFor(seconds: number, cancelled: AbortSignal, ended: AbortSignal): Promise<void> {
  if (!cancelled.aborted) {
    await new Promise((resolve) => cancelled.addEventListener('abort', resolve, { once: true }));
  }
  await sleep(seconds * 1000, undefined, { signal: ended }).catch(() => undefined);
}

/** Cancellations asked for at another instance. */
async function noticeCancellations({ database, activeSteps, log }: QueueContext): Promise<void> {
  const ids = activeSteps.cancellable();
  if (ids.length === 0) return;
  try {
    const rows = await database.query<{ id: string }>(
      'select id from metainfer.runs where id = any($1) and is_cancel_requested',
      [ids],
    );
    for (const { id } of rows) activeSteps.cancel(id);
  } catch (error) {
    log.warn(
      { error: (error as Error).message },
      'cannot look for cancelled runs now; trying again in a second',
    );
  }
}

/** A delivery that was given up may be sent again by GitHub or a person: it then is queued once more. */
async function markDead(database: Database, job: Job): Promise<void> {
  if (typeof job.data.deliveryId !== 'string') return;
  const output = job.sourceOutput as { message?: unknown } | null;
  await database.query(
    `update metainfer.deliveries set outcome = 'failed', detail = $2 where id = $1 and outcome = 'queued'`,
    [
      job.data.deliveryId,
      plainText(`given up after several tries: ${String(output?.message ?? 'no answer')}`),
    ],
  );
}

/** pg-boss keeps what was thrown as jsonb: no NUL, and nothing that a client library hangs on its errors. */
async function withPlainError({ log }: QueueContext, job: Job, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const message = plainText(error instanceof Error ? error.message : String(error), 2000);
    const { name: queue, data, retryCount, retryLimit } = job;
    log.warn({ err: error, queue, data, retryCount, retryLimit }, 'a job failed');
    throw new Error(message);
  }
}

/** The folder's lock is ours, so jobs that count as running are those of a process that is gone. */
async function releaseOrphans({ boss, database }: QueueContext): Promise<void> {
  const orphans = await database.query<{ name: string; id: string }>(
    `select name, id from pgboss.job where state = 'active' and name = any($1)`,
    [queueNames],
  );
  for (const { name, id } of orphans) {
    await boss.fail(name, id, { message: 'the process that worked on it ended' });
  }
}
