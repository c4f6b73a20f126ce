import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { askOddly, done } from './ask-oddly.ts';
import { choice, meet, stream, whole } from './meet-hostile.ts';
import { code, completionOf, fenced, type Handler, never, question, sendJson } from './open-endpoint.ts';

describe('fields of another type than the protocol has', () => {
  it.each([
    ['system_fingerprint', completionOf(fenced, { system_fingerprint: 123 })],
    ['finish_reason, a number', completionOf(fenced, choice({ content: fenced }, 7))],
    ['finish_reason, an object', completionOf(fenced, choice({ content: fenced }, { a: 1 }))],
    [
      'finish_reason with escapes',
      completionOf(fenced, choice({ content: fenced }, '\u001b[2Jstop\n# Owned')),
    ],
    ['refusal', completionOf(fenced, choice({ content: fenced, refusal: { no: true } }))],
    ['usage', completionOf(fenced, { usage: 'x' })],
    [
      'usage details',
      completionOf(fenced, {
        usage: { prompt_tokens: 400, completion_tokens: 99, prompt_tokens_details: 'x' },
      }),
    ],
    [
      '__proto__',
      JSON.parse(JSON.stringify(completionOf(fenced)).replace('{', '{"__proto__":{"choices":7},')),
    ],
  ])('are passed over: %s', async (_, value) => {
    const { answer, bodies, calls } = await meet(whole(value));
    expect(answer).toMatchObject({ kind: 'files', files: [{ text: code }] });
    expect([bodies.length, calls.length]).toEqual([1, 1]);
    expect(calls[0]!.finished!.finishReason).toMatch(/^[\w [#]+$/);
  });

  it.each([
    ['null', null],
    ['a number', 7],
    ['a list', []],
    ['choices that are a text', { choices: 'abc' }],
    ['choices of null', { choices: [null] }],
    ['a delta that is a number', { choices: [{ delta: 5, finish_reason: {} }] }],
    ['a fingerprint that is an object', { choices: [], system_fingerprint: {} }],
  ])('are passed over in a stream: %s', async (_, event) => {
    const { answer, bodies } = await meet(stream(event, ...done));
    expect([answer, bodies.length]).toMatchObject([{ kind: 'files' }, 1]);
  });

  it('are passed over in a refusal', async () => {
    const error = { message: { a: 1 }, code: {}, param: 7, type: [] };
    const { answer, bodies } = await meet((_, response) => sendJson(response, 400, { error }));
    expect([answer, bodies.length]).toMatchObject([{ code: 'MODEL_UNAVAILABLE' }, 1]);
  });
});

describe('a body that is no answer', () => {
  const compressed: Handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(Buffer.alloc(20 << 20, 32)));
  };
  const text =
    (type: string, body: string): Handler =>
    (_, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    };
  it.each([
    ['null in a stream', stream(null), /nothing of a chat completion/],
    ['a stream of nothing', stream(), /nothing of a chat completion/],
    ['JSON that is called a stream', text('text/event-stream', '{"choices":[]}'), /nothing of a chat/],
    ['an event that is no JSON', text('text/event-stream', 'data: {"a\n\n'), /no JSON/],
    ['half a document', text('application/json', '{"choices": ['), /no whole JSON document/],
    ['a compressed one', compressed, /compressed \(gzip\)/],
  ])('is told in words and asked for once more: %s', async (_, handler, words) => {
    const { answer, bodies, calls } = await meet(handler);
    expect(answer).toMatchObject({ code: 'MODEL_UNAVAILABLE', message: expect.stringMatching(words) });
    expect((answer as Error).message).not.toMatch(/undefined|properties of|is not a function/);
    expect(bodies).toHaveLength(2);
    expect(calls.every(({ finished }) => finished!.usage === null)).toBe(true);
  });
});

describe('usage that cannot be right', () => {
  const answered = (usage: unknown) => completionOf(fenced, { usage });
  it.each([
    ['the largest number', { prompt_tokens: 2 ** 53 - 1, completion_tokens: 2 ** 53 - 1 }],
    ['more for the prompt than it has', { prompt_tokens: 90_000, completion_tokens: 90 }],
    ['more for the answer than was asked for', { prompt_tokens: 400, completion_tokens: 4097 }],
    ['less than nothing', { prompt_tokens: -5, completion_tokens: -1e9 }],
    ['fractions', { prompt_tokens: 400.5, completion_tokens: 90 }],
    ['NaN', { prompt_tokens: Number.NaN, completion_tokens: 90 }],
    ['a text', { prompt_tokens: '400', completion_tokens: '90' }],
  ])('counts as what was reserved, is noted once and teaches nothing: %s', async (_, usage) => {
    const { model, ledger, notes } = await meet(whole(answered(usage)), { max_output_tokens: 1024 });
    await model.ask(question({ attempt: 2 }), never);
    const [first, second] = await ledger.list();
    expect([first!.finished!.usage, second!.finished!.usage]).toEqual([null, null]);
    expect(second!.reservedTokens).toBe(first!.reservedTokens);
    expect(notes).toEqual([expect.stringMatching(/^m: reports usage that cannot be right/)]);
  });

  it('is one token for a long answer too', async () => {
    const long = `\`\`\`cpp path=norm_rms.cpp\n${code.repeat(3)}\`\`\``;
    const { calls } = await meet(
      whole(completionOf(long, { usage: { prompt_tokens: 400, completion_tokens: 1 } })),
    );
    expect(calls[0]!.finished!.usage).toBeNull();
  });

  it('is not that of a model that thought for longer than it was to answer', async () => {
    const { calls, notes } = await meet(
      whole(
        answered({
          prompt_tokens: 400,
          completion_tokens: 3000,
          prompt_tokens_details: { cached_tokens: 1e9 },
        }),
      ),
      { max_output_tokens: 1024 },
    );
    expect(calls[0]!.finished!.usage).toEqual({
      promptTokens: 400,
      cachedTokens: 400,
      completionTokens: 3000,
    });
    expect(notes).toEqual([]);
  });

  it('in a complaint about the context teaches nothing', async () => {
    const message = `maximum context length is 9000 tokens, your messages resulted in ${2 ** 53 - 1} tokens`;
    const handlers = [
      (_: unknown, response: Parameters<Handler>[1]) => sendJson(response, 400, { error: { message } }),
    ];
    const { answer } = await askOddly((body, response, request) =>
      (handlers.shift() ?? stream(...done))(body, response, request),
    );
    expect(answer).toMatchObject({ kind: 'files' });
  });
});
