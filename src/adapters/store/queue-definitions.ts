import type { PgBoss, Queue } from 'pg-boss';

export const queueNames = ['deliveries', 'control', 'steps', 'reconcile', 'dead'] as const;
export type QueueName = (typeof queueNames)[number];

// A job whose instance dies is taken over once no heartbeat came for 10 s, the least that pg-boss allows.
const heartbeat = { heartbeatSeconds: 10 };
const tidy = { deleteAfterSeconds: 24 * 3600 };
// A crash costs a try, so there are more tries than crashes anyone would sit through.
const patient = { retryLimit: 15, retryDelay: 1, retryBackoff: true, retryDelayMax: 300, deadLetter: 'dead' };

const definitions: Readonly<Record<QueueName, Omit<Queue, 'name'>>> = {
  dead: { policy: 'standard', ...heartbeat, ...tidy, retryLimit: 5, retryDelay: 10, retryBackoff: true },
  deliveries: { policy: 'standard', ...heartbeat, ...tidy, ...patient, expireInSeconds: 15 * 60 },
  control: { policy: 'standard', ...heartbeat, ...tidy, ...patient, expireInSeconds: 15 * 60 },
  // `singleton`, not groupConcurrency: only a unique index holds the limit when several instances fetch at once.
  steps: { policy: 'singleton', ...heartbeat, ...tidy, ...patient, expireInSeconds: 3600 },
  // One waiting and one running at most; it comes again anyway, so it is not worth a dead letter.
  reconcile: { policy: 'stately', ...heartbeat, ...tidy, retryLimit: 2, retryDelay: 5, expireInSeconds: 600 },
};

/** Jobs of one instance at a time. Deliveries wait for GitHub most of the time; steps may compute. */
export const workersPerQueue: Readonly<Record<QueueName, number>> = {
  deliveries: 4,
  control: 2,
  steps: 4,
  reconcile: 1,
  dead: 1,
};

/**
 * Makes the queues, or brings them to these settings where an earlier version made them.
 * @param retryLimit how often a failed job is tried again before it is given up
 */
export async function defineQueues(boss: PgBoss, retryLimit = patient.retryLimit): Promise<void> {
  const existing = new Set((await boss.getQueues()).map((queue) => queue.name));
  for (const name of ['dead', 'deliveries', 'control', 'steps', 'reconcile'] as const) {
    const definition = { ...definitions[name], ...('deadLetter' in definitions[name] ? { retryLimit } : {}) };
    if (existing.has(name)) {
      const { policy: _, ...settings } = definition;
      await boss.updateQueue(name, settings);
    } else {
      await boss.createQueue(name, definition);
    }
  }
  await boss.schedule('reconcile', '*/3 * * * *');
}
