import type { RunRecord } from '../../model/run-record.ts';
import type { Database } from './database.ts';
import type { RunReader } from './run-reader.ts';
import { type RunRow, toRunRecord } from './run-row.ts';
import type { RunFilter, Store } from './store.ts';

type RunFinder = Pick<
  Store,
  | 'findRun'
  | 'findRunByNumber'
  | 'findRunByPull'
  | 'findRunByRequest'
  | 'findRunByWorkflow'
  | 'listRuns'
  | 'countRuns'
>;

const maximumListed = 500;

export function createRunFinder(database: Database, reader: RunReader): RunFinder {
  const findOne = async (condition: string, values: readonly unknown[]): Promise<RunRecord | undefined> => {
    const [row] = await database.query<RunRow>(
      `select * from metainfer.runs where ${condition} order by number desc limit 1`,
      values,
    );
    return row === undefined ? undefined : toRunRecord(row);
  };
  return {
    findRun: (id) => findOne('id = $1', [id]),
    findRunByNumber: (number) => findOne('number = $1', [number]),
    findRunByPull: (repositoryId, pullNumber) =>
      findOne('repository_id = $1 and pull_number = $2', [repositoryId, pullNumber]),
    // Attempts, not the state's trail: the runner may answer before the dispatch is recorded as done.
    findRunByRequest: (requestId) =>
      findOne('id = (select run_id from metainfer.attempts where request_id = $1)', [requestId]),
    findRunByWorkflow: (repositoryId, workflowRunId) =>
      findOne(
        `repository_id = $1
         and id in (select run_id from metainfer.attempts where workflow_run_id = $2)`,
        [repositoryId, workflowRunId],
      ),
    listRuns: (filter) => listRuns(database, reader, filter),
    countRuns: async (repositoryId, actorId, since) => {
      const [row] = await database.query<{ count: number }>(
        `select count(*)::int as count from metainfer.runs
         where repository_id = $1 and requested_by_id = $2 and created_at >= $3`,
        [repositoryId, actorId, since],
      );
      return row!.count;
    },
  };
}

async function listRuns(
  database: Database,
  reader: RunReader,
  filter: RunFilter,
): Promise<readonly RunRecord[]> {
  const rows = await database.query<RunRow>(
    `select * from metainfer.runs
     where ($1::bigint is null or repository_id = $1) and ($2::text is null or source_kind = $2)
       and ($3::bigint is null or source_number = $3)
       and ($4::boolean is null or $4 = (status in ('running', 'waiting')))
     order by number desc limit $5`,
    [
      filter.repositoryId ?? null,
      filter.sourceKind ?? null,
      filter.sourceNumber ?? null,
      filter.isOpen ?? null,
      Math.min(filter.limit ?? 100, maximumListed),
    ],
  );
  return rows.flatMap((row) => reader.readKnown(row) ?? []);
}
