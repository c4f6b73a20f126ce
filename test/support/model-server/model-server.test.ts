import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Selection } from '../../../src/model/catalog.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { prepareEngine } from '../../../src/preparation/prepare-engine.ts';
import { readConstraintFile, readRequest } from '../../../src/preparation/read-request.ts';
import { repliesFromKnowledge } from './knowledge-replies.ts';
import { type ModelServer, startModelServer } from './model-server.ts';
import type { ModelServerOptions } from './server-options.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-server-'));
const open: ModelServer[] = [];
let selection: Selection;

beforeAll(async () => {
  const file = 'knowledge/examples/tiny-qwen3.yaml';
  const catalog = await openKnowledge(folder);
  const place = { fileName: file, origin: 'command-line', weightsRoot: undefined, catalog } as const;
  const request = await readRequest(await readConstraintFile(file), place);
  selection = prepareEngine(request, catalog).selection;
});

afterAll(async () => {
  for (const server of open) await server.close();
  rmSync(folder, { recursive: true });
});

async function serve(options: Partial<ModelServerOptions> = {}): Promise<{
  server: ModelServer;
  client: OpenAI;
}> {
  const server = await startModelServer({ replies: repliesFromKnowledge(selection), ...options });
  open.push(server);
  return { server, client: new OpenAI({ baseURL: server.baseUrl, apiKey: 'sk-right-key', maxRetries: 0 }) };
}

function messages(
  role = 'implementer',
  contract = 'norm.rms',
  rest = '',
): OpenAI.ChatCompletionMessageParam[] {
  return [
    { role: 'system', content: `role: ${role}\nYou write one file.` },
    { role: 'user', content: `=== The contract ===\n\ncontract: ${contract}\n${rest}` },
  ];
}

const filesFormat: OpenAI.ResponseFormatJSONSchema = {
  type: 'json_schema',
  json_schema: {
    name: 'files',
    strict: true,
    schema: {
      type: 'object',
      properties: {
        files: {
          type: 'array',
          items: {
            type: 'object',
            properties: { path: { type: 'string' }, text: { type: 'string' } },
            required: ['path', 'text'],
            additionalProperties: false,
          },
        },
      },
      required: ['files'],
      additionalProperties: false,
    },
  },
};

async function stream(client: OpenAI, extra: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  const events = await client.chat.completions.create({
    ...{ model: 'test-double', messages: messages(), stream: true, stream_options: { include_usage: true } },
    ...extra,
  });
  for await (const chunk of events) chunks.push(chunk);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  const finish = chunks.map((chunk) => chunk.choices[0]?.finish_reason).find(Boolean);
  return { chunks, text, finish, usage: chunks.at(-1)?.usage };
}

describe('the model server (a test double) and the real client', () => {
  it('lists its models and answers a question by contract as a fenced file', async () => {
    const { client, server } = await serve();
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['test-double']);
    const answer = await client.chat.completions.create({ model: 'test-double', messages: messages() });
    expect(answer.system_fingerprint).toBe('test-double');
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop' });
    const text = answer.choices[0]!.message.content!;
    expect(text).toMatch(/^```cpp path=norm_rms\.cpp\n\/\/ SPDX-License-Identifier: MIT\n[\s\S]*\n```$/);
    expect(text).not.toContain('// applies:');
    expect(answer.usage!.completion_tokens).toBe(Math.ceil(Buffer.byteLength(text) / 4));
    expect(server.log).toMatchObject([
      { role: 'implementer', contract: 'norm.rms', attempt: 1, isDelivered: true, sent: text },
    ]);
  });

  it('streams the same file as JSON under a schema, with its usage at the end', async () => {
    const { client, server } = await serve();
    const { text, finish, usage, chunks } = await stream(client, { response_format: filesFormat });
    expect(JSON.parse(text).files).toMatchObject([{ path: 'norm_rms.cpp' }]);
    expect([finish, chunks.length > 10, chunks.at(-1)?.choices]).toEqual(['stop', true, []]);
    const { promptTokens, completionTokens } = server.count();
    expect(usage).toMatchObject({ prompt_tokens: promptTokens, completion_tokens: completionTokens });
  });

  it('has an answer for every contract of the example, and a verdict of the reviewer', async () => {
    const { client } = await serve();
    const written = selection.contracts.filter(({ status }) => status !== 'header-only');
    for (const { contract } of written) {
      const asked = messages('implementer', contract.frontMatter.id);
      const answer = await client.chat.completions.create({ model: 'test-double', messages: asked });
      const path = contract.header.name.replace('.h', '.cpp');
      expect(answer.choices[0]!.message.content).toContain(`path=${path}`);
    }
    const asked = messages('reviewer', 'norm.rms', '\n=== Clauses to judge ===\n\n[steps:1] square');
    const answer = await client.chat.completions.create({ model: 'test-double', messages: asked });
    expect(answer.choices[0]!.message.content).toContain('"clause": "steps:1"');
  });

  it('stops at max_tokens and goes on where an answer was cut off', async () => {
    const { client, server } = await serve();
    const first = await stream(client, { max_tokens: 100 });
    expect([first.finish, first.usage?.completion_tokens]).toEqual(['length', 100]);
    const next = await stream(client, {
      messages: [
        ...messages(),
        { role: 'assistant', content: first.text },
        { role: 'user', content: 'Continue exactly where it stopped.' },
      ],
    });
    const whole = await stream(client);
    expect(first.text + next.text).toBe(whole.text);
    expect(server.log.map(({ attempt }) => attempt)).toEqual([1, 1, 2]);
  });

  it('answers a probe without markers as shortly as its schema allows', async () => {
    const { client } = await serve();
    const asked: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Say OK.' }];
    const plain = await client.chat.completions.create({ model: 'test-double', messages: asked });
    expect(plain.choices[0]!.message.content).toBe('OK');
    const json = await stream(client, { messages: asked, response_format: filesFormat });
    expect(JSON.parse(json.text)).toEqual({ files: [] });
  });

  it('is as strict as real endpoints about keys, models, parameters, schemas and the context', async () => {
    const strict = { key: 'sk-right-key', refusedParameters: ['seed'], contextTokens: 2000 };
    const { client, server } = await serve({ endpoint: strict });
    const create =
      (extra: object, by = client) =>
      () =>
        by.chat.completions.create({ model: 'test-double', messages: messages(), ...extra });
    const stranger = new OpenAI({ baseURL: server.baseUrl, apiKey: 'sk-wrong-key-1234', maxRetries: 0 });
    await expect(create({}, stranger)).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    await expect(create({ model: 'other' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    await expect(create({ seed: 1 })).rejects.toMatchObject({ status: 400, param: 'seed' });
    await expect(create({ frobnicate: 1 })).rejects.toMatchObject({ status: 400, param: 'frobnicate' });
    await expect(create({ stream_options: { include_usage: true } })).rejects.toMatchObject({
      ...{ status: 400, param: 'stream_options' },
    });
    await expect(create({ max_tokens: 2000 })).rejects.toMatchObject({ code: 'context_length_exceeded' });
    const loose = structuredClone(filesFormat);
    loose.json_schema.schema = { ...loose.json_schema.schema, required: [] };
    await expect(create({ response_format: loose })).rejects.toThrow('additionalProperties');
    expect(server.count()).toMatchObject({ tokens: 0, delivered: 0 });
  });
});
