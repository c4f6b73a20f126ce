import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbedded } from '../../../src/adapters/store/open-embedded.ts';
import { openStore } from '../../../src/adapters/store/open-store.ts';
import { step } from '../../../src/pipeline.ts';
import { newRepository, newRun, type OpenedStore, openRun, templateFolder } from './store-engine.ts';

describe('a run that another version of the program wrote', () => {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-store-'));
  const logged: { readonly msg: string; readonly run: number }[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const target = { kind: 'embedded', folder, cacheFolder: templateFolder } as const;
  const open = () => openStore(target, { log, instance: 'one', step });
  const repository = newRepository();
  const foreign = newRun(repository);
  const own = newRun(repository);
  let opened: OpenedStore;

  beforeAll(async () => {
    opened = await open();
    await opened.store.createRun(foreign);
    await opened.store.createRun(own);
    await opened.close();
    const database = await openEmbedded(folder, templateFolder, log);
    await database.query('update metainfer.runs set state = $2 where id = $1', [
      foreign.id,
      JSON.stringify({ ...foreign.state, version: 2 }),
    ]);
    await database.close();
    opened = await open();
  });
  afterAll(async () => {
    await opened.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps no other run of its repository from its turn, nor the list from being read', async () => {
    const { store } = opened;
    expect((await store.nextReadyRun(repository.id))?.id).toBe(own.id);
    expect((await store.listRuns({ repositoryId: repository.id })).map(({ id }) => id)).toEqual([own.id]);
    await openRun(store, newRepository());
    expect(await store.listRuns({})).toHaveLength(2);
  });

  it('is told in the log, once', async () => {
    await opened.store.listRuns({});
    expect(logged.map(({ msg, run }) => [msg, run])).toEqual([['a run is passed over', 1]]);
  });

  it('says what it is to somebody who asks for it, and is not moved', async () => {
    await expect(opened.store.findRun(foreign.id)).rejects.toThrow('written by another version');
    await expect(opened.store.moveRun(foreign.id, { type: 'cancelled' })).rejects.toThrow('another version');
  });

  it('stands aside when the same is asked for anew', async () => {
    const { store } = opened;
    const again = await store.createRun({ ...foreign, id: `${foreign.id}-again` });
    expect(again).toMatchObject({ isNew: true, run: { id: `${foreign.id}-again` } });
    expect((await store.createRun({ ...foreign, id: 'once more' })).run.id).toBe(again.run.id);
  });
});
