// An app instance in a process of its own, to be killed: `store-child.ts <target as JSON> <mode> <number>`.
import { newDelivery, newRepository, newRun, type OpenedStore, openTarget } from './store-engine.ts';

const [targetText, mode, argument] = process.argv.slice(2);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Takes deliveries as fast as it can and says the id of each that was acknowledged; works on them meanwhile. */
async function accept({ store, queues }: OpenedStore): Promise<void> {
  const repository = newRepository();
  await queues.start({
    delivery: async (id) => {
      const source = { kind: 'pull', number: 1, path: id, firstLine: 1 } as const;
      await store.createRun(newRun(repository, { id: `run of ${id}`, source }));
      await store.finishDelivery(id, 'done', null);
    },
    step: async () => {},
    reconcile: async () => {},
    onDead: async () => {},
  });
  for (let count = 0; ; count++) {
    const delivery = newDelivery({ id: `${argument}-${count}`, semanticKey: `${argument}-${count}` });
    await store.acceptDelivery(delivery, 'deliveries');
    say(delivery.id);
  }
}

/** Begins a step and never ends it. */
async function holdStep({ store, queues }: OpenedStore): Promise<void> {
  await queues.start({
    delivery: async () => {},
    step: async (repositoryId) => {
      say(`holds ${(await store.nextReadyRun(repositoryId))?.id}`);
      await new Promise(() => {});
    },
    reconcile: async () => {},
    onDead: async () => {},
  });
}

try {
  const opened = await openTarget(JSON.parse(targetText!), `child ${mode}`);
  say('open');
  if (mode === 'accept') await accept(opened);
  if (mode === 'hold-step') await holdStep(opened);
} catch (error) {
  say(`refused: ${(error as Error).message}`);
  process.exitCode = 3;
}
