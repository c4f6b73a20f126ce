import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startChild } from './child-instance.ts';
import {
  createHandlers,
  newDelivery,
  newRepository,
  newRun,
  openTarget,
  templateFolder,
  until,
} from './store-engine.ts';

describe('the embedded database', () => {
  const folders: string[] = [];
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'metainfer-embedded-'));
    folders.push(folder);
    return folder;
  };
  const targetIn = (folder: string, cacheFolder = templateFolder) =>
    ({ kind: 'embedded', folder, cacheFolder }) as const;
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it('belongs to one process; when that is killed, the next one takes up what it was working on', async () => {
    const target = targetIn(newFolder());
    const run = newRun(newRepository());
    const first = await openTarget(target, 'first');
    await first.store.createRun(run);
    await first.close();
    const child = startChild(target, 'hold-step');
    try {
      await until(() => child.lines().includes(`holds ${run.id}`), 'the step of the child');
      const refused = openTarget(target, 'second');
      await expect(refused).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
      await expect(refused).rejects.toThrow(`Another process works with the data folder ${target.folder}.`);
    } finally {
      await child.kill();
    }
    const { handlers, onStep } = createHandlers();
    let isTakenUp = false;
    onStep.set(run.repository.id, async () => {
      isTakenUp = true;
    });
    const second = await openTarget(target, 'second');
    await second.queues.start(handlers);
    await until(() => isTakenUp, 'the step');
    await second.close();
  });

  it('loses nothing that was acknowledged and does nothing twice, killed in the middle again and again', async () => {
    const target = targetIn(newFolder());
    const acknowledged: string[] = [];
    for (const life of ['first', 'second']) {
      const child = startChild(target, 'accept', life);
      // A different moment of the work each time.
      await until(
        () => child.lines().length > 15 + acknowledged.length / 2,
        `deliveries of the ${life} life`,
      );
      await child.kill();
      acknowledged.push(...child.lines().filter((line) => line !== 'open'));
    }
    const { store, queues, close } = await openTarget(target, 'last');
    const { handlers, onDelivery } = createHandlers();
    const repository = newRepository();
    for (const id of acknowledged) {
      onDelivery.set(id, async () => {
        const source = { kind: 'pull', number: 1, path: id, firstLine: 1 } as const;
        if ((await store.findRun(`run of ${id}`)) === undefined)
          await store.createRun(newRun(repository, { id: `run of ${id}`, source }));
        await store.finishDelivery(id, 'done', null);
      });
    }
    await queues.start(handlers);
    const isDone = async (id: string) => (await store.findDelivery(id))?.outcome === 'done';
    for (const id of acknowledged) await until(() => isDone(id), `delivery ${id}`);
    const paths = (await store.listRuns({ limit: 500 })).map((run) => run.source.path);
    expect(acknowledged.length).toBeGreaterThan(30);
    expect(paths.filter((path) => acknowledged.includes(path!)).toSorted()).toEqual(acknowledged.toSorted());
    await close();
  });

  it('starts anew where the process that made it was killed half-way', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'pgdata'));
    writeFileSync(join(folder, 'pgdata', 'PG_VERSION'), '18\n');
    const opened = await openTarget(targetIn(folder), 'one');
    expect(await opened.store.acceptDelivery(newDelivery(), 'control')).toBe('queued');
    await opened.close();
  });

  it('makes a new template where the old one is damaged', async () => {
    const [folder, cacheFolder] = [newFolder(), newFolder()];
    const [name] = readdirSync(templateFolder);
    writeFileSync(join(cacheFolder, name!), 'not a template');
    const opened = await openTarget(targetIn(folder, cacheFolder), 'one');
    await opened.store.ping();
    await opened.close();
    const again = await openTarget(targetIn(newFolder(), cacheFolder), 'two');
    await again.store.ping();
    await again.close();
  });
});
