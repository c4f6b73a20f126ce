import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import { type BegunCall, isFromTestDouble } from '../../../src/model/completion-ledger.ts';
import type { ModelRequest } from '../../../src/model/language-model.ts';
import { tokensOf } from '../../../src/model/spending.ts';
import { never, openDouble, question, temporaryFolder } from './open-endpoint.ts';

function call(key: string): BegunCall {
  return {
    ...{ key, role: 'implementer', contract: 'norm.rms', phase: 'operations', model: 'm' },
    messages: [{ role: 'user', content: 'x' }],
    ...{ reservedTokens: 900, reservedUsd: 0.5, startedAt: '2026-01-01T00:00:00.000Z' },
  };
}
const usage = { promptTokens: 100, cachedTokens: 20, completionTokens: 30 };
const outcome = { text: 'y', finishReason: 'stop', usage, usd: 0.1, seconds: 1, failure: null };

function startChild(settings: unknown, folder: string, questions: readonly ModelRequest[]): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/llm-child.ts'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin!.write(`${JSON.stringify({ settings, folder, questions })}\n`);
  return child;
}

describe('the record of calls on disk', () => {
  it('holds each call from before it is made, for a later process too', async () => {
    const folder = join(temporaryFolder(), 'deep/calls');
    const ledger = createFileLedger(folder);
    await ledger.begin(call('a'.repeat(64)));
    expect(await createFileLedger(folder).find('a'.repeat(64))).toMatchObject({ finished: null });
    await ledger.finish('a'.repeat(64), outcome);
    await ledger.begin(call('b'.repeat(64)));
    const later = createFileLedger(folder);
    expect(await later.list()).toEqual(await ledger.list());
    expect(await later.find('a'.repeat(64))).toMatchObject({ finished: outcome });
    expect(await later.spent()).toEqual({ calls: 2, ...usage, unreportedTokens: 900, usd: 0.6 });
    expect(await later.leftToday()).toBeNull();
  });

  it('keeps a call that was begun twice twice: the first may have been paid as well', async () => {
    const ledger = createFileLedger(temporaryFolder());
    await ledger.begin(call('a'));
    await ledger.begin(call('a'));
    await ledger.finish('a', outcome);
    expect(await ledger.find('a')).toMatchObject({ finished: outcome });
    expect(tokensOf(await ledger.spent())).toBe(900 + 130);
  });

  it('is readable by its owner alone, and what a killed process left half-written is no part of it', async () => {
    const folder = join(temporaryFolder(), 'calls');
    await createFileLedger(folder).begin(call('a'));
    writeFileSync(join(folder, '00002-reviewer-b.json.part'), '{"key": "b"');
    expect(await createFileLedger(folder).list()).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['00001-implementer-a.json']);
    expect([
      statSync(folder).mode & 0o777,
      statSync(join(folder, '00001-implementer-a.json')).mode & 0o777,
    ]).toEqual([0o700, 0o600]);
  });

  it('is not used where one of its files was changed: what was paid would be forgotten', async () => {
    const folder = temporaryFolder();
    await createFileLedger(folder).begin(call('a'));
    writeFileSync(join(folder, '00001-implementer-a.json'), '{"key": "a"}');
    const message = expect.stringMatching(/00001-implementer-a\.json .*Put it back/);
    await expect(createFileLedger(folder).list()).rejects.toMatchObject({
      code: 'RUN_STATE_INVALID',
      message,
    });
  });

  it('takes nothing in that could not be read again', async () => {
    const folder = temporaryFolder();
    const ledger = createFileLedger(folder);
    await ledger.begin(call('a'));
    for (const wrong of [
      { finishReason: 7 },
      { fingerprint: {} },
      { usd: Number.NaN, seconds: Number.NaN },
    ]) {
      const finish = ledger.finish('a', { ...outcome, ...(wrong as object) });
      await expect(finish).rejects.toMatchObject({
        code: 'INTERNAL',
        message: expect.stringMatching(/cannot be recorded: finished\./),
      });
    }
    expect(await createFileLedger(folder).list()).toMatchObject([{ key: 'a', finished: null }]);
  });

  it('holds no key, not even where the endpoint or the prompt repeats it', async () => {
    const folder = temporaryFolder();
    const secret = 'sk-secret-key-of-the-test';
    const { model } = await openDouble(
      { replies: () => ({ kind: 'text', text: `Your key is ${secret}.` }) },
      { structured_output: 'fenced' },
      { apiKey: secret, ledger: createFileLedger(folder) },
    );
    const sections = [{ title: 'Contract', text: `contract: norm.rms\nkey ${secret}`, priority: 0 }];
    expect(JSON.stringify(await model.ask(question({ sections }), never))).not.toContain(secret);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(files.join()).toContain('[redacted]');
    expect(files.join()).not.toContain(secret);
  });

  it('tells of a call that a test double answered', async () => {
    const { model, ledger } = await openDouble({});
    await model.ask(question(), never);
    expect(isFromTestDouble(await ledger.list())).toBe(true);
  });
});

describe('kill -9 in the middle of a streamed answer', () => {
  it('repeats no call that was completed, and counts the broken one as spent', async () => {
    const folder = temporaryFolder();
    const { server, settings } = await openDouble({
      script: ({ number }) => (number === 2 ? { name: 'slow', pauseMs: 200 } : undefined),
    });
    const questions = [question(), question({ attempt: 2 })];
    const child = startChild(settings, folder, questions);
    await server.until(({ number, sent }) => number === 2 && sent.length > 100);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const [first, second] = await createFileLedger(folder).list();
    expect([first!.finished?.failure, second!.finished]).toEqual([null, null]);

    const resumed = startChild(settings, folder, questions);
    const told = await readText(resumed.stdout!);
    expect(
      told
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { kind: 'files', isRepeated: true },
      { kind: 'files', isRepeated: false },
    ]);
    expect(server.log.map(({ attempt }) => attempt)).toEqual([1, 2, 2]);
    const spent = await createFileLedger(folder).spent();
    expect(spent).toMatchObject({ calls: 3, unreportedTokens: second!.reservedTokens });
    expect(tokensOf(spent)).toBeGreaterThanOrEqual(server.count().tokens);
  });
});
