import { AppError } from '../../model/errors.ts';
import type { Database } from './database.ts';

/** In order; a migration that has been released never changes. The JSON columns are text: jsonb refuses "\u0000". */
const migrations: readonly string[] = [
  `
  create table metainfer.deliveries (
    id text primary key,
    event text not null,
    action text,
    repository_id bigint,
    installation_id bigint,
    semantic_key text not null,
    copy_window_seconds integer not null,
    payload text not null,
    received_at timestamptz not null default now(),
    outcome text not null check (outcome in ('queued', 'done', 'ignored', 'duplicate', 'failed')),
    detail text
  );
  create index deliveries_by_content on metainfer.deliveries (semantic_key, received_at);

  create table metainfer.runs (
    id text primary key,
    number bigint generated always as identity unique,
    repository_id bigint not null,
    repository text not null,
    source_kind text not null,
    source_number bigint not null,
    source_path text,
    source_first_line integer not null,
    requested_by_id bigint not null,
    requested_by text not null,
    request_sha256 text not null,
    state text not null,
    status text not null,
    pull_number bigint,
    step_failures integer not null default 0,
    not_before timestamptz,
    is_cancel_requested boolean not null default false,
    superseded_by bigint,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    finished_at timestamptz
  );
  create unique index runs_open on metainfer.runs
    (repository_id, source_kind, source_number, coalesce(source_path, ''), request_sha256)
    where status in ('running', 'waiting');
  create index runs_by_repository on metainfer.runs (repository_id, number);

  create table metainfer.documents (
    run_id text not null references metainfer.runs,
    name text not null,
    value text not null,
    primary key (run_id, name)
  );
  create table metainfer.timeline (
    id bigint generated always as identity primary key,
    run_id text not null references metainfer.runs,
    at timestamptz not null default clock_timestamp(),
    kind text not null,
    text text not null,
    url text
  );
  create index timeline_by_run on metainfer.timeline (run_id, id);
  create table metainfer.attempts (
    request_id text primary key,
    run_id text not null references metainfer.runs,
    number integer not null,
    workflow_run_id bigint,
    started_at timestamptz not null default now(),
    ended_at timestamptz,
    outcome text
  );
  create index attempts_by_run on metainfer.attempts (run_id, number);
  create index attempts_by_workflow on metainfer.attempts (workflow_run_id);

  create table metainfer.effects (
    scope text not null,
    key text not null,
    state text not null check (state in ('intent', 'done')),
    github_id text,
    url text,
    content_sha256 text,
    updated_at timestamptz not null default now(),
    primary key (scope, key)
  );
  create table metainfer.approvals (
    repository_id bigint not null,
    issue bigint not null,
    request_sha256 text not null,
    approved_by text not null,
    approved_at timestamptz not null default now(),
    primary key (repository_id, issue, request_sha256)
  );
  create table metainfer.runners (
    repository_id bigint not null,
    name text not null,
    labels text not null,
    seen_at timestamptz not null default now(),
    primary key (repository_id, name)
  );
  `,
  `
  -- Cancelled or superseded and not yet concluded: another run may ask the same.
  alter table metainfer.runs add column is_giving_way boolean not null default false;
  drop index metainfer.runs_open;
  create unique index runs_open on metainfer.runs
    (repository_id, source_kind, source_number, coalesce(source_path, ''), request_sha256)
    where status in ('running', 'waiting') and not is_giving_way;

  -- The newest word of GitHub on each repository. updated_at is GitHub's time of the repository as it was then:
  -- deliveries come in any order, and lost ones days late.
  create table metainfer.repositories (
    id bigint primary key,
    ref text not null,
    updated_at timestamptz not null,
    told_at timestamptz not null
  );
  `,
  `
  -- Every request to a language model, before it is sent. One that is begun again gets a row of its own: what the
  -- first may have cost still counts. \`tokens\` is what was reserved until usage is reported.
  create table metainfer.completions (
    id bigint generated always as identity primary key,
    run_id text not null references metainfer.runs,
    repository_id bigint not null,
    key text not null,
    call text not null,
    finished text,
    tokens bigint not null,
    begun_at timestamptz not null default now()
  );
  create index completions_by_key on metainfer.completions (run_id, key, id);
  create index completions_by_day on metainfer.completions (repository_id, begun_at);
  `,
];

/**
 * Brings schema `metainfer` up to date. One instance at a time.
 * @throws AppError DATABASE_UNAVAILABLE on a database that a newer version of this program has written
 */
export async function migrate(database: Database): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query('create schema if not exists metainfer');
    await transaction.query(`create table if not exists metainfer.migrations
      (version integer primary key, applied_at timestamptz not null default now())`);
    const [row] = await transaction.query<{ version: number }>(
      'select coalesce(max(version), 0) as version from metainfer.migrations',
    );
    const version = row!.version;
    if (version > migrations.length) throw fromTheFuture(version);
    for (const [index, text] of migrations.entries()) {
      if (index < version) continue;
      await transaction.query(text);
      await transaction.query('insert into metainfer.migrations (version) values ($1)', [index + 1]);
    }
  });
}

function fromTheFuture(version: number): AppError {
  return new AppError(
    'DATABASE_UNAVAILABLE',
    `The database has schema version ${version}; this program knows versions up to ${migrations.length}.\n` +
      'A newer version of MetaInfer Bot has written it: start that version, or use another database.',
  );
}
