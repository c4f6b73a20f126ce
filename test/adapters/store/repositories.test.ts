import { describe, expect, it } from 'vitest';
import type { RepositoryRef } from '../../../src/model/github.ts';
import { engines, newRepository, newRun, openRun } from './store-engine.ts';
import { useStore } from './use-store.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 30, 9, minute));

describe.each(engines)('repositories on $name', (engine) => {
  const { store, isLacking } = useStore(engine);
  const note = (ref: RepositoryRef, updated: number | null, received: number) =>
    store.noteRepository(ref, {
      updatedAt: updated === null ? null : at(updated),
      receivedAt: at(received),
    });

  it.skipIf(isLacking)(
    'that were renamed, transferred, hidden or reinstalled are so for all their runs, and for no others',
    async () => {
      const old = newRepository();
      const other = await openRun(store, newRepository());
      const ended = await openRun(store, old);
      await store.moveRun(ended.id, { type: 'step-failed', code: 'NOT_COVERED', message: 'no' });
      await store.moveRun(ended.id, { type: 'concluded' });
      const open = await openRun(store, old);
      const now = {
        ...{ id: old.id, owner: 'acme', name: 'elsewhere' },
        ...{ isPrivate: true, defaultBranch: 'trunk', installationId: 8 },
      };
      await note(now, 1, 1);
      expect((await store.findRun(ended.id))?.repository).toEqual(now);
      expect((await store.nextReadyRun(old.id))?.repository).toEqual(now);
      const listed = await store.listRuns({ repositoryId: old.id });
      expect(listed.map(({ id, repository }) => [id, repository])).toEqual([
        [open.id, now],
        [ended.id, now],
      ]);
      expect((await store.findRun(other.id))?.repository).toEqual(other.repository);
    },
  );

  it.skipIf(isLacking)('are as last told for runs that an older delivery asks for', async () => {
    const old = newRepository();
    const now = { ...old, name: 'renamed' };
    await note(now, 1, 1);
    const { run } = await store.createRun(newRun(old));
    expect(run.repository).toEqual(now);
  });

  it.skipIf(isLacking)('stay as they are when an older word comes late', async () => {
    const { id, repository } = await openRun(store, newRepository());
    const nameNow = async () => (await store.findRun(id))?.repository.name;
    await note({ ...repository, name: 'second' }, 5, 5);
    // Redelivered: received later than what it tells of.
    await note({ ...repository, name: 'first' }, 4, 9);
    expect(await nameNow()).toBe('second');
    await note({ ...repository, name: 'handled late' }, 5, 4);
    expect(await nameNow()).toBe('second');
    await note({ ...repository, name: 'third' }, 5, 6);
    expect(await nameNow()).toBe('third');
    await note({ ...repository, name: 'of no time' }, null, 10);
    expect(await nameNow()).toBe('third');
  });

  it.skipIf(isLacking)('told of without a time follow the order in which that was received', async () => {
    const { id, repository } = await openRun(store, newRepository());
    await note({ ...repository, name: 'second' }, null, 2);
    await note({ ...repository, name: 'first' }, null, 1);
    expect((await store.findRun(id))?.repository.name).toBe('second');
  });
});
