import { afterAll, beforeAll } from 'vitest';
import type { Store } from '../../../src/adapters/store/store.ts';
import type { engines, OpenedStore, StoreEngine } from './store-engine.ts';

/** The store of a database of its own, opened before the tests of a suite and removed after them. */
export function useStore({ isLacking, start }: (typeof engines)[number]): {
  store: Store;
  isLacking: boolean;
} {
  // Filled once it is open: the tests have the object before that.
  const used = { store: {} as Store, isLacking };
  let engine: StoreEngine | undefined;
  let opened: OpenedStore | undefined;
  beforeAll(async () => {
    if (isLacking) return;
    engine = start();
    opened = await engine.open();
    Object.assign(used.store, opened.store);
  });
  afterAll(async () => {
    await opened?.close();
    engine?.remove();
  });
  return used;
}
