import { dirname, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { EngineFailure } from '../../src/verification/engine-channel.ts';
import { type EngineClient, startEngine } from '../../src/verification/protocol-client.ts';
import { encodeFrame, FrameReader } from '../../src/verification/protocol-frames.ts';
import { probeSandbox } from '../../src/verification/sandbox.ts';

const script = resolve('test/fixtures/fake-engine.mjs');
const sandbox = probeSandbox('auto');
const open: EngineClient[] = [];

function startFake(mode: string, timeoutMs = 20_000): EngineClient {
  const client = startEngine({
    sandbox,
    command: [process.execPath, script, mode],
    readOnlyPaths: [script, dirname(process.execPath)],
    timeoutMs,
  });
  open.push(client);
  return client;
}

async function failureOf(promise: Promise<unknown>): Promise<EngineFailure> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof EngineFailure))
    throw new Error(`expected an EngineFailure, got ${String(outcome)}`);
  return outcome;
}

afterEach(() => {
  for (const client of open.splice(0)) client.kill();
});

test('every operation of the protocol comes back with the shape that the greeting announced', async () => {
  const client = startFake('good');
  const hello = await client.hello();
  expect(hello.vocab_size).toBe(11);
  expect((await client.load('/weights')).tensors[0]?.name).toBe('a');
  const logits = await client.logits([1, 2, 3], [2, 1]);
  expect(logits.length).toBe(3);
  expect(logits[2]?.[0]).toBeCloseTo(Math.sin(9), 6);
  expect((await client.trace([1, 2])).length).toBe(6);
  expect((await client.batch([[1], [2, 3]])).map((rows) => rows.length)).toEqual([1, 2]);
  const prefill = await client.prefill(0, [1, 2]);
  expect(prefill.logits.length).toBe(11);
  expect(prefill.receivedAt).toBeGreaterThanOrEqual(prefill.sentAt);
  const decoded = await client.decode(0, prefill.argmax, 5);
  expect(decoded.argmax.length).toBe(5);
  expect(decoded.stepTimes.length).toBe(5);
  const batch = await client.batchDecode([1, 2], 3);
  expect(batch.argmax.map((row) => row.length)).toEqual([2, 2, 2]);
  expect(batch.logits.length).toBe(2);
  await client.poison();
  expect(await client.encode('AB', { addSpecial: false, parseSpecial: true })).toEqual([65, 66]);
  const chunks = await client.decodeText([65, 66], { skipSpecial: true });
  expect(Buffer.concat(chunks).toString()).toBe('AB');
  expect((await client.generate({ prompt: 'x', max_tokens: 1 })).text).toBe('hi');
  expect((await client.quit()).exitCode).toBe(0);
});

test('a refused request leaves the engine usable', async () => {
  const client = startFake('good');
  await client.hello();
  const failure = await failureOf(client.logits([99]));
  expect([failure.kind, failure.message]).toEqual(['refused', 'token id out of range']);
  expect((await client.logits([3])).length).toBe(1);
});

test.each([
  ['bad-magic', 'malformed', /magic/],
  ['oversized', 'malformed', /1 GiB/],
  ['wrong-sequence', 'malformed', /sequence/],
  ['crash', 'crashed', /stderr: assertion \\u001b\[31mfailed/],
])('an engine in mode %s is a %s failure, not a crash of the harness', async (mode, kind, message) => {
  const failure = await failureOf(startFake(mode).hello());
  expect(failure.kind).toBe(kind);
  expect(failure.message).toMatch(message);
});

test('what a crashed engine says comes without the places of this machine', async () => {
  const failure = await failureOf(startFake('crash-and-tell').hello());
  expect(failure.message).toMatch(/stderr: fake-engine\.mjs:12: cannot read weights\.bin/);
});

test('a reply of the wrong size is malformed', async () => {
  const client = startFake('short');
  await client.hello();
  expect((await failureOf(client.logits([1, 2]))).message).toMatch(/12 bytes instead of 88/);
});

test('a silent engine is ended after the time-out, and later requests fail at once', async () => {
  const client = startFake('silent', 300);
  expect((await failureOf(client.hello())).kind).toBe('timeout');
  expect((await client.channel.ended).reason).toBe('aborted');
  expect((await failureOf(client.hello())).kind).toBe('timeout');
});

test('frames are cut the same however the bytes arrive', () => {
  const bytes = Buffer.concat([encodeFrame(1, 7, Buffer.from('abc')), encodeFrame(2, 8, Buffer.alloc(0))]);
  for (let size = 1; size <= bytes.length; size++) {
    const reader = new FrameReader();
    const frames = [];
    for (let at = 0; at < bytes.length; at += size)
      frames.push(...reader.push(bytes.subarray(at, at + size), 0).frames);
    expect(frames.map((frame) => [frame.opcode, frame.sequence, frame.payload.toString()])).toEqual([
      [1, 7, 'abc'],
      [2, 8, ''],
    ]);
  }
});
