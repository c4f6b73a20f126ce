// `npm run bench:store`: how long a delivery takes to be accepted, and how long the event loop stands still meanwhile.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHandlers, engines, newDelivery, type OpenedStore } from './store-engine.ts';

const count = 150;
const rates = { PGlite: 15, PostgreSQL: 50 } as const;

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`;
}

async function measure(
  label: string,
  { store }: OpenedStore,
  send: (accept: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const times: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  await send(async () => {
    const delivery = newDelivery();
    const from = performance.now();
    await store.acceptDelivery(delivery, 'deliveries');
    times.push(performance.now() - from);
  });
  const seconds = (performance.now() - start) / 1000;
  delay.disable();
  const gap = `longest gap of the event loop ${(delay.max / 1e6).toFixed(0)} ms`;
  const rate = `${(times.length / seconds).toFixed(0)} a second`;
  console.log(`${label}: ${rate}, p50 ${percentile(times, 0.5)}, p99 ${percentile(times, 0.99)}, ${gap}`);
}

for (const { name, isLacking, start } of engines) {
  if (isLacking) {
    console.log(`${name}: not installed here, left out`);
    continue;
  }
  const engine = start();
  const opened = await engine.open();
  await opened.queues.start(createHandlers().handlers);
  await measure(`${name}, ${count} at once`, opened, async (accept) => {
    await Promise.all(Array.from({ length: count }, accept));
  });
  await measure(`${name}, ${rates[name]} a second`, opened, async (accept) => {
    const pending: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      pending.push(accept());
      await sleep(1000 / rates[name]);
    }
    await Promise.all(pending);
  });
  await opened.close();
  engine.remove();
}
