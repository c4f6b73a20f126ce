import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import type { CompletionLedger } from '../../../src/model/completion-ledger.ts';
import type { ModelAnswer } from '../../../src/model/language-model.ts';
import { tokensOf } from '../../../src/model/spending.ts';
import { freeOfLimits, never, openDouble, question, temporaryFolder } from './open-endpoint.ts';

function refusalOf(answer: ModelAnswer): string | undefined {
  return answer.kind === 'refusal' ? answer.reason : undefined;
}

describe('the hard limit', () => {
  it.each([
    ['with usage', {}],
    ['without usage', { usage: false }],
  ])('is never passed by a model that is never right, however long it is asked (%s)', async (_, endpoint) => {
    const hardTokens = 60_000;
    const { model, server, ledger } = await openDouble(
      { endpoint, replies: () => ({ kind: 'text', text: 'I would rather talk about it. '.repeat(200) }) },
      { max_output_tokens: 4096 },
      { limits: { ...freeOfLimits, hardTokens } },
    );
    let reason: string | undefined;
    for (let attempt = 1; reason !== 'budget'; attempt++) {
      reason = refusalOf(await model.ask(question({ attempt }), never));
      expect(tokensOf(await ledger.spent())).toBeLessThanOrEqual(hardTokens);
    }
    expect(server.count().tokens).toBeLessThanOrEqual(hardTokens);
    expect(server.count().requests).toBeGreaterThan(5);
  });

  it('holds for calls at the same time as well', async () => {
    const { model, server, ledger } = await openDouble(
      { script: () => ({ name: 'slow', pauseMs: 10 }) },
      { concurrency: 8, max_output_tokens: 4096 },
      { limits: { ...freeOfLimits, hardTokens: 24_000 } },
    );
    const attempts = Array.from({ length: 12 }, (_, index) =>
      model.ask(question({ attempt: index + 1 }), never),
    );
    const reasons = (await Promise.all(attempts)).map(refusalOf);
    expect(new Set(reasons)).toEqual(new Set([undefined, 'budget']));
    expect(server.count().tokens).toBeLessThanOrEqual(24_000);
    expect(tokensOf(await ledger.spent())).toBeLessThanOrEqual(24_000);
  });

  it('counts calls that broke off as what was reserved for them', async () => {
    const { model, ledger } = await openDouble(
      { script: () => 'disconnect' },
      { max_output_tokens: 4096 },
      { limits: { ...freeOfLimits, hardTokens: 12_000 } },
    );
    const answer = await model.ask(question(), never);
    expect(refusalOf(answer)).toBe('budget');
    const calls = await ledger.list();
    expect(calls.every(({ finished }) => finished?.usage === null && finished.failure !== null)).toBe(true);
    expect(tokensOf(await ledger.spent())).toBeLessThanOrEqual(12_000);
  });

  it('makes answers shorter before it allows none', async () => {
    const { model, server } = await openDouble({}, {}, { limits: { ...freeOfLimits, hardTokens: 2800 } });
    expect(await model.ask(question(), never)).toMatchObject({ kind: 'files' });
    expect(server.log[0]!.parameters.max_tokens).toBeGreaterThanOrEqual(1024);
    expect(server.log[0]!.parameters.max_tokens).toBeLessThan(2800);
    let answer: ModelAnswer;
    let attempt = 1;
    do answer = await model.ask(question({ attempt: ++attempt }), never);
    while (answer.kind === 'files');
    expect(answer).toMatchObject({
      reason: 'budget',
      origin: null,
      message: expect.stringMatching(/left of the run's limit of 2800/),
    });
    expect(server.log).toHaveLength(attempt - 1);
  });

  it('of the day holds where it is the smaller one', async () => {
    const ledger: CompletionLedger = {
      ...createFileLedger(join(temporaryFolder(), 'a')),
      leftToday: async () => 1200,
    };
    const { model, server } = await openDouble({}, {}, { ledger });
    expect(await model.ask(question(), never)).toMatchObject({
      reason: 'budget',
      message: expect.stringContaining('tokens_per_day'),
    });
    expect(server.log).toHaveLength(0);
  });

  it('in USD holds by the prices of the settings, cached tokens by theirs', async () => {
    const prices = { 'test-double': { input: 10, cached_input: 1, output: 50 } };
    const { model, ledger } = await openDouble(
      {},
      { prices, max_output_tokens: 4096 },
      { limits: { ...freeOfLimits, hardUsd: 0.25 } },
    );
    let attempt = 1;
    while (refusalOf(await model.ask(question({ attempt }), never)) === undefined) attempt += 1;
    const spent = await ledger.spent();
    expect(attempt).toBeGreaterThan(2);
    expect(spent.cachedTokens).toBeGreaterThan(0);
    const fresh = spent.promptTokens - spent.cachedTokens;
    expect(spent.usd).toBeCloseTo((fresh * 10 + spent.cachedTokens + spent.completionTokens * 50) / 1e6, 9);
    expect(spent.usd).toBeLessThanOrEqual(0.25);
  });

  it('in USD allows nothing where the model has no price', async () => {
    const { model, server } = await openDouble({}, {}, { limits: { ...freeOfLimits, hardUsd: 5 } });
    expect(await model.ask(question(), never)).toMatchObject({
      reason: 'budget',
      message: expect.stringContaining('no price'),
    });
    expect(server.log).toHaveLength(0);
  });
});

describe('a question that is stopped', () => {
  it('ends at once with the reason, and its reservation counts', async () => {
    const { model, ledger, server } = await openDouble({ script: ['stall'] });
    const controller = new AbortController();
    const asked = model.ask(question(), controller.signal);
    await server.until(({ sent }) => sent.length > 0);
    const reason = new Error('Ctrl-C');
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    const [call] = await ledger.list();
    expect(call!.finished).toMatchObject({ usage: null, failure: 'stopped from outside' });
  });

  it('ends where it waits for its turn, and the next ones still get theirs', async () => {
    const { model, server } = await openDouble(
      { script: [{ name: 'slow', pauseMs: 50 }] },
      { concurrency: 1 },
    );
    const first = model.ask(question(), never);
    const controller = new AbortController();
    const second = model.ask(question({ attempt: 2 }), controller.signal);
    const third = model.ask(question({ attempt: 3 }), never);
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect([(await first).kind, (await third).kind, server.log.length]).toEqual(['files', 'files', 2]);
  });

  it('is never more than the settings allow at once', async () => {
    const { model, server } = await openDouble(
      { script: () => ({ name: 'slow', pauseMs: 20 }) },
      { concurrency: 2 },
    );
    const asked = [1, 2, 3, 4].map((attempt) => model.ask(question({ attempt }), never));
    await server.until(({ number, isDelivered }) => number === 1 && isDelivered);
    expect(server.log.length).toBeLessThanOrEqual(3);
    await Promise.all(asked);
    expect(server.log).toHaveLength(4);
  });
});
