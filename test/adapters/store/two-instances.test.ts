import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPostgresLacking } from '../../support/private-postgres.ts';
import { startChild } from './child-instance.ts';
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

describe.skipIf(isPostgresLacking())('two instances on PostgreSQL', () => {
  const [one, two] = [createHandlers(), createHandlers()];
  let engine: StoreEngine;
  let opened: OpenedStore[];
  beforeAll(async () => {
    engine = engines.find(({ name }) => name === 'PostgreSQL')!.start();
    // At the same moment: both find an empty database and want to fill it.
    opened = await Promise.all([engine.open('one'), engine.open('two')]);
    await opened[0]!.queues.start(one.handlers);
    await opened[1]!.queues.start(two.handlers);
  });
  afterAll(async () => {
    for (const each of opened ?? []) await each.close();
    engine?.remove();
  });

  it('share the work and never perform two steps of one repository at once', async () => {
    const { store } = opened[0]!;
    const repositories = Array.from({ length: 6 }, newRepository);
    const running = new Map<number, number>();
    const peaks: number[] = [];
    const performers = new Set<string>();
    const perform = (name: string, own: OpenedStore, id: number) => async (): Promise<void> => {
      running.set(id, (running.get(id) ?? 0) + 1);
      peaks.push(running.get(id)!);
      performers.add(name);
      const run = await own.store.nextReadyRun(id);
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (run !== undefined) {
        const event = run.state.next === 'conclude' ? ({ type: 'concluded' } as const) : refusal;
        await own.store.moveRun(run.id, event);
      }
      running.set(id, running.get(id)! - 1);
    };
    for (const { id } of repositories) {
      one.onStep.set(id, perform('one', opened[0]!, id));
      two.onStep.set(id, perform('two', opened[1]!, id));
    }
    const isOver = async () => (await store.listRuns({ isOpen: true })).length === 0;
    // The instance that makes the runs hears of them first: a few rounds until the other had its turn.
    for (let round = 0; round < 20 && performers.size < 2; round += 1) {
      const runs = repositories.flatMap((repository) => [newRun(repository), newRun(repository)]);
      await Promise.all(runs.map((run) => store.createRun(run)));
      await until(isOver, 'the end of all runs');
    }
    expect(Math.max(...peaks)).toBe(1);
    expect([...performers].toSorted()).toEqual(['one', 'two']);
  });

  it('a cancellation asked for at one reaches the step at the other', async () => {
    const repository = newRepository();
    let holder: number | undefined;
    let wasAborted = false;
    let isConcluded = false;
    const perform = (index: number) => async (signal: AbortSignal) => {
      const { store } = opened[index]!;
      const run = await store.nextReadyRun(repository.id);
      if (run?.isCancelRequested) {
        await store.moveRun(run.id, { type: 'cancelled' });
        isConcluded = true;
      } else if (run !== undefined && run.state.next !== 'conclude') {
        holder = index;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        wasAborted = true;
      }
    };
    one.onStep.set(repository.id, perform(0));
    two.onStep.set(repository.id, perform(1));
    const run = newRun(repository);
    await opened[0]!.store.createRun(run);
    await until(() => holder !== undefined, 'the step');
    await opened[1 - holder!]!.store.requestCancel(run.id);
    await until(() => isConcluded, 'the end of the cancelled run');
    expect(wasAborted).toBe(true);
  });

  it('a reconcile forgets what GitHub can no longer send again, but nothing that is still queued', async () => {
    const { store, queues } = opened[0]!;
    const [done, queued] = [newDelivery(), newDelivery()];
    for (const delivery of [done, queued]) await store.acceptDelivery(delivery, 'deliveries');
    await store.finishDelivery(done.id, 'done', null);
    const client = new pg.Client({ connectionString: (engine.target as { url: string }).url });
    await client.connect();
    await client.query(`update metainfer.deliveries set received_at = now() - interval '31 days'`);
    await client.end();
    await queues.sendReconcile();
    await until(async () => !(await store.hasDelivery(done.id)), 'the end of the old delivery');
    expect(await store.hasDelivery(queued.id)).toBe(true);
  });

  it('one takes over the step of another that was killed', async () => {
    for (const each of opened.splice(0)) await each.close();
    const heir = await engine.open('heir');
    opened.push(heir);
    const repository = newRepository();
    const run = newRun(repository);
    await heir.store.createRun(run);
    const child = startChild(engine.target, 'hold-step');
    try {
      await until(() => child.lines().includes(`holds ${run.id}`), 'the step of the child');
    } finally {
      await child.kill();
    }
    let isTakenOver = false;
    one.onStep.set(repository.id, async () => {
      isTakenOver = true;
    });
    await heir.queues.start(one.handlers);
    await until(() => isTakenOver, 'the step at the other instance');
  });

  it('one that stops lets its steps end, aborts those that do not, and keeps what comes in later', async () => {
    const { store, queues } = opened[0]!;
    const [quick, endless] = [newRun(newRepository()), newRun(newRepository())];
    let begun = 0;
    let wasEnded = false;
    let wasAborted = false;
    one.onStep.set(quick.repository.id, async (signal) => {
      begun++;
      await new Promise((resolve) => setTimeout(resolve, 300));
      const moved = await store.moveRun(quick.id, refusal, (run) => run.state.next !== 'conclude');
      wasEnded ||= moved !== undefined && !signal.aborted;
    });
    one.onStep.set(endless.repository.id, async (signal) => {
      begun++;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      wasAborted = true;
    });
    await store.createRun(quick);
    await store.createRun(endless);
    await until(() => begun === 2, 'both steps');
    await queues.stop(2);
    expect({ wasEnded, wasAborted }).toEqual({ wasEnded: true, wasAborted: true });
    const late = newDelivery();
    expect(await store.acceptDelivery(late, 'deliveries')).toBe('queued');
    expect(await store.findDelivery(late.id)).toMatchObject({ outcome: 'queued' });
  });
});
