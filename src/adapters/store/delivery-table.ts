import type { Database, Transaction } from './database.ts';
import type { JobSender } from './job-sender.ts';
import { plainText } from './plain-text.ts';
import type { Delivery, DeliveryOutcome, NewDelivery, Store } from './store.ts';

type DeliveryTable = Pick<Store, 'acceptDelivery' | 'findDelivery' | 'finishDelivery' | 'hasDelivery'>;

export function createDeliveryTable(database: Database, jobs: JobSender): DeliveryTable {
  return {
    acceptDelivery: (delivery, queue) =>
      database.transaction(async (transaction) => {
        const outcome = await enter(transaction, delivery);
        if (outcome === 'queued') await jobs.sendDelivery(transaction, queue, delivery.id);
        return outcome;
      }),

    findDelivery: async (id) => {
      const [row] = await database.query<DeliveryRow>('select * from metainfer.deliveries where id = $1', [
        id,
      ]);
      return row === undefined ? undefined : toDelivery(row);
    },

    finishDelivery: async (id, outcome, detail) => {
      await database.query('update metainfer.deliveries set outcome = $2, detail = $3 where id = $1', [
        id,
        outcome,
        detail === null ? null : plainText(detail),
      ]);
    },

    hasDelivery: async (id) => {
      const rows = await database.query('select from metainfer.deliveries where id = $1', [id]);
      return rows.length > 0;
    },
  };
}

async function enter(transaction: Transaction, delivery: NewDelivery): Promise<'queued' | 'duplicate'> {
  // Two copies that come in at the same moment must see one another.
  await transaction.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [delivery.semanticKey]);
  const { known, original } = await findEarlier(transaction, delivery);
  if (known !== undefined && known.outcome !== 'failed') return 'duplicate';
  if (known !== undefined) {
    await transaction.query(
      `update metainfer.deliveries set outcome = 'queued', detail = null where id = $1`,
      [delivery.id],
    );
    return 'queued';
  }
  const outcome = original === undefined ? 'queued' : 'duplicate';
  const detail = original === undefined ? null : `the same content as delivery ${original.id}`;
  await insert(transaction, delivery, outcome, detail);
  return outcome;
}

type Earlier = { readonly id: string; readonly outcome: DeliveryOutcome };

/**
 * The same GUID, and another with the same content. A copy of a failed delivery isn't one: it's the second chance. Nor
 * is a copy of one without an installation (a repository's own webhook), by which the app can do nothing.
 */
async function findEarlier(
  transaction: Transaction,
  delivery: NewDelivery,
): Promise<{ readonly known: Earlier | undefined; readonly original: Earlier | undefined }> {
  const rows = await transaction.query<Earlier>(
    `select id, outcome from metainfer.deliveries where id = $1
     or semantic_key = $2 and outcome not in ('failed', 'duplicate')
       and (installation_id is not null or $4::bigint is null)
       and received_at > now() - make_interval(secs => $3)`,
    [delivery.id, delivery.semanticKey, delivery.copyWindowSeconds, delivery.installationId],
  );
  return {
    known: rows.find(({ id }) => id === delivery.id),
    original: rows.find(({ id }) => id !== delivery.id),
  };
}

async function insert(
  transaction: Transaction,
  delivery: NewDelivery,
  outcome: DeliveryOutcome,
  detail: string | null,
): Promise<void> {
  await transaction.query(
    `insert into metainfer.deliveries (id, event, action, repository_id, installation_id, semantic_key,
       copy_window_seconds, payload, outcome, detail) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      delivery.id,
      delivery.event,
      delivery.action === null ? null : plainText(delivery.action),
      delivery.repositoryId,
      delivery.installationId,
      delivery.semanticKey,
      delivery.copyWindowSeconds,
      writeJson(delivery.payload),
      outcome,
      detail,
    ],
  );
}

/** JSON.stringify exhausts the stack where JSON.parse does not; nothing of GitHub is nested so deeply. */
function writeJson(payload: unknown): string {
  try {
    return JSON.stringify(payload);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify('nested too deeply to be stored');
  }
}

type DeliveryRow = {
  readonly id: string;
  readonly event: string;
  readonly action: string | null;
  readonly repository_id: string | null;
  readonly installation_id: string | null;
  readonly semantic_key: string;
  readonly copy_window_seconds: number;
  readonly payload: string;
  readonly received_at: Date;
  readonly outcome: DeliveryOutcome;
  readonly detail: string | null;
};

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.event,
    action: row.action,
    repositoryId: row.repository_id === null ? null : Number(row.repository_id),
    installationId: row.installation_id === null ? null : Number(row.installation_id),
    semanticKey: row.semantic_key,
    copyWindowSeconds: row.copy_window_seconds,
    payload: JSON.parse(row.payload),
    receivedAt: row.received_at,
    outcome: row.outcome,
    detail: row.detail,
  };
}
