import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/adapters/store/store.ts';
import type { RunRecord } from '../../../src/model/run-record.ts';
import {
  engines,
  newDelivery,
  newRepository,
  newRun,
  type OpenedStore,
  type StoreEngine,
} from './store-engine.ts';

const octocat = { id: 9, login: 'octocat', isBot: false };

async function openRun(store: Store, ...args: Parameters<typeof newRun>): Promise<RunRecord> {
  return (await store.createRun(newRun(...args))).run;
}

/** The shortest way to an end: refused, told, ended. */
async function endRun(store: Store, id: string): Promise<RunRecord> {
  await store.moveRun(id, { type: 'step-failed', code: 'NOT_COVERED', message: 'no' });
  return (await store.moveRun(id, { type: 'concluded' }))!;
}

describe.each(engines)('the store on $name', ({ isLacking, start }) => {
  let engine: StoreEngine;
  let opened: OpenedStore;
  let store: Store;
  beforeAll(async () => {
    if (isLacking) return;
    engine = start();
    opened = await engine.open();
    store = opened.store;
  });
  afterAll(async () => {
    await opened?.close();
    engine?.remove();
  });

  describe.skipIf(isLacking)('deliveries', () => {
    it('are queued once, however often GitHub sends them', async () => {
      const delivery = newDelivery();
      expect(await store.acceptDelivery(delivery, 'deliveries')).toBe('queued');
      expect(await store.acceptDelivery(delivery, 'deliveries')).toBe('duplicate');
      expect(await store.hasDelivery(delivery.id)).toBe(true);
      expect(await store.findDelivery(delivery.id)).toMatchObject({ ...delivery, outcome: 'queued' });
    });

    it('with the same content are one within the copy window, even when they come at the same moment', async () => {
      const copies = ['a', 'b', 'c', 'd'].map((id) => newDelivery({ id: `copy-${id}`, semanticKey: 'same' }));
      const outcomes = await Promise.all(copies.map((copy) => store.acceptDelivery(copy, 'deliveries')));
      expect(outcomes.toSorted()).toEqual(['duplicate', 'duplicate', 'duplicate', 'queued']);
      const original = copies[outcomes.indexOf('queued')]!;
      const copy = await store.findDelivery(copies[outcomes.indexOf('duplicate')]!.id);
      expect(copy).toMatchObject({
        outcome: 'duplicate',
        detail: `the same content as delivery ${original.id}`,
      });
    });

    it('with the same content are two events once the copy window has passed', async () => {
      await store.acceptDelivery(newDelivery({ semanticKey: 'again' }), 'deliveries');
      const later = newDelivery({ semanticKey: 'again', copyWindowSeconds: 0 });
      expect(await store.acceptDelivery(later, 'deliveries')).toBe('queued');
    });

    it('that failed are queued again by their GUID, and so is another delivery with their content', async () => {
      const delivery = newDelivery({ semanticKey: 'fails' });
      await store.acceptDelivery(delivery, 'deliveries');
      await store.finishDelivery(delivery.id, 'failed', 'GitHub was away');
      const copy = newDelivery({ semanticKey: 'fails' });
      expect(await store.acceptDelivery(copy, 'deliveries')).toBe('queued');
      expect(await store.acceptDelivery(delivery, 'deliveries')).toBe('queued');
      expect(await store.findDelivery(delivery.id)).toMatchObject({ outcome: 'queued', detail: null });
    });

    it('leave neither row nor job when the transaction breaks', async () => {
      const delivery = newDelivery();
      await expect(store.acceptDelivery(delivery, 'no such queue!' as 'control')).rejects.toThrow(
        'Name can only contain',
      );
      expect(await store.hasDelivery(delivery.id)).toBe(false);
      expect(await store.acceptDelivery(delivery, 'control')).toBe('queued');
    });

    it('carry any text that JSON can carry, and reasons are kept readable', async () => {
      const payload = { body: 'NUL \u0000, half a pair \ud83d, rocket 🚀, "quotes"\r\n' };
      const delivery = newDelivery({ payload });
      await store.acceptDelivery(delivery, 'deliveries');
      await store.finishDelivery(delivery.id, 'ignored', 'said "\u0000"');
      expect(await store.findDelivery(delivery.id)).toMatchObject({ payload, detail: 'said "\ufffd"' });
    });
  });

  describe.skipIf(isLacking)('runs', () => {
    it('are one per repository, source and hash while open, and a new one afterwards', async () => {
      const request = newRun(newRepository());
      const first = await store.createRun(request);
      const second = await store.createRun({ ...request, id: `${request.id}-2` });
      expect([first.isNew, second.isNew, second.run.id]).toEqual([true, false, request.id]);
      await endRun(store, request.id);
      const third = await store.createRun({ ...request, id: `${request.id}-3` });
      expect(third.isNew).toBe(true);
      expect(third.run.number).toBeGreaterThan(first.run.number);
    });

    it('asked for twice at the same moment are one', async () => {
      const request = newRun(newRepository());
      const made = await Promise.all(
        [1, 2, 3, 4].map((copy) => store.createRun({ ...request, id: `${request.id}-${copy}` })),
      );
      expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(made.map(({ run }) => run.id)).size).toBe(1);
    });

    it('of two files of one pull request are two', async () => {
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

    it('come back from the database as they went in', async () => {
      const request = newRun(newRepository());
      const { run } = await store.createRun(request);
      const { requestSha256: _, ...kept } = request;
      expect(run).toMatchObject({ ...kept, stepFailures: 0, notBefore: null, isCancelRequested: false });
      expect(await store.findRun(run.id)).toEqual(run);
      expect(await store.findRunByNumber(run.number)).toEqual(run);
      expect(await store.findRun('no such run')).toBeUndefined();
    });

    it('are moved by events one after the other, and left alone where the condition no longer holds', async () => {
      const { id } = await openRun(store, newRepository());
      const event = { type: 'step-failed', code: 'NOT_COVERED', message: 'no' } as const;
      const moves = await Promise.all(
        [1, 2, 3].map(() => store.moveRun(id, event, (run) => run.state.next === 'constraints')),
      );
      expect(moves.filter((run) => run !== undefined)).toHaveLength(1);
      expect(await store.findRun(id)).toMatchObject({ state: { next: 'conclude', ending: 'failed' } });
    });

    it('stay as they were when an event is out of order', async () => {
      const run = await openRun(store, newRepository());
      await expect(store.moveRun(run.id, { type: 'concluded' })).rejects.toThrow('waits for "constraints"');
      expect(await store.findRun(run.id)).toEqual(run);
      await expect(store.moveRun('no such run', { type: 'concluded' })).rejects.toThrow('no run no such run');
    });

    it('that ended have a time of their end, and none once they are taken up again', async () => {
      const { id } = await openRun(store, newRepository());
      expect((await endRun(store, id)).finishedAt).toBeInstanceOf(Date);
      expect(await store.moveRun(id, { type: 'retried' })).toMatchObject({
        finishedAt: null,
        state: { status: 'running', next: 'constraints' },
      });
    });

    it('are not taken up again beside an open run of the same request', async () => {
      const request = newRun(newRepository());
      await store.createRun(request);
      await endRun(store, request.id);
      await store.createRun({ ...request, id: `${request.id}-2` });
      expect(await store.moveRun(request.id, { type: 'retried' })).toBeUndefined();
      expect(await store.findRun(request.id)).toMatchObject({ state: { status: 'failed' } });
    });

    it('get their turn by number, without those that wait, were postponed or have ended', async () => {
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
    });

    it('to be cancelled come up even while postponed, until the cancellation is heeded', async () => {
      const repository = newRepository();
      const { id } = await openRun(store, repository);
      await store.postponeStep(id, 600);
      await store.requestCancel(id);
      expect(await store.nextReadyRun(repository.id)).toMatchObject({ id, isCancelRequested: true });
      const moved = await store.moveRun(id, { type: 'cancelled' });
      expect(moved).toMatchObject({ isCancelRequested: false, state: { next: 'conclude' } });
      await store.requestCancel(id);
      expect(await store.findRun(id)).toMatchObject({ isCancelRequested: false });
    });

    it('are found by what they left on GitHub', async () => {
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

    it('are listed newest first by repository, source and openness, and counted by actor', async () => {
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
    });

    it('name the run that took their place', async () => {
      const { id } = await openRun(store, newRepository());
      await store.markSuperseded(id, 77);
      expect(await store.findRun(id)).toMatchObject({ supersededBy: 77 });
    });
  });

  describe.skipIf(isLacking)('what belongs to a run', () => {
    it('is kept: documents, the last one of each name', async () => {
      const { id } = await openRun(store, newRepository());
      expect(await store.readDocument(id, 'log')).toBeUndefined();
      await store.saveDocument(id, 'log', { text: 'first' });
      await store.saveDocument(id, 'log', { text: 'second \u0000' });
      expect(await store.readDocument(id, 'log')).toEqual({ text: 'second \u0000' });
    });

    it('is kept: the timeline, in order', async () => {
      const { id } = await openRun(store, newRepository());
      await store.addTimeline(id, { kind: 'step', text: 'planned', url: null });
      await store.addTimeline(id, { kind: 'github', text: 'opened', url: 'https://example.org/1' });
      const entries = await store.readTimeline(id);
      expect(entries).toMatchObject([
        { kind: 'step', text: 'planned', url: null },
        { kind: 'github', text: 'opened', url: 'https://example.org/1' },
      ]);
      expect(entries[0]!.at.getTime()).toBeLessThanOrEqual(entries[1]!.at.getTime());
    });

    it('is kept: attempts with their ends', async () => {
      const { id } = await openRun(store, newRepository());
      await store.beginAttempt(id, { number: 1, requestId: `${id}-1`, workflowRunId: 5 });
      await store.endAttempt(id, `${id}-1`, 'failed: build');
      await store.beginAttempt(id, { number: 2, requestId: `${id}-2`, workflowRunId: null });
      expect(await store.readAttempts(id)).toMatchObject([
        { number: 1, workflowRunId: 5, outcome: 'failed: build', endedAt: expect.any(Date) },
        { number: 2, workflowRunId: null, outcome: null, endedAt: null },
      ]);
    });
  });

  describe.skipIf(isLacking)('effects', () => {
    it('are intents until they are done, and keep what was made when they begin anew', async () => {
      const { effects } = store;
      expect(await effects.find('run', 'check')).toBeUndefined();
      await effects.begin('run', 'check');
      const nothing = { githubId: null, url: null, contentSha256: null };
      expect(await effects.find('run', 'check')).toEqual({ state: 'intent', ...nothing });
      const made = { githubId: '12', url: 'https://example.org/12', contentSha256: 'ab' };
      await effects.finish('run', 'check', made);
      expect(await effects.find('run', 'check')).toEqual({ state: 'done', ...made });
      await effects.begin('run', 'check');
      expect(await effects.find('run', 'check')).toEqual({ state: 'intent', ...made, contentSha256: null });
      expect(await effects.find('other run', 'check')).toBeUndefined();
    });
  });

  describe.skipIf(isLacking)('a repository', () => {
    it('remembers approvals by issue and hash', async () => {
      const { id } = newRepository();
      await store.addApproval(id, 3, 'hash', octocat);
      await store.addApproval(id, 3, 'hash', octocat);
      expect(await store.findApproval(id, 3, 'hash')).toEqual(octocat);
      expect(await store.findApproval(id, 3, 'other hash')).toBeUndefined();
      expect(await store.findApproval(id, 4, 'hash')).toBeUndefined();
    });

    it('remembers the runners seen, the newest first and each once', async () => {
      const { id } = newRepository();
      await store.noteRunner(id, 'old', ['a']);
      await store.noteRunner(id, 'new', ['a', 'b']);
      await store.noteRunner(id, 'old', ['c']);
      expect((await store.seenRunners(id)).map(({ name, labels }) => [name, labels])).toEqual([
        ['old', ['c']],
        ['new', ['a', 'b']],
      ]);
    });
  });

  describe.skipIf(isLacking)('the whole', () => {
    it('answers a ping and counts runs, deliveries and jobs', async () => {
      await store.ping();
      await openRun(store, newRepository());
      await store.acceptDelivery(newDelivery(), 'deliveries');
      const counts = await store.counts();
      expect(counts.runs.running).toBeGreaterThan(0);
      expect(counts.deliveries.queued).toBeGreaterThan(0);
      expect(Object.keys(counts.queues).toSorted()).toEqual([
        'control',
        'dead',
        'deliveries',
        'reconcile',
        'steps',
      ]);
    });
  });
});
