import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ModelAnswer } from '../../../src/model/language-model.ts';
import { askOddly, done, inTurn } from './ask-oddly.ts';
import {
  code,
  completionOf,
  fenced,
  never,
  openModel,
  openOddEndpoint,
  question,
  sendEvents,
  sendJson,
} from './open-endpoint.ts';

describe('what endpoints do differently', () => {
  it('usage that cannot be right counts as what was reserved', async () => {
    for (const usage of [
      { prompt_tokens: 0, completion_tokens: 0 },
      { prompt_tokens: -5, completion_tokens: 2 },
      { prompt_tokens: 'many' },
      { prompt_tokens: 90, completion_tokens: 0 },
    ]) {
      const { ledger } = await askOddly((_, response) =>
        sendEvents(response, [...done, { choices: [], usage }]),
      );
      expect((await ledger.spent()).unreportedTokens).toBeGreaterThan(16_384);
    }
  });

  it('cached tokens are read from where DeepSeek reports them too', async () => {
    const usage = { prompt_tokens: 500, completion_tokens: 90, prompt_cache_hit_tokens: 320 };
    const { ledger } = await askOddly((_, response) =>
      sendEvents(response, [...done, { choices: [], usage }]),
    );
    expect(await ledger.spent()).toMatchObject({
      promptTokens: 500,
      cachedTokens: 320,
      completionTokens: 90,
    });
  });

  it('a stream under a wrong name is a stream', async () => {
    const { answer } = await askOddly((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(done.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    });
    expect(answer).toMatchObject({ kind: 'files' });
  });

  it('an answer that the server aborted is asked for again, however much of it arrived', async () => {
    const half = { choices: [{ delta: { content: fenced.slice(0, 300) } }] };
    const aborted = { choices: [{ delta: {}, finish_reason: 'abort' }] };
    const { answer, bodies } = await askOddly(inTurn((_, response) => sendEvents(response, [half, aborted])));
    expect([(answer as ModelAnswer).kind, bodies.length]).toEqual(['files', 2]);
  });

  it('places at an endpoint are shared by all runs of this process', async () => {
    let [open, most] = [0, 0];
    const { baseUrl } = await openOddEndpoint(async (_, response) => {
      open += 1;
      most = Math.max(most, open);
      await pause(50);
      open -= 1;
      sendEvents(response, done);
    });
    const settings = { base_url: baseUrl, model: 'm', concurrency: 2 };
    const runs = [1, 2, 3, 4, 5].map(() => openModel(settings).model.ask(question(), never));
    expect((await Promise.all(runs)).every(({ kind }) => kind === 'files')).toBe(true);
    expect(most).toBe(2);
  });

  it('a prompt that waits long for its first token is no stall', async () => {
    const { answer } = await askOddly(
      async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          `data: ${JSON.stringify({ choices: [{ delta: { role: 'assistant', content: '' } }] })}\n\n`,
        );
        response.write(': still reading\n\n');
        await pause(1500);
        for (const event of done) response.write(`data: ${JSON.stringify(event)}\n\n`);
        response.end();
      },
      { stall_seconds: 1 },
    );
    expect(answer).toMatchObject({ kind: 'files' });
  });

  it('an endless answer is ended where it passes what was reserved', async () => {
    const { answer, ledger } = await askOddly(
      async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const event = `data: ${JSON.stringify({ choices: [{ delta: { reasoning_content: 'and so on ' } }] })}\n\n`;
        while (!response.destroyed && response.write(event.repeat(50))) await pause(1);
        response.once('drain', () => response.destroy());
      },
      { max_output_tokens: 300 },
    );
    expect(answer).toMatchObject({ kind: 'refusal', reason: 'too-long' });
    expect((await ledger.list()).length).toBe(1);
  });

  it('an answer of thoughts alone says what to raise, and is not continued', async () => {
    const events = [
      { choices: [{ delta: { content: '<think>hm' } }] },
      { choices: [{ delta: {}, finish_reason: 'length' }] },
    ];
    const { answer, bodies } = await askOddly((_, response) => sendEvents(response, events));
    expect(answer).toMatchObject({
      reason: 'truncated',
      message: expect.stringContaining('max_output_tokens'),
    });
    expect(bodies).toHaveLength(1);
  });

  it('an answer that was cut off is continued word for word, whatever the model repeats', async () => {
    const cut = Math.floor(fenced.length / 2);
    const parts = [fenced.slice(0, cut), `Here is the rest:\n\`\`\`cpp\n${fenced.slice(cut - 60)}`];
    let part = 0;
    const { answer, bodies } = await askOddly((_, response) => {
      const finish_reason = part === 0 ? 'length' : 'stop';
      sendJson(
        response,
        200,
        completionOf(null, { choices: [{ message: { content: parts[part++] }, finish_reason }] }),
      );
    });
    expect((answer as ModelAnswer & { kind: 'files' }).files).toEqual([{ path: 'norm_rms.cpp', text: code }]);
    expect(bodies[1]!.messages).toMatchObject([
      {},
      {},
      { role: 'assistant', content: parts[0] },
      { role: 'user' },
    ]);
    expect(bodies[1]).not.toHaveProperty('response_format');
  });

  it('a server that says when by date is waited for until then', async () => {
    const at = new Date(Date.now() + 30_000).toUTCString();
    const { answer, waits } = await askOddly(
      inTurn((_, response) => {
        response.writeHead(429, { 'retry-after': at, 'content-type': 'application/json' });
        response.end('{}');
      }),
    );
    expect(answer).toMatchObject({ kind: 'files' });
    expect(waits[0]).toBeGreaterThan(25_000);
    expect(waits[0]).toBeLessThanOrEqual(31_000);
  });

  it('no key is sent where there is none, and nothing of the environment goes along', async () => {
    const headers: unknown[] = [];
    const { baseUrl } = await openOddEndpoint((_, response, request) => {
      headers.push(request.headers.authorization, request.headers['openai-organization']);
      sendEvents(response, done);
    });
    process.env.OPENAI_API_KEY = 'sk-of-somebody-else';
    process.env.OPENAI_ORG_ID = 'org';
    try {
      const { model } = openModel({ base_url: baseUrl, model: 'm' }, { apiKey: undefined });
      await model.ask(question(), never);
    } finally {
      delete process.env.OPENAI_API_KEY;
      delete process.env.OPENAI_ORG_ID;
    }
    expect(headers).toEqual([undefined, undefined]);
  });

  it('a count that leaves out what was cached is no cut prompt', async () => {
    const long = [
      { title: 'Contract', text: `contract: norm.rms\n${'Each row by its mean. '.repeat(900)}`, priority: 0 },
    ];
    const counts = [5000, 300];
    const { baseUrl } = await openOddEndpoint((_, response) =>
      sendEvents(response, [
        ...done,
        { choices: [], usage: { prompt_tokens: counts.shift(), completion_tokens: 90 } },
      ]),
    );
    const { model, ledger } = openModel({ base_url: baseUrl, model: 'm' });
    for (const attempt of [1, 2]) {
      expect(await model.ask(question({ sections: long, attempt }), never)).toMatchObject({ kind: 'files' });
    }
    expect((await ledger.list()).map(({ finished }) => finished!.usage?.promptTokens)).toEqual([
      5000,
      undefined,
    ]);
  });
});
