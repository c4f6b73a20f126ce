import { AppError } from '../../model/errors.ts';
import type { Actor, RepositoryRef } from '../../model/github.ts';
import { RunState } from '../../model/run.ts';
import type { RunRecord, RunSource } from '../../model/run-record.ts';

/** A row of metainfer.runs as the driver gives it: bigint as text. */
export type RunRow = {
  readonly id: string;
  readonly number: string;
  readonly repository: string;
  readonly source_kind: RunSource['kind'];
  readonly source_number: string;
  readonly source_path: string | null;
  readonly source_first_line: number;
  readonly requested_by: string;
  readonly state: string;
  readonly step_failures: number;
  readonly not_before: Date | null;
  readonly is_cancel_requested: boolean;
  readonly superseded_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly finished_at: Date | null;
};

/** @throws AppError RUN_STATE_INVALID when the saved state is not one that this version writes */
export function toRunRecord(row: RunRow): RunRecord {
  return {
    id: row.id,
    number: Number(row.number),
    repository: JSON.parse(row.repository) as RepositoryRef,
    source: {
      kind: row.source_kind,
      number: Number(row.source_number),
      path: row.source_path,
      firstLine: row.source_first_line,
    },
    requestedBy: JSON.parse(row.requested_by) as Actor,
    state: parseState(row),
    stepFailures: row.step_failures,
    notBefore: row.not_before,
    isCancelRequested: row.is_cancel_requested,
    supersededBy: row.superseded_by === null ? null : Number(row.superseded_by),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at,
  };
}

function parseState(row: RunRow): RunState {
  const parsed = RunState.safeParse(JSON.parse(row.state));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new AppError(
    'RUN_STATE_INVALID',
    `The saved state of run ${row.number} (${row.id}) cannot be read: ${issue.path.join('.') || 'the state'}: ${issue.message}.\n` +
      'It was written by another version of MetaInfer Bot: start that version, or ask for the engine anew.',
  );
}
