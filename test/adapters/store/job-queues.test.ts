import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/adapters/store/store.ts';
import {
  createHandlers,
  engines,
  newDelivery,
  newRepository,
  newRun,
  type OpenedStore,
  type StoreEngine,
  until,
} from './store-engine.ts';

const refusal = { type: 'step-failed', code: 'NOT_COVERED', message: 'no' } as const;

describe.each(engines)('the queues on $name', ({ isLacking, start }) => {
  const { handlers, onDelivery, onStep, dead } = createHandlers();
  let engine: StoreEngine;
  let opened: OpenedStore;
  let store: Store;
  beforeAll(async () => {
    if (isLacking) return;
    engine = start();
    opened = await engine.open('one', 1);
    store = opened.store;
    await opened.queues.start(handlers);
  });
  afterAll(async () => {
    await opened?.close();
    engine?.remove();
  });

  it.skipIf(isLacking)('hand a delivery of either queue to its handler once', async () => {
    const handled: string[] = [];
    for (const queue of ['deliveries', 'control'] as const) {
      const delivery = newDelivery({ id: `for-${queue}` });
      onDelivery.set(delivery.id, async () => {
        await store.finishDelivery(delivery.id, 'done', null);
        handled.push(delivery.id);
      });
      await store.acceptDelivery(delivery, queue);
      await store.acceptDelivery(delivery, queue);
    }
    await until(() => handled.length === 2, 'both deliveries');
    expect(handled.toSorted()).toEqual(['for-control', 'for-deliveries']);
    expect(await store.findDelivery('for-control')).toMatchObject({ outcome: 'done' });
  });

  it.skipIf(isLacking)('perform step after step until the run has ended', async () => {
    const repository = newRepository();
    const steps: (string | null)[] = [];
    onStep.set(repository.id, async () => {
      const run = await store.nextReadyRun(repository.id);
      if (run === undefined) return;
      steps.push(run.state.next);
      await store.moveRun(run.id, run.state.next === 'conclude' ? { type: 'concluded' } : refusal);
    });
    const run = newRun(repository);
    await store.createRun(run);
    await until(async () => (await store.findRun(run.id))?.finishedAt != null, 'the end of the run');
    expect(steps).toEqual(['constraints', 'conclude']);
  });

  it.skipIf(isLacking)(
    'perform one step of a repository at a time, in the order of run numbers',
    async () => {
      const repository = newRepository();
      let running = 0;
      const peaks: number[] = [];
      const ended: string[] = [];
      onStep.set(repository.id, async () => {
        peaks.push(++running);
        const run = await store.nextReadyRun(repository.id);
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (run !== undefined) {
          const moved = await store.moveRun(
            run.id,
            run.state.next === 'conclude' ? { type: 'concluded' } : refusal,
          );
          if (moved?.finishedAt) ended.push(run.id);
        }
        running--;
      });
      const runs = Array.from({ length: 5 }, () => newRun(repository));
      for (const run of runs) await store.createRun(run);
      await until(() => ended.length === 5, 'the end of five runs');
      expect(Math.max(...peaks)).toBe(1);
      expect(ended).toEqual(runs.map(({ id }) => id));
    },
  );

  it.skipIf(isLacking)('let another repository go on while one is busy', async () => {
    const [busy, idle] = [newRepository(), newRepository()];
    let release = (): void => {};
    let isHeld = false;
    onStep.set(busy.id, () => {
      isHeld = true;
      return new Promise((resolve) => {
        release = resolve;
      });
    });
    let isDone = false;
    onStep.set(idle.id, async () => {
      isDone = true;
    });
    await store.createRun(newRun(busy));
    await until(() => isHeld, 'the busy step');
    await store.createRun(newRun(idle));
    await until(() => isDone, 'the step of the other repository');
    release();
  });

  it.skipIf(isLacking)('take up a postponed step again when its time has come', async () => {
    const repository = newRepository();
    const run = newRun(repository);
    const failures: number[] = [];
    onStep.set(repository.id, async () => {
      const ready = await store.nextReadyRun(repository.id);
      if (ready === undefined) return;
      failures.push(ready.stepFailures);
      if (ready.stepFailures < 1) await store.postponeStep(run.id, 1);
    });
    await store.createRun(run);
    await until(() => failures.length === 2, 'the second try');
    expect(failures).toEqual([0, 1]);
  });

  it.skipIf(isLacking)('tell the running step of a cancelled run to stop, and only that one', async () => {
    const [repository, other] = [newRepository(), newRepository()];
    const signals = new Map<number, AbortSignal>();
    const seen: boolean[] = [];
    for (const { id } of [repository, other]) {
      onStep.set(id, async (signal) => {
        const ready = await store.nextReadyRun(id);
        if (ready?.isCancelRequested) {
          await store.moveRun(ready.id, { type: 'cancelled' });
          seen.push(true);
        } else if (ready !== undefined && ready.state.next !== 'conclude') {
          signals.set(id, signal);
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        }
      });
    }
    const run = newRun(repository);
    const waiting = newRun(repository);
    const unconcerned = newRun(other);
    for (const each of [run, waiting, unconcerned]) await store.createRun(each);
    await until(() => signals.size === 2, 'both steps');
    await store.requestCancel(waiting.id);
    await store.requestCancel(run.id);
    await until(() => seen.length > 0, 'the job that concludes the cancelled run');
    expect(signals.get(repository.id)!.aborted).toBe(true);
    expect(signals.get(other.id)!.aborted).toBe(false);
    expect(await store.findRun(run.id)).toMatchObject({ state: { next: 'conclude', ending: 'cancelled' } });
    await store.requestCancel(unconcerned.id);
    await until(() => signals.get(other.id)!.aborted, 'the end of the other step');
  });

  it.skipIf(isLacking)(
    'give up a delivery that fails again and again, and take it again when it is sent again',
    async () => {
      const delivery = newDelivery();
      let tries = 0;
      onDelivery.set(delivery.id, async () => {
        tries++;
        throw Object.assign(new Error('GitHub said "\u0000"'), { request: { token: 'secret' } });
      });
      await store.acceptDelivery(delivery, 'deliveries');
      await until(
        () => dead.some(({ data }) => JSON.stringify(data).includes(delivery.id)),
        'the dead letter',
      );
      expect(tries).toBe(2);
      expect(dead.at(-1)).toEqual({ queue: 'deliveries', data: { deliveryId: delivery.id } });
      expect(await store.findDelivery(delivery.id)).toMatchObject({
        outcome: 'failed',
        detail: 'given up after several tries: GitHub said "\ufffd"',
      });
      onDelivery.set(delivery.id, () => store.finishDelivery(delivery.id, 'done', null));
      expect(await store.acceptDelivery(delivery, 'deliveries')).toBe('queued');
      await until(
        async () => (await store.findDelivery(delivery.id))?.outcome === 'done',
        'the second chance',
      );
    },
  );

  it.skipIf(isLacking)('reconcile when asked, and find runs whose job was lost', async () => {
    const repository = newRepository();
    let steps = 0;
    onStep.set(repository.id, async () => {
      steps++;
    });
    // Its one job does nothing, so the run stays ready without any.
    await store.createRun(newRun(repository));
    await until(() => steps === 1, 'the job of the new run');
    await opened.queues.sendReconcile();
    await until(() => steps === 2, 'a job from the sweep');
    await opened.queues.sendStep(repository.id);
    await until(() => steps === 3, 'a job that was asked for');
  });
});
