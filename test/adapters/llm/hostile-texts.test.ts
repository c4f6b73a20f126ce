import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { examineEndpoint } from '../../../src/adapters/llm/examine-endpoint.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import { done } from './ask-oddly.ts';
import { choice, meet, secret, steering, stream, whole } from './meet-hostile.ts';
import {
  completionOf,
  fenced,
  type Handler,
  never,
  openOddEndpoint,
  question,
  sendJson,
} from './open-endpoint.ts';

describe('texts that are meant for a terminal', () => {
  const escapes = '\u001b[2J\u001b]0;pwn\u0007\u009b31m\u202ered';
  const page: Handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<title>${escapes}${'x'.repeat(5000)}</title>`);
  };
  it.each([
    [
      'an error',
      ((_, response) =>
        sendJson(response, 400, {
          error: { message: `${escapes} ${'A'.repeat(50_000)} Bearer ${secret}` },
        })) as Handler,
      { code: 'MODEL_UNAVAILABLE' },
    ],
    ['a page', page, { code: 'MODEL_UNAVAILABLE' }],
    [
      'an error in a stream',
      stream({ error: { message: `${escapes} ${secret}` } }),
      { code: 'MODEL_UNAVAILABLE' },
    ],
    [
      'a refusal',
      whole(choice({ content: null, refusal: `${escapes} No.\n# Heading ${secret} ${'B'.repeat(100_000)}` })),
      { reason: 'declined' },
    ],
    ['code', whole(choice({ content: `\`\`\`cpp\n// ${escapes}\n\`\`\`` })), { reason: 'invalid-text' }],
  ])('reach none: %s', async (_, handler, ends) => {
    expect((await meet(handler)).answer).toMatchObject(ends);
  });

  it('are refused in values of JSON, where escapes hide them', async () => {
    const expects = { kind: 'json', name: 'finding', schema: { type: 'object' } } as const;
    for (const said of ['\u001b[2J', 'a\rb', '\u202ex']) {
      const content = JSON.stringify({ finding: said });
      const { answer } = await meet(whole(choice({ content })), {}, question({ expects }));
      expect(answer).toMatchObject({ kind: 'refusal', reason: 'invalid-text' });
    }
    const content = JSON.stringify({ finding: 'one\n\ttwo\r\nthree' });
    const { answer } = await meet(whole(choice({ content })), {}, question({ expects }));
    expect(answer).toMatchObject({ kind: 'json' });
  });

  it('are shown by doctor as what they are', async () => {
    const { baseUrl } = await openOddEndpoint((_, response, request) =>
      request.method === 'GET'
        ? sendJson(response, 200, {
            data: [{ id: `${escapes}\nfake line` }, { id: 'm' }, { id: 'x'.repeat(5000) }],
          })
        : sendJson(response, 200, completionOf('', choice({ content: '' }, `${escapes}${secret}`))),
    );
    const settings = LlmSettings.parse({ base_url: baseUrl, model: 'm' });
    const findings = await examineEndpoint(settings, secret, never);
    const shown = findings.map(({ found, needed }) => `${found} ${needed}`).join(' ');
    expect(shown).toContain('m and 2 whose names cannot be used');
    expect(shown).not.toMatch(steering);
    expect(shown).not.toContain(secret);
    expect(shown.length).toBeLessThan(900);
  });
});

describe('a key that comes back', () => {
  const escaped = secret.replaceAll('-', '\\u002d');
  it.each([
    ['in the answer', completionOf(`${fenced.replace('int value_1', `// Bearer ${secret}\nint value_1`)}`)],
    ['in escapes', completionOf(`{"files": [{"path": "norm_rms.cpp", "text": "// ${escaped}"}]}`)],
    ['as fingerprint', completionOf(fenced, { system_fingerprint: secret })],
    ['as finish_reason', completionOf(fenced, choice({ content: fenced }, secret))],
  ])('stands neither in the record nor in the answer: %s', async (_, value) => {
    expect((await meet(whole(value))).answer).toMatchObject({ kind: 'files' });
  });
});

describe('waits that are asked for', () => {
  it.each([
    ['retry-after', '99999999999', 1, /wait for days; ten minutes are waited at most/],
    ['retry-after', '700', 1, /wait 12 minutes; ten minutes/],
    ['retry-after-ms', 'Infinity', 6, /asked 6 times/],
    ['retry-after', '-5', 6, /asked 6 times/],
    ['retry-after', '0', 6, /asked 6 times/],
    ['retry-after', 'NaN', 6, /asked 6 times/],
    ['retry-after', 'Thu, 01 Jan 1970 00:00:00 GMT', 6, /asked 6 times/],
  ])('are kept within ten minutes and never none: %s: %s', async (name, value, requests, words) => {
    const { answer, bodies, waits } = await meet((_, response) => {
      response.writeHead(429, { [name]: value });
      response.end('{}');
    });
    expect(answer).toMatchObject({ code: 'MODEL_UNAVAILABLE', message: expect.stringMatching(words) });
    expect(bodies).toHaveLength(requests);
    expect(waits.filter((wait) => !(wait > 500 && wait < 600_000))).toEqual([]);
  });
});

describe('a stream that goes on without an answer', () => {
  const empty = `data: ${JSON.stringify({ choices: [{ delta: { content: '' } }] })}\n\n`;
  const first = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x' } }] })}\n\n`;
  const thought = `data: ${JSON.stringify({ choices: [{ delta: { reasoning_content: 'hm' } }] })}\n\n`;
  /** Sends the same for as long as it is listened to, or so often, then an answer. */
  const repeat =
    (opening: string, text: string, pauseMs: number, most = Number.POSITIVE_INFINITY): Handler =>
    async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(opening);
      for (let count = 0; count < most && !response.destroyed; count++) {
        response.write(text);
        await pause(pauseMs);
      }
      for (const event of done) response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end();
    };
  it.each([
    ['empty pieces', '', empty.repeat(500)],
    ['comments', '', ': keep\n\n'.repeat(5000)],
    ['an endless line', 'data: ', 'a'.repeat(50_000)],
    ['comments after a piece', first, ': keep\n\n'],
    ['empty pieces after a piece', first, empty],
  ])('is silence: %s', async (_, opening, text) => {
    let calls = 0;
    const { answer, notes, bodies } = await meet(
      (body, response, request) =>
        (calls++ === 0 ? repeat(opening, text, 20) : stream(...done))(body, response, request),
      { stall_seconds: 1, timeout_seconds: 20 },
    );
    expect([answer, bodies.length]).toMatchObject([{ kind: 'files' }, 2]);
    expect(notes.join()).toMatch(/nothing of the answer arrived for 1 s/);
  });

  it('is none where the model thinks aloud', async () => {
    const { answer, bodies } = await meet(repeat('', thought, 100, 20), {
      stall_seconds: 1,
      timeout_seconds: 20,
    });
    expect([answer, bodies.length]).toMatchObject([{ kind: 'files' }, 1]);
  });
});
