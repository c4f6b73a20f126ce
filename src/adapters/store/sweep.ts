import type { PgBoss } from 'pg-boss';
import type { Database } from './database.ts';

const deliveriesKeptDays = 30;

/**
 * Runs before each reconcile: gives a step job to every repository whose runs could go on but have none queued (its
 * jobs were given up, or an operator deleted them), and forgets old deliveries. GitHub redelivers for three days.
 */
export async function sweep(database: Database, boss: PgBoss): Promise<void> {
  const repositories = await database.query<{ repository_id: string }>(
    `select distinct repository_id from metainfer.runs
     where status = 'running' or status = 'waiting' and is_cancel_requested`,
  );
  for (const { repository_id: key } of repositories) {
    const queued = await boss.findJobs('steps', { key, queued: true, limit: 1 });
    if (queued.length === 0) await boss.send('steps', { repositoryId: Number(key) }, { singletonKey: key });
  }
  await database.query(
    `delete from metainfer.deliveries
     where received_at < now() - make_interval(days => $1) and outcome <> 'queued'`,
    [deliveriesKeptDays],
  );
}
