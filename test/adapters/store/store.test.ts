import { describe, expect, it } from 'vitest';
import { engines, newDelivery, newRepository, openRun } from './store-engine.ts';
import { useStore } from './use-store.ts';

const octocat = { id: 9, login: 'octocat', isBot: false };

describe.each(engines)('the store on $name', (engine) => {
  const { store, isLacking } = useStore(engine);

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

    it("a repository's own webhook, which has no installation, never takes the place of the app's", async () => {
      const own = newDelivery({ semanticKey: 'own webhook', installationId: null });
      expect(await store.acceptDelivery(own, 'deliveries')).toBe('queued');
      expect(await store.acceptDelivery(newDelivery({ semanticKey: 'own webhook' }), 'deliveries')).toBe(
        'queued',
      );
      const late = newDelivery({ semanticKey: 'own webhook', installationId: null });
      expect(await store.acceptDelivery(late, 'deliveries')).toBe('duplicate');
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

  describe.skipIf(isLacking)('odd deliveries', () => {
    it('are stored: a NUL or half a pair in the action', async () => {
      const delivery = newDelivery({ action: 'open\u0000ed\ud83d' });
      expect(await store.acceptDelivery(delivery, 'deliveries')).toBe('queued');
      expect(await store.findDelivery(delivery.id)).toMatchObject({ action: 'open\ufffded\ufffd' });
    });

    it('are stored: nested deeper than JSON can be written, without what is in them', async () => {
      const depth = 200_000;
      const payload = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
      const delivery = newDelivery({ payload });
      expect(await store.acceptDelivery(delivery, 'deliveries')).toBe('queued');
      expect((await store.findDelivery(delivery.id))?.payload).toBe('nested too deeply to be stored');
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
