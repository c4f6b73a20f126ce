import type { PgBoss } from 'pg-boss';
import type { Database } from './database.ts';
import { queueNames } from './queue-definitions.ts';
import type { Store } from './store.ts';

/** Counts for /metrics. Those of the queues are up to two seconds old. */
export async function countAll(database: Database, boss: PgBoss): ReturnType<Store['counts']> {
  const runs = await countBy(
    database,
    'select status as key, count(*)::int as count from metainfer.runs group by 1',
  );
  const deliveries = await countBy(
    database,
    'select outcome as key, count(*)::int as count from metainfer.deliveries group by 1',
  );
  const queues = (await boss.getQueues([...queueNames])).map((queue) => [
    queue.name,
    {
      ready: queue.readyCount,
      deferred: queue.deferredCount,
      active: queue.activeCount,
      failed: queue.failedCount,
    },
  ]);
  return { runs, deliveries, queues: Object.fromEntries(queues) };
}

async function countBy(database: Database, text: string): Promise<Readonly<Record<string, number>>> {
  const rows = await database.query<{ key: string; count: number }>(text);
  return Object.fromEntries(rows.map((row) => [row.key, row.count]));
}
