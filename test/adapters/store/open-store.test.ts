import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { type RunRow, toRunRecord } from '../../../src/adapters/store/run-row.ts';
import { startRun } from '../../../src/pipeline.ts';
import { isPostgresLacking } from '../../support/private-postgres.ts';
import { engines, openTarget } from './store-engine.ts';

describe('opening the store', () => {
  it('says which server cannot be reached and what to look at, without the password', async () => {
    const url = 'postgresql://bot:hunter2@127.0.0.1:1/metainfer';
    const refused = openTarget({ kind: 'postgres', url }, 'one');
    await expect(refused).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await expect(refused).rejects.toThrow(
      /^PostgreSQL at 127\.0\.0\.1:1\/metainfer cannot be reached: .*\n.*DATABASE_URL/,
    );
    await expect(refused).rejects.not.toThrow('hunter2');
  });

  it.skipIf(isPostgresLacking())('refuses a database that a newer version of the program wrote', async () => {
    const engine = engines.find(({ name }) => name === 'PostgreSQL')!.start();
    try {
      await (await engine.open()).close();
      const client = new pg.Client({ connectionString: (engine.target as { url: string }).url });
      await client.connect();
      await client.query('insert into metainfer.migrations (version) values (99)');
      await client.end();
      const refused = engine.open();
      await expect(refused).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
      await expect(refused).rejects.toThrow('schema version 99');
    } finally {
      engine.remove();
    }
  });
});

describe('a saved run', () => {
  const row: Omit<RunRow, 'state'> = {
    ...{
      id: 'r',
      number: '12',
      repository: '{}',
      requested_by: '{}',
      source_kind: 'issue',
      source_number: '3',
    },
    ...{ source_path: null, source_first_line: 1, step_failures: 0, not_before: null, finished_at: null },
    ...{ is_cancel_requested: false, superseded_by: null, created_at: new Date(0), updated_at: new Date(0) },
  };
  const state = startRun('r', { fileName: 'f', text: 't', origin: 'github' }, 'engines/x');

  it('is read back when this version could have written it', () => {
    expect(toRunRecord({ ...row, state: JSON.stringify(state) }).state).toEqual(state);
  });

  it('is refused with its number and what is wrong when it could not', () => {
    const strange = JSON.stringify({ ...state, version: 2 });
    expect(() => toRunRecord({ ...row, state: strange })).toThrow(
      /^The saved state of run 12 \(r\) cannot be read: version/,
    );
  });
});
