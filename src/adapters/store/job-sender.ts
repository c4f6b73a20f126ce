import type { PgBoss } from 'pg-boss';
import type { Transaction } from './database.ts';
import type { QueueName } from './queue-definitions.ts';
import type { DeliveryQueue } from './store.ts';

/** Puts jobs into queues as part of a transaction: there is a job if and only if the rows it is about are there. */
export interface JobSender {
  sendDelivery(transaction: Transaction, queue: DeliveryQueue, deliveryId: string): Promise<void>;
  /** One step of the repository's next ready run, in `delaySeconds` (0 unless said). */
  sendStep(transaction: Transaction, repositoryId: number, delaySeconds?: number): Promise<void>;
}

/** @param wake tells this instance's workers to look into a queue now instead of at their next poll */
export function createJobSender(boss: PgBoss, wake: (queue: QueueName) => void): JobSender {
  const send = async (
    transaction: Transaction,
    queue: QueueName,
    data: object,
    options: { readonly singletonKey?: string; readonly startAfter?: number },
  ): Promise<void> => {
    await boss.send(queue, data, { ...options, db: transaction });
    transaction.afterCommit(() => wake(queue));
  };
  return {
    sendDelivery: (transaction, queue, deliveryId) => send(transaction, queue, { deliveryId }, {}),
    sendStep: (transaction, repositoryId, delaySeconds = 0) =>
      send(
        transaction,
        'steps',
        { repositoryId },
        { singletonKey: String(repositoryId), startAfter: delaySeconds },
      ),
  };
}
