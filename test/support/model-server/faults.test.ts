import OpenAI, { type APIError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fault, FaultName } from './faults.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import type { Replies } from './reply.ts';

const code = `// SPDX-License-Identifier: MIT\n// é and 漢 stand on two and three bytes.\n${'int x = 1;\n'.repeat(40)}`;
const replies: Replies = () => ({ kind: 'files', files: [{ path: 'norm_rms.cpp', text: code }] });
const open: ModelServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function ask(fault: FaultName | Fault, isStreamed = true) {
  const server = await startModelServer({ replies, script: [fault] });
  open.push(server);
  const client = new OpenAI({
    ...{ baseURL: server.baseUrl, apiKey: 'none', maxRetries: 0, logLevel: 'off' },
    timeout: fault === 'time-out' ? 500 : 60_000,
  });
  const messages = [
    { role: 'system' as const, content: 'role: implementer\n' },
    { role: 'user' as const, content: 'contract: norm.rms\n' },
  ];
  const common = { model: 'test-double', messages, max_tokens: 100_000 };
  const patience = fault === 'stall' ? 1500 : 60_000;
  return { server, ...(await read(client, common, isStreamed, patience)) };
}

async function read(
  client: OpenAI,
  common: OpenAI.ChatCompletionCreateParamsNonStreaming,
  isStreamed: boolean,
  patience: number,
): Promise<{ text: string; finish: string | undefined; refusal: string; error: unknown }> {
  let text = '';
  let refusal = '';
  let finish: string | undefined;
  try {
    if (!isStreamed) {
      const [choice] = (await client.chat.completions.create(common)).choices;
      return {
        text: choice!.message.content!,
        ...{ finish: choice!.finish_reason, refusal: choice!.message.refusal ?? '', error: undefined },
      };
    }
    const signal = AbortSignal.timeout(patience);
    for await (const chunk of await client.chat.completions.create({ ...common, stream: true }, { signal })) {
      const [choice] = chunk.choices;
      text += choice?.delta.content ?? '';
      refusal += choice?.delta.refusal ?? '';
      finish = choice?.finish_reason ?? finish;
    }
    // An aborted stream ends without an error in the client.
    return { text, finish, refusal, error: signal.aborted ? 'silence' : undefined };
  } catch (error) {
    return { text, finish, refusal, error };
  }
}

describe('what the model server can do wrong, as the real client sees it', () => {
  it.each([
    [
      { name: 'rate-limited', retryAfter: 7 },
      { status: 429, code: 'rate_limit_exceeded' },
    ],
    ['quota-exhausted', { status: 429, code: 'insufficient_quota' }],
    ['server-error', { status: 503 }],
    [{ name: 'server-error', status: 500, retryAfter: null }, { status: 500 }],
    ['html-error-page', { status: 502 }],
    ['key-refused', { status: 401 }],
    ['no-such-model', { status: 404, code: 'model_not_found' }],
    ['unknown-parameter', { status: 400, param: 'max_tokens' }],
    ['context-overflow', { status: 400, code: 'context_length_exceeded' }],
    ['disconnect-before-answer', { message: 'Connection error.' }],
    ['time-out', { message: 'Request timed out.' }],
  ] as const)('%j is an error in place of an answer', async (fault, wanted) => {
    const { error, server } = await ask(fault);
    expect(error).toMatchObject(wanted);
    expect(server.count()).toMatchObject({ completionTokens: 0, delivered: 0 });
  });

  it('says when to come back, in seconds or in milliseconds', async () => {
    const { error } = await ask({ name: 'rate-limited', retryAfter: 7 });
    expect((error as APIError).headers?.get('retry-after')).toBe('7');
    const soon = await ask({ name: 'rate-limited', retryAfter: 0.05 });
    expect((soon.error as APIError).headers?.get('retry-after-ms')).toBe('50');
  });

  it.each([
    ['stall', 'silence'],
    ['disconnect', expect.any(Error)],
    ['error-in-stream', expect.any(Error)],
  ] as const)('%s leaves half an answer, which the server counts', async (fault, wanted) => {
    const { error, text, server } = await ask(fault);
    expect(error).toEqual(wanted);
    expect(text.length).toBeGreaterThan(100);
    expect(server.log[0]).toMatchObject({ sent: text, isDelivered: false });
    expect(server.count().completionTokens).toBe(Math.ceil(Buffer.byteLength(text) / 4));
  });

  it('disconnects and times out where an answer comes in one piece, too', async () => {
    expect((await ask('disconnect', false)).error).toBeInstanceOf(Error);
    expect((await ask('time-out', false)).error).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
  });

  it('garbles a stream, forgets its end mark, and sends bytes that are no UTF-8', async () => {
    expect((await ask('garbled-stream')).error).toBeInstanceOf(SyntaxError);
    expect(await ask('no-end-mark')).toMatchObject({ finish: 'stop', error: undefined });
    for (const isStreamed of [true, false])
      expect((await ask('invalid-utf8', isStreamed)).text).toContain('\uFFFD(');
  });

  it('is slow', async () => {
    const begin = performance.now();
    expect((await ask({ name: 'slow', pauseMs: 20 })).finish).toBe('stop');
    expect(performance.now() - begin).toBeGreaterThan(150);
  });

  it.each([true, false])('refuses, says nothing, or is cut off (streamed: %s)', async (isStreamed) => {
    expect(await ask('refusal', isStreamed)).toMatchObject({ refusal: expect.stringContaining('sorry') });
    expect(await ask('content-filter', isStreamed)).toMatchObject({ finish: 'content_filter' });
    expect(await ask('empty', isStreamed)).toMatchObject({ text: '', finish: 'stop' });
    const { text, finish } = await ask('truncated', isStreamed);
    expect([finish, text.includes(code)]).toEqual(['length', false]);
  });

  it('writes around, beside and beyond what was asked for', async () => {
    expect((await ask('prose-around')).text).toMatch(/^Sure! [\s\S]*```cpp path=norm_rms[\s\S]*unclear\.$/);
    expect((await ask('prose-only')).text).not.toContain('```');
    expect((await ask('wrong-path')).text).toContain('path=../src/norm_rms.cpp');
    expect((await ask('several-versions')).text.match(/path=norm_rms\.cpp/g)).toHaveLength(2);
    expect((await ask('absurd-length')).text.length).toBeGreaterThan(2 ** 22);
  });
});
