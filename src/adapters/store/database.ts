import { setImmediate } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult } from 'pg';
import type { Logger } from 'pino';

type Row = Readonly<Record<string, unknown>>;

/** Anything that takes SQL. */
export interface Queryable {
  query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
  /** As pg-boss wants it: the driver's own result. */
  executeSql(text: string, values?: unknown[]): Promise<QueryResult>;
}

export interface Transaction extends Queryable {
  /** Called once the transaction has been committed, never after a rollback. */
  afterCommit(action: () => void): void;
}

/** One pool of connections, to PGlite in this process or to a PostgreSQL server. */
export interface Database extends Queryable {
  readonly isEmbedded: boolean;
  /** Commits what `work` did, or rolls it all back and throws what `work` threw. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/**
 * @param isEmbedded PGlite answers with microtasks only, so that a burst of queries would starve the event loop:
 * after each query the loop gets its turn.
 */
export function createDatabase(pool: Pool, isEmbedded: boolean, log: Logger): Database {
  // A server that goes away is noticed by idle connections too; unheard, this event would end the process.
  pool.on('error', (error) => log.warn({ error: error.message }, 'an idle database connection was lost'));
  const run = async (target: Pool | PoolClient, text: string, values?: readonly unknown[]) => {
    const result = await target.query(text, values as unknown[] | undefined);
    if (isEmbedded) await setImmediate();
    return result;
  };
  return {
    isEmbedded,
    ...queriesOf((text, values) => run(pool, text, values)),
    transaction: (work) => transact(pool, run, work),
    close: () => pool.end(),
  };
}

type Runner = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;

function queriesOf(run: Runner): Queryable {
  return {
    executeSql: run,
    query: async <R extends Row>(text: string, values?: readonly unknown[]) =>
      (await run(text, values)).rows as R[],
  };
}

async function transact<Result>(
  pool: Pool,
  run: (client: PoolClient, text: string, values?: readonly unknown[]) => Promise<QueryResult>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const actions: (() => void)[] = [];
  let broken: Error | undefined;
  let result: Result;
  try {
    await client.query('begin');
    result = await work({
      ...queriesOf((text, values) => run(client, text, values)),
      afterCommit: (action) => actions.push(action),
    });
    await client.query('commit');
  } catch (error) {
    // A connection that cannot even roll back is thrown away with whatever it still holds.
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
  for (const action of actions) action();
  return result;
}
