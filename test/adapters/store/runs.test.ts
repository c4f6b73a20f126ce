import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/adapters/store/store.ts';
import type { RunRecord } from '../../../src/model/run-record.ts';
import { engines, newRepository, newRun, openRun } from './store-engine.ts';
import { useStore } from './use-store.ts';

/** The shortest way to an end: refused, told, ended. */
async function endRun(store: Store, id: string): Promise<RunRecord> {
  await store.moveRun(id, { type: 'step-failed', code: 'NOT_COVERED', message: 'no' });
  return (await store.moveRun(id, { type: 'concluded' }))!;
}

describe.each(engines)('runs on $name', (engine) => {
  const { store, isLacking } = useStore(engine);

  it.skipIf(isLacking)(
    'are one per repository, source and hash while open, and a new one afterwards',
    async () => {
      const request = newRun(newRepository());
      const first = await store.createRun(request);
      const second = await store.createRun({ ...request, id: `${request.id}-2` });
      expect([first.isNew, second.isNew, second.run.id]).toEqual([true, false, request.id]);
      await endRun(store, request.id);
      const third = await store.createRun({ ...request, id: `${request.id}-3` });
      expect(third.isNew).toBe(true);
      expect(third.run.number).toBeGreaterThan(first.run.number);
    },
  );

  it.skipIf(isLacking)('asked for twice at the same moment are one', async () => {
    const request = newRun(newRepository());
    const made = await Promise.all(
      [1, 2, 3, 4].map((copy) => store.createRun({ ...request, id: `${request.id}-${copy}` })),
    );
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(made.map(({ run }) => run.id)).size).toBe(1);
  });

  it.skipIf(isLacking)('of two files of one pull request are two', async () => {
    const repository = newRepository();
    const source = { kind: 'pull', number: 4, firstLine: 1 } as const;
    const a = await store.createRun(
      newRun(repository, { source: { ...source, path: 'constraints/a.yaml' } }),
    );
    const b = await store.createRun(
      newRun(repository, { source: { ...source, path: 'constraints/b.yaml' } }),
    );
    expect([a.isNew, b.isNew]).toEqual([true, true]);
  });

  it.skipIf(isLacking)('come back from the database as they went in', async () => {
    const request = newRun(newRepository());
    const { run } = await store.createRun(request);
    const { requestSha256: _, ...kept } = request;
    expect(run).toMatchObject({ ...kept, stepFailures: 0, notBefore: null, isCancelRequested: false });
    expect(await store.findRun(run.id)).toEqual(run);
    expect(await store.findRunByNumber(run.number)).toEqual(run);
    expect(await store.findRun('no such run')).toBeUndefined();
  });

  it.skipIf(isLacking)(
    'are moved by events one after the other, and left alone where the condition no longer holds',
    async () => {
      const { id } = await openRun(store, newRepository());
      const event = { type: 'step-failed', code: 'NOT_COVERED', message: 'no' } as const;
      const moves = await Promise.all(
        [1, 2, 3].map(() => store.moveRun(id, event, (run) => run.state.next === 'constraints')),
      );
      expect(moves.filter((run) => run !== undefined)).toHaveLength(1);
      expect(await store.findRun(id)).toMatchObject({ state: { next: 'conclude', ending: 'failed' } });
    },
  );

  it.skipIf(isLacking)('stay as they were when an event is out of order', async () => {
    const run = await openRun(store, newRepository());
    await expect(store.moveRun(run.id, { type: 'concluded' })).rejects.toThrow('waits for "constraints"');
    expect(await store.findRun(run.id)).toEqual(run);
    await expect(store.moveRun('no such run', { type: 'concluded' })).rejects.toThrow('no run no such run');
  });

  it.skipIf(isLacking)(
    'that ended have a time of their end, and none once they are taken up again',
    async () => {
      const { id } = await openRun(store, newRepository());
      expect((await endRun(store, id)).finishedAt).toBeInstanceOf(Date);
      expect(await store.moveRun(id, { type: 'retried' })).toMatchObject({
        finishedAt: null,
        state: { status: 'running', next: 'constraints' },
      });
    },
  );

  it.skipIf(isLacking)('are not taken up again beside an open run of the same request', async () => {
    const request = newRun(newRepository());
    await store.createRun(request);
    await endRun(store, request.id);
    await store.createRun({ ...request, id: `${request.id}-2` });
    expect(await store.moveRun(request.id, { type: 'retried' })).toBeUndefined();
    expect(await store.findRun(request.id)).toMatchObject({ state: { status: 'failed' } });
  });

  it.skipIf(isLacking)(
    'get their turn by number, without those that wait, were postponed or have ended',
    async () => {
      const repository = newRepository();
      const [one, two, three] = [
        await openRun(store, repository),
        await openRun(store, repository),
        await openRun(store, repository),
      ];
      const next = async () => (await store.nextReadyRun(repository.id))?.id;
      expect(await next()).toBe(one.id);
      const postponed = await store.postponeStep(one.id, 600);
      expect(postponed.stepFailures).toBe(1);
      expect(postponed.notBefore!.getTime()).toBeGreaterThan(Date.now() + 500_000);
      expect(await next()).toBe(two.id);
      await endRun(store, two.id);
      expect(await next()).toBe(three.id);
      await store.moveRun(one.id, { type: 'step-failed', code: 'NOT_COVERED', message: 'no' });
      expect(await store.nextReadyRun(repository.id)).toMatchObject({ id: one.id, stepFailures: 0 });
    },
  );

  it.skipIf(isLacking)(
    'to be cancelled come up even while postponed, until the cancellation is heeded',
    async () => {
      const repository = newRepository();
      const { id } = await openRun(store, repository);
      await store.postponeStep(id, 600);
      await store.requestCancel(id);
      expect(await store.nextReadyRun(repository.id)).toMatchObject({ id, isCancelRequested: true });
      const moved = await store.moveRun(id, { type: 'cancelled' });
      expect(moved).toMatchObject({ isCancelRequested: false, state: { next: 'conclude' } });
      await store.requestCancel(id);
      expect(await store.findRun(id)).toMatchObject({ isCancelRequested: false });
    },
  );

  it.skipIf(isLacking)('are found by what they left on GitHub', async () => {
    const repository = newRepository();
    const run = newRun(repository);
    const trail = { branch: 'b', baseBranch: 'main', enginePath: 'engines/x', engineCommit: 'c' };
    const github = { ...trail, pullNumber: 31, pullNodeId: 'n' };
    await store.createRun({ ...run, state: { ...run.state, next: 'publish', constraintsSha256: 'f' } });
    await store.moveRun(run.id, { type: 'published', trail: github });
    await store.beginAttempt(run.id, { number: 1, requestId: `${run.id}-1`, workflowRunId: null });
    await store.beginAttempt(run.id, { number: 1, requestId: `${run.id}-1`, workflowRunId: 88 });
    const found = await Promise.all([
      store.findRunByPull(repository.id, 31),
      store.findRunByRequest(`${run.id}-1`),
      store.findRunByWorkflow(repository.id, 88),
      store.findRunByPull(repository.id + 1, 31),
      store.findRunByWorkflow(repository.id + 1, 88),
    ]);
    expect(found.map((one) => one?.id)).toEqual([run.id, run.id, run.id, undefined, undefined]);
  });

  it.skipIf(isLacking)(
    'are listed newest first by repository, source and openness, and counted by actor',
    async () => {
      const repository = newRepository();
      const [one, two, three] = [
        await openRun(store, repository, { source: { kind: 'pull', number: 5, path: 'a', firstLine: 1 } }),
        await openRun(store, repository),
        await openRun(store, repository, { requestedBy: { id: 10, login: 'other', isBot: false } }),
      ];
      await endRun(store, two.id);
      const list = async (filter: Parameters<Store['listRuns']>[0]) =>
        (await store.listRuns({ repositoryId: repository.id, ...filter })).map(({ id }) => id);
      expect(await list({})).toEqual([three.id, two.id, one.id]);
      expect(await list({ limit: 2 })).toEqual([three.id, two.id]);
      expect(await list({ isOpen: true })).toEqual([three.id, one.id]);
      expect(await list({ isOpen: false })).toEqual([two.id]);
      expect(await list({ sourceKind: 'pull', sourceNumber: 5 })).toEqual([one.id]);
      expect(await store.countRuns(repository.id, 9, new Date(0))).toBe(2);
      expect(await store.countRuns(repository.id, 9, new Date(Date.now() + 60_000))).toBe(0);
    },
  );

  it.skipIf(isLacking)('name the run that took their place', async () => {
    const { id } = await openRun(store, newRepository());
    await store.markSuperseded(id, 77);
    expect(await store.findRun(id)).toMatchObject({ supersededBy: 77 });
  });
});
