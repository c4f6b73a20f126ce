import { AppError } from '../../model/errors.ts';
import type { RunEffect, RunEvent, RunState } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import type { ActiveSteps } from './active-steps.ts';
import type { Database, Transaction } from './database.ts';
import type { JobSender } from './job-sender.ts';
import { currentRepository } from './repository-table.ts';
import type { RunReader } from './run-reader.ts';
import { type RunRow, toRunRecord } from './run-row.ts';
import type { NewRun, Store } from './store.ts';

type RunTable = Pick<
  Store,
  'createRun' | 'nextReadyRun' | 'moveRun' | 'postponeStep' | 'requestCancel' | 'markSuperseded'
>;

/** The state machine's transition function, src/pipeline.ts. */
export type StepFunction = (
  state: RunState,
  event: RunEvent,
) => { readonly state: RunState; readonly effects: readonly RunEffect[] };

/** The methods that change runs; each queues what must follow in its own transaction. */
export function createRunTable(
  database: Database,
  jobs: JobSender,
  activeSteps: ActiveSteps,
  reader: RunReader,
  step: StepFunction,
): RunTable {
  return {
    createRun: (run) => database.transaction((transaction) => createRun(transaction, jobs, reader, run)),

    nextReadyRun: async (repositoryId) => {
      const run = await findReady(database, reader, repositoryId);
      if (run !== undefined) activeSteps.note(repositoryId, run);
      return run;
    },

    moveRun: (id, event, onlyIf) =>
      database.transaction(async (transaction) => {
        const before = await lockRun(transaction, id);
        if (onlyIf !== undefined && !onlyIf(before)) return undefined;
        const { state, effects } = step(before.state, event);
        const isTakenUpAgain = isOpen(state) && !isOpen(before.state);
        if (isTakenUpAgain && (await hasOpenTwin(transaction, before))) return undefined;
        const after = await saveState(transaction, id, state, before.isCancelRequested);
        const hasStep = effects.some((effect) => effect.type === 'perform');
        if (hasStep || after.isCancelRequested) await jobs.sendStep(transaction, after.repository.id);
        return after;
      }),

    postponeStep: (id, delaySeconds) =>
      database.transaction(async (transaction) => {
        const [row] = await transaction.query<RunRow>(
          `update metainfer.runs set step_failures = step_failures + 1, updated_at = now(),
             not_before = now() + make_interval(secs => $2) where id = $1 returning *`,
          [id, delaySeconds],
        );
        const run = toRunRecord(required(row, id));
        await jobs.sendStep(transaction, run.repository.id, Math.ceil(delaySeconds));
        return run;
      }),

    requestCancel: (id) =>
      database.transaction(async (transaction) => {
        const run = await lockRun(transaction, id);
        if (!isCancellable(run.state)) return;
        await transaction.query(
          'update metainfer.runs set is_cancel_requested = true, is_giving_way = true, updated_at = now() where id = $1',
          [id],
        );
        await jobs.sendStep(transaction, run.repository.id);
        transaction.afterCommit(() => activeSteps.cancel(id));
      }),

    markSuperseded: async (id, byNumber) => {
      await database.query('update metainfer.runs set superseded_by = $2, updated_at = now() where id = $1', [
        id,
        byNumber,
      ]);
    },
  };
}

/** A cancellation is taken up even by a run that waits or was postponed. */
async function findReady(
  database: Database,
  reader: RunReader,
  repositoryId: number,
): Promise<RunRecord | undefined> {
  for (let after = 0; ; ) {
    const [row] = await database.query<RunRow>(
      `select * from metainfer.runs where repository_id = $1 and status in ('running', 'waiting')
         and (is_cancel_requested or status = 'running' and coalesce(not_before <= now(), true))
         and number > $2 order by number limit 1`,
      [repositoryId, after],
    );
    const run = row === undefined ? undefined : reader.readKnown(row);
    if (row === undefined || run !== undefined) return run;
    after = Number(row.number);
  }
}

/** A run that has ended, or only has its end left to tell, has nothing to cancel. */
function isCancellable(state: RunState): boolean {
  return isOpen(state) && state.next !== 'conclude';
}

function isOpen(state: RunState): boolean {
  return state.status === 'running' || state.status === 'waiting';
}

async function createRun(
  transaction: Transaction,
  jobs: JobSender,
  reader: RunReader,
  run: NewRun,
): Promise<{ run: RunRecord; isNew: boolean }> {
  const { source } = run;
  const repository = await currentRepository(transaction, run.repository);
  await lockRequests(transaction, repository.id);
  const [open] = await transaction.query<RunRow>(
    `select * from metainfer.runs where repository_id = $1 and source_kind = $2 and source_number = $3
       and source_path is not distinct from $4 and request_sha256 = $5 and status in ('running', 'waiting')
       and not is_giving_way`,
    [repository.id, source.kind, source.number, source.path, run.requestSha256],
  );
  const known = open === undefined ? undefined : reader.readKnown(open);
  if (known !== undefined) return { run: known, isNew: false };
  if (open !== undefined) await giveWay(transaction, open);
  const [row] = await transaction.query<RunRow>(
    `insert into metainfer.runs (id, repository_id, repository, source_kind, source_number, source_path,
       source_first_line, requested_by_id, requested_by, request_sha256, state, status)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning *`,
    [
      run.id,
      repository.id,
      JSON.stringify(repository),
      source.kind,
      source.number,
      source.path,
      source.firstLine,
      run.requestedBy.id,
      JSON.stringify(run.requestedBy),
      run.requestSha256,
      JSON.stringify(run.state),
      run.state.status,
    ],
  );
  if (run.state.status === 'running') await jobs.sendStep(transaction, repository.id);
  return { run: toRunRecord(row!), isNew: true };
}

/** An open run that this version cannot read stands aside for a new one; the version that can ends it. */
async function giveWay(transaction: Transaction, { id }: RunRow): Promise<void> {
  await transaction.query(
    'update metainfer.runs set is_cancel_requested = true, is_giving_way = true where id = $1',
    [id],
  );
}

/** Whoever makes an open run of a repository does it alone: the next one sees it. */
async function lockRequests(transaction: Transaction, repositoryId: number): Promise<void> {
  await transaction.query(`select pg_advisory_xact_lock(hashtextextended('run', $1))`, [repositoryId]);
}

/** Whether another run of the same source and hash is open. */
async function hasOpenTwin(transaction: Transaction, run: RunRecord): Promise<boolean> {
  await lockRequests(transaction, run.repository.id);
  const twins = await transaction.query(
    `select from metainfer.runs as run join metainfer.runs as twin
       on twin.repository_id = run.repository_id and twin.source_kind = run.source_kind
       and twin.source_number = run.source_number and twin.source_path is not distinct from run.source_path
       and twin.request_sha256 = run.request_sha256
     where run.id = $1 and twin.id <> run.id and twin.status in ('running', 'waiting') and not twin.is_giving_way`,
    [run.id],
  );
  return twins.length > 0;
}

async function lockRun(transaction: Transaction, id: string): Promise<RunRecord> {
  const [row] = await transaction.query<RunRow>('select * from metainfer.runs where id = $1 for update', [
    id,
  ]);
  return toRunRecord(required(row, id));
}

function required(row: RunRow | undefined, id: string): RunRow {
  if (row === undefined) throw new AppError('INTERNAL', `The store has no run ${id}.`);
  return row;
}

/** A new state starts with no failed tries; a wish to cancel lasts only as long as there is something to cancel. */
async function saveState(
  transaction: Transaction,
  id: string,
  state: RunState,
  isCancelRequested: boolean,
): Promise<RunRecord> {
  const [row] = await transaction.query<RunRow>(
    `update metainfer.runs set state = $2, status = $3, pull_number = $4, is_cancel_requested = $5,
       step_failures = 0, not_before = null, updated_at = now(), is_giving_way = $5 or $7,
       finished_at = case when $6 then null else now() end where id = $1 returning *`,
    [
      id,
      JSON.stringify(state),
      state.status,
      state.github?.pullNumber ?? null,
      isCancelRequested && isCancellable(state),
      isOpen(state),
      state.ending === 'cancelled' || state.ending === 'superseded',
    ],
  );
  return toRunRecord(row!);
}
