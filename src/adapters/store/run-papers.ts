import type { Attempt, DocumentName, RunDocuments, TimelineEntry } from '../../model/run-record.ts';
import type { Database } from './database.ts';
import { plainText } from './plain-text.ts';
import type { Store } from './store.ts';

type RunPapers = Pick<
  Store,
  | 'saveDocument'
  | 'readDocument'
  | 'addTimeline'
  | 'readTimeline'
  | 'beginAttempt'
  | 'endAttempt'
  | 'readAttempts'
>;

/** What belongs to a run beside its state: documents, timeline, attempts. */
export function createRunPapers(database: Database): RunPapers {
  return { ...documents(database), ...timeline(database), ...attempts(database) };
}

function documents(database: Database): Pick<RunPapers, 'saveDocument' | 'readDocument'> {
  return {
    saveDocument: async (runId, name, value) => {
      await database.query(
        `insert into metainfer.documents (run_id, name, value) values ($1, $2, $3)
         on conflict (run_id, name) do update set value = excluded.value`,
        [runId, name, JSON.stringify(value)],
      );
    },
    readDocument: async <Name extends DocumentName>(runId: string, name: Name) => {
      const [row] = await database.query<{ value: string }>(
        'select value from metainfer.documents where run_id = $1 and name = $2',
        [runId, name],
      );
      return row === undefined ? undefined : (JSON.parse(row.value) as RunDocuments[Name]);
    },
  };
}

function timeline(database: Database): Pick<RunPapers, 'addTimeline' | 'readTimeline'> {
  return {
    addTimeline: async (runId, entry) => {
      await database.query(
        'insert into metainfer.timeline (run_id, kind, text, url) values ($1, $2, $3, $4)',
        [runId, entry.kind, plainText(entry.text), entry.url],
      );
    },
    readTimeline: (runId) =>
      database.query<TimelineEntry & Record<string, unknown>>(
        'select at, kind, text, url from metainfer.timeline where run_id = $1 order by id',
        [runId],
      ),
  };
}

type AttemptRow = {
  readonly number: number;
  readonly request_id: string;
  readonly workflow_run_id: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly outcome: string | null;
};

function attempts(database: Database): Pick<RunPapers, 'beginAttempt' | 'endAttempt' | 'readAttempts'> {
  return {
    // Begun again by a step that is repeated, which may know the workflow's run by then.
    beginAttempt: async (runId, attempt) => {
      await database.query(
        `insert into metainfer.attempts (request_id, run_id, number, workflow_run_id) values ($1, $2, $3, $4)
         on conflict (request_id) do update
         set workflow_run_id = coalesce(excluded.workflow_run_id, attempts.workflow_run_id)`,
        [attempt.requestId, runId, attempt.number, attempt.workflowRunId],
      );
    },
    endAttempt: async (runId, requestId, outcome) => {
      await database.query(
        `update metainfer.attempts set ended_at = now(), outcome = $3 where run_id = $1 and request_id = $2`,
        [runId, requestId, plainText(outcome, 500)],
      );
    },
    readAttempts: async (runId) => {
      const rows = await database.query<AttemptRow>(
        'select * from metainfer.attempts where run_id = $1 order by number, started_at',
        [runId],
      );
      return rows.map(toAttempt);
    },
  };
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    number: row.number,
    requestId: row.request_id,
    workflowRunId: row.workflow_run_id === null ? null : Number(row.workflow_run_id),
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
  };
}
