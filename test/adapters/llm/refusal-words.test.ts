import { describe, expect, it } from 'vitest';
import { askOddly, done, inTurn, status } from './ask-oddly.ts';
import { type Handler, never, openModel, question, sendEvents, sendJson } from './open-endpoint.ts';

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
    const { answer, bodies } = await askOddly(inTurn(status(code, body)), settings);
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
      const { answer, bodies } = await askOddly(
        inTurn(...refusals),
        { max_output_tokens: 2000, context_tokens: 9000 },
        question({ sections }),
      );
      expect(answer).toMatchObject({ kind: 'files', origin: { leftOut: ['Modes'] } });
      expect(JSON.stringify(bodies.at(-1))).toContain('these sections are not shown: Modes.');
    },
  );

  it.each([
    ['DeepSeek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'],
    [
      'Groq',
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    ],
    [
      'Anthropic',
      'max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for the model',
    ],
    [
      'OpenAI',
      'max_tokens is too large: 16384. This model supports at most 8192 completion tokens, whereas you provided 16384.',
    ],
  ])('%s: asks for no longer answers than are allowed', async (_, message) => {
    const { answer, bodies } = await askOddly(
      inTurn(status(400, { error: { message, type: 'invalid_request_error' } })),
    );
    expect(answer).toMatchObject({ kind: 'files' });
    expect(bodies.map(({ max_tokens }) => max_tokens)).toEqual([16_384, 8192]);
  });

  it('a content filter before the model is a refusal, and asked once', async () => {
    const error = {
      message: 'The response was filtered due to the prompt triggering the content management policy.',
      code: 'content_filter',
      param: 'prompt',
    };
    const { answer, bodies, ledger } = await askOddly(inTurn(status(400, { error })));
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
    const { answer, bodies } = await askOddly(handler as Handler);
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
