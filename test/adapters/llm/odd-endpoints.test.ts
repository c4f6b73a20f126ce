import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ModelAnswer } from '../../../src/model/language-model.ts';
import {
  code,
  completionOf,
  fenced,
  type Handler,
  never,
  openModel,
  openOddEndpoint,
  question,
  sendEvents,
  sendJson,
} from './open-endpoint.ts';

const done = [
  { choices: [{ delta: { content: fenced } }] },
  { choices: [{ delta: {}, finish_reason: 'stop' }] },
];

/** Does each thing once, then answers. */
function inTurn(...handlers: readonly Handler[]): Handler {
  let calls = 0;
  return (body, response, request) => {
    const handler = handlers[calls++] ?? ((_, last) => sendEvents(last, done));
    handler(body, response, request);
  };
}

async function ask(handler: Handler, settings: Readonly<Record<string, unknown>> = {}, request = question()) {
  const { baseUrl, bodies } = await openOddEndpoint(handler);
  const opened = openModel({ base_url: baseUrl, model: 'm', ...settings });
  const answer = await opened.model.ask(request, never).catch((error: Error) => error);
  return { answer, bodies, baseUrl, ...opened };
}

const status =
  (code: number, body: unknown): Handler =>
  (_, response) =>
    sendJson(response, code, body);

describe('refusals in the words of several servers', () => {
  it.each([
    [
      'vLLM of old, at the top level',
      400,
      {
        object: 'error',
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
      'stream_options',
    ],
    [
      'FastAPI, with the input in it',
      422,
      {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'seed'],
            msg: 'Extra inputs are not permitted',
            input: `temperature ${'x'.repeat(999)}`,
          },
        ],
      },
      'seed',
    ],
    [
      'Mistral, as a list',
      422,
      {
        object: 'Error',
        message: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }],
      },
      'seed',
    ],
    [
      'Ollama, as one text',
      400,
      { error: 'invalid reasoning_effort: thinking is not supported by this model' },
      'reasoning_effort',
    ],
    [
      'OpenAI, about a value',
      400,
      {
        error: {
          message:
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
          param: 'temperature',
          code: 'unsupported_value',
        },
      },
      'temperature',
    ],
    [
      'llama.cpp, about a grammar',
      500,
      {
        error: {
          code: 500,
          message: 'Failed to initialize samplers: failed to parse grammar',
          type: 'server_error',
        },
      },
      'response_format',
    ],
  ])('%s: goes on without the parameter', async (_, code, body, parameter) => {
    const settings = { temperature: 0.5, seed: 1, reasoning_effort: 'low' };
    const { answer, bodies } = await ask(inTurn(status(code, body)), settings);
    expect(answer).toMatchObject({ kind: 'files' });
    expect(bodies[0]).toHaveProperty(parameter);
    expect(bodies[1]).not.toHaveProperty(parameter);
    expect(Object.keys(bodies[0]!).length - Object.keys(bodies[1]!).length).toBe(1);
  });

  it.each([
    [
      'llama.cpp',
      400,
      {
        error: {
          code: 400,
          message:
            'request (14429 tokens) exceeds the available context size (4096 tokens), try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 2900,
          n_ctx: 4096,
        },
      },
    ],
    [
      'llama.cpp with the wrong status',
      500,
      { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
    ],
    [
      'an error with status 200',
      200,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size. try increasing the context size',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 2900,
          n_ctx: 4096,
        },
      },
    ],
    [
      'OpenAI',
      400,
      {
        error: {
          message:
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 2900 tokens. Please reduce the length of the messages.",
          code: 'context_length_exceeded',
        },
      },
    ],
  ])(
    '%s: leaves out by priority where the context is too short, and says so in the prompt',
    async (_, code, body) => {
      const sections = [
        { title: 'Contract', text: `contract: norm.rms\n${'x '.repeat(500)}`, priority: 0 },
        { title: 'Modes', text: 'm '.repeat(3000), priority: 3 },
        { title: 'Platform', text: 'p '.repeat(200), priority: 1 },
      ];
      const refusals = Array.from(
        { length: 4 },
        () => (given: Record<string, unknown>, response: Parameters<Handler>[1]) => {
          if (JSON.stringify(given.messages).includes('m m m')) sendJson(response, code, body);
          else sendEvents(response, done);
        },
      );
      const { answer, bodies } = await ask(
        inTurn(...refusals),
        { max_output_tokens: 2000, context_tokens: 9000 },
        question({ sections }),
      );
      expect(answer).toMatchObject({ kind: 'files', origin: { leftOut: ['Modes'] } });
      expect(JSON.stringify(bodies.at(-1))).toContain('these sections are not shown: Modes.');
    },
  );

  it('a content filter before the model is a refusal, and asked once', async () => {
    const error = {
      message: 'The response was filtered due to the prompt triggering the content management policy.',
      code: 'content_filter',
      param: 'prompt',
    };
    const { answer, bodies, ledger } = await ask(inTurn(status(400, { error })));
    expect(answer).toMatchObject({ kind: 'refusal', reason: 'declined' });
    expect([bodies.length, (await ledger.spent()).unreportedTokens]).toEqual([1, 0]);
  });
});

describe('addresses that are not the right one', () => {
  it.each([
    [
      'a redirect',
      (_: unknown, response: Parameters<Handler>[1]) =>
        response.writeHead(301, { location: 'https://example.org/v1' }).end(),
      /redirects to https:\/\/example\.org .*base_url/,
    ],
    [
      'a page',
      (_: unknown, response: Parameters<Handler>[1]) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Welcome</title>'),
      /web page .*"Welcome".*base_url/,
    ],
    ['another API', status(200, { models: [] }), /no chat completion.*base_url/],
    [
      'nothing under that path',
      status(404, { detail: 'Not Found' }),
      /chat\/completions does not exist .*base_url/,
    ],
    [
      'a model that Ollama has not pulled',
      status(404, { error: { message: 'model "m" not found, try pulling it first' } }),
      /no model "m".*pull/,
    ],
    [
      'a key that may not',
      status(403, { error: { message: 'Country not supported' } }),
      /refused the key \(403\).*METAINFER_LLM_API_KEY/,
    ],
    [
      'no credit',
      status(402, { error: { message: 'Insufficient Balance' } }),
      /paid first .*Insufficient Balance/,
    ],
  ])('%s ends at once with what to do', async (_, handler, message) => {
    const { answer, bodies } = await ask(handler as Handler);
    expect(answer).toMatchObject({ code: 'MODEL_UNAVAILABLE', message: expect.stringMatching(message) });
    expect(bodies).toHaveLength(1);
  });

  it('a port on which nothing listens is told at once before the first answer, and waited for after it', async () => {
    const { model, waits } = openModel({ base_url: 'http://127.0.0.1:9/v1', model: 'm' });
    await expect(model.ask(question(), never)).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringMatching(/Nothing answers at http:\/\/127\.0\.0\.1:9\/v1 .*started/),
    });
    expect(waits).toEqual([]);
  });
});

describe('what endpoints do differently', () => {
  it('usage that cannot be right counts as what was reserved', async () => {
    for (const usage of [
      { prompt_tokens: 0, completion_tokens: 0 },
      { prompt_tokens: -5, completion_tokens: 2 },
      { prompt_tokens: 'many' },
      { prompt_tokens: 90, completion_tokens: 0 },
    ]) {
      const { ledger } = await ask((_, response) => sendEvents(response, [...done, { choices: [], usage }]));
      expect((await ledger.spent()).unreportedTokens).toBeGreaterThan(16_384);
    }
  });

  it('cached tokens are read from where DeepSeek reports them too', async () => {
    const usage = { prompt_tokens: 500, completion_tokens: 90, prompt_cache_hit_tokens: 320 };
    const { ledger } = await ask((_, response) => sendEvents(response, [...done, { choices: [], usage }]));
    expect(await ledger.spent()).toMatchObject({
      promptTokens: 500,
      cachedTokens: 320,
      completionTokens: 90,
    });
  });

  it('a prompt that waits long for its first token is no stall', async () => {
    const { answer } = await ask(
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
    const { answer, ledger } = await ask(
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
    const { answer, bodies } = await ask((_, response) => sendEvents(response, events));
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
    const { answer, bodies } = await ask((_, response) => {
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
    const { answer, waits } = await ask(
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
