import { describe, expect, it } from 'vitest';
import type { BegunCall, FinishedCall } from '../../../src/model/completion-ledger.ts';
import { engines, newRepository, openRun } from './store-engine.ts';
import { useStore } from './use-store.ts';

const call = (key: string, changes: Partial<BegunCall> = {}): BegunCall => ({
  ...{ key, role: 'implementer', contract: 'norm.rms', phase: 'operations', model: 'm' },
  messages: [{ role: 'user', content: 'a NUL \0 and 😀' }],
  ...{ reservedTokens: 1000, reservedUsd: 0.5, startedAt: '2026-11-30T10:00:00Z' },
  ...changes,
});
const answer: FinishedCall = {
  ...{ text: 'int x;', finishReason: 'stop', usd: 0.25, seconds: 2, failure: null },
  usage: { promptTokens: 100, cachedTokens: 40, completionTokens: 20 },
};

describe.each(engines)('completions on $name', (engine) => {
  const { store, isLacking } = useStore(engine);
  const ledgerOf = async (tokensPerDay: number | null = null, repository = newRepository()) =>
    store.completionLedger(await openRun(store, repository), { tokensPerDay });

  it.skipIf(isLacking)('are found as they were recorded, in the order in which they began', async () => {
    const ledger = await ledgerOf();
    await ledger.begin(call('b'));
    await ledger.begin(call('a'));
    await ledger.finish('b', answer);
    expect(await ledger.find('b')).toEqual({ ...call('b'), finished: answer });
    expect(await ledger.find('c')).toBeUndefined();
    expect((await ledger.list()).map(({ key }) => key)).toEqual(['b', 'a']);
    expect(await (await ledgerOf()).list()).toEqual([]);
  });

  it.skipIf(isLacking)('count as reserved until their usage is reported', async () => {
    const ledger = await ledgerOf();
    await ledger.begin(call('a'));
    expect(await ledger.spent()).toMatchObject({ calls: 1, unreportedTokens: 1000, usd: 0.5 });
    await ledger.finish('a', { ...answer, usage: null, failure: 'stalled' });
    expect(await ledger.spent()).toMatchObject({ calls: 1, unreportedTokens: 1000, usd: 0.5 });
    await ledger.finish('a', answer);
    expect(await ledger.spent()).toEqual({
      ...{ calls: 1, promptTokens: 100, cachedTokens: 40, completionTokens: 20 },
      ...{ unreportedTokens: 0, usd: 0.25 },
    });
  });

  it.skipIf(isLacking)('that are begun again cost twice: the first may have been answered', async () => {
    const ledger = await ledgerOf();
    await ledger.begin(call('a'));
    await ledger.begin(call('a'));
    await ledger.finish('a', answer);
    expect(await ledger.spent()).toMatchObject({ calls: 2, promptTokens: 100, unreportedTokens: 1000 });
    expect((await ledger.find('a'))?.finished).toEqual(answer);
  });

  it.skipIf(isLacking)('of all runs of a repository count against its day, and no others', async () => {
    const repository = newRepository();
    const first = await ledgerOf(2000, repository);
    const second = await ledgerOf(2000, repository);
    await first.begin(call('a'));
    await first.finish('a', answer);
    await second.begin(call('a'));
    expect(await first.leftToday()).toBe(880);
    expect(await second.leftToday()).toBe(880);
    expect(await (await ledgerOf(2000)).leftToday()).toBe(2000);
    expect(await (await ledgerOf(null, repository)).leftToday()).toBeNull();
    await second.begin(call('b'));
    expect(await second.leftToday()).toBe(0);
  });

  it.skipIf(isLacking)('have no price where one of them has none', async () => {
    const ledger = await ledgerOf();
    await ledger.begin(call('a', { reservedUsd: null }));
    expect((await ledger.spent()).usd).toBeNull();
  });
});
