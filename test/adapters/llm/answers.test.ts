import { describe, expect, it } from 'vitest';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../../../src/adapters/llm/open-language-model.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import {
  code,
  completionOf,
  fenced,
  freeOfLimits,
  never,
  openDouble,
  openModel,
  openOddEndpoint,
  question,
  sendEvents,
  sendJson,
  temporaryFolder,
} from './open-endpoint.ts';

const verdict = {
  kind: 'json',
  name: 'review',
  schema: {
    type: 'object',
    properties: {
      verdict: { type: 'string', enum: ['met', 'violated'] },
      line: { type: 'integer', minimum: 1 },
    },
    required: ['verdict', 'line'],
    additionalProperties: false,
  },
} as const;

describe('what a language model answers', () => {
  it('comes as files through JSON Schema where the endpoint knows it, with its usage and key', async () => {
    const { model, server, ledger } = await openDouble({});
    const answer = await model.ask(question(), never);
    expect(answer).toMatchObject({
      kind: 'files',
      files: [{ path: 'norm_rms.cpp', text: code }],
      origin: { model: 'test-double', leftOut: [], isRepeated: false },
    });
    const [call] = await ledger.list();
    expect(call).toMatchObject({
      key: answer.origin!.requestSha256,
      contract: 'norm.rms',
      phase: 'operations',
    });
    expect(call!.finished).toMatchObject({
      usage: answer.origin!.usage,
      failure: null,
      finishReason: 'stop',
    });
    expect(server.log[0]!.parameters).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(server.log[0]!.parameters.response_format).toMatchObject({ type: 'json_schema' });
  });

  it('comes as fenced files where the endpoint refuses JSON Schema, and it is asked for that once', async () => {
    const { model, server, notes } = await openDouble({ endpoint: { structuredOutput: false } });
    expect(await model.ask(question(), never)).toMatchObject({ files: [{ text: code }] });
    expect(await model.ask(question({ attempt: 2 }), never)).toMatchObject({ files: [{ text: code }] });
    expect(server.log.map(({ parameters }) => parameters.response_format?.type)).toEqual([
      'json_schema',
      undefined,
      undefined,
    ]);
    expect(notes.join()).toContain('fences');
  });

  it('is asked for as the endpoint wants it by every run with the same settings', async () => {
    const { settings, server } = await openDouble({
      endpoint: { structuredOutput: false, streaming: false },
    });
    const parsed = LlmSettings.parse(settings);
    for (const attempt of [1, 2]) {
      const ledger = createFileLedger(temporaryFolder());
      const model = openLanguageModel(parsed, { apiKey: undefined, ledger, limits: freeOfLimits });
      expect(await model.ask(question({ attempt }), never)).toMatchObject({ kind: 'files' });
      expect(model.isReal()).toBe(false);
    }
    expect(server.log).toHaveLength(4);
  });

  it('is asked for in fences only where the settings say so', async () => {
    const { model, server } = await openDouble({}, { structured_output: 'fenced' });
    expect(await model.ask(question(), never)).toMatchObject({ kind: 'files' });
    expect(server.log[0]!.parameters).not.toHaveProperty('response_format');
    expect(server.log[0]!.prompt).toContain('```cpp path=norm_rms.cpp');
  });

  it('fits the schema, or is refused with the place of the fault', async () => {
    const values = [
      { verdict: 'met', line: 3 },
      { verdict: 'perhaps', line: 0 },
    ];
    const { model } = await openDouble({
      replies: ({ attempt }) => ({ kind: 'json', value: values[attempt - 1] }),
    });
    const good = await model.ask(question({ expects: verdict }), never);
    expect(good).toMatchObject({ kind: 'json', value: { verdict: 'met', line: 3 } });
    const bad = await model.ask(question({ expects: verdict, attempt: 2 }), never);
    expect(bad).toMatchObject({ kind: 'refusal', reason: 'unreadable' });
    expect(bad.kind === 'refusal' && bad.message).toMatch(/verdict: .*line: /);
  });

  it('is read from one piece where the endpoint does not stream, refused or ignored', async () => {
    const refusing = await openDouble({ endpoint: { streaming: false } });
    expect(await refusing.model.ask(question(), never)).toMatchObject({ kind: 'files' });
    expect(refusing.server.log.map(({ parameters }) => parameters.stream)).toEqual([true, undefined]);
    const { baseUrl } = await openOddEndpoint((_, response) => sendJson(response, 200, completionOf(fenced)));
    const ignoring = openModel({ base_url: baseUrl, model: 'm' });
    expect(await ignoring.model.ask(question(), never)).toMatchObject({ kind: 'files' });
  });

  it('is what follows the thoughts, in a field of their own or in tags', async () => {
    const thoughts = [
      { reasoning_content: 'let me see' },
      { reasoning: 'hm' },
      { content: '<think>```cpp\nint no;\n```\n' },
    ];
    const { baseUrl } = await openOddEndpoint((_, response) => {
      const deltas = [...thoughts, { content: `</think>\n${fenced}` }].map((delta) => ({
        choices: [{ delta }],
      }));
      sendEvents(response, [...deltas, { choices: [{ delta: {}, finish_reason: 'stop' }] }]);
    });
    const { model, ledger } = openModel({ base_url: baseUrl, model: 'm' });
    expect(await model.ask(question(), never)).toMatchObject({ files: [{ text: code }] });
    const spent = await ledger.spent();
    expect([spent.promptTokens, spent.unreportedTokens > 16_384]).toEqual([0, true]);
  });

  it('tells how far it has come, of which contract', async () => {
    const seen: unknown[] = [];
    const script = [{ name: 'slow', pauseMs: 60 } as const];
    const { model } = await openDouble({ script }, {}, { onProgress: (progress) => seen.push(progress) });
    await model.ask(question(), never);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toMatchObject({ role: 'implementer', contract: 'norm.rms' });
  });

  it('of a test double says so, and of a stand-in that the settings name', async () => {
    const { model } = await openDouble({});
    expect(model.isReal()).toBe(true);
    await model.ask(question(), never);
    expect(model.isReal()).toBe(false);
    const other = await openDouble({ endpoint: { fingerprint: 'fp_1' } }, { real_model: false });
    expect(other.model.isReal()).toBe(false);
  });

  it('is asked of the model of the role, with the settings of the role', async () => {
    const { model, server } = await openDouble(
      { endpoint: { models: ['big', 'small'] } },
      {
        temperature: 0.2,
        seed: 7,
        roles: { reviewer: { model: 'small', temperature: 0, reasoning_effort: 'low' } },
      },
    );
    await model.ask(question(), never);
    await model.ask(question({ role: 'reviewer', system: 'role: reviewer\n' }), never);
    expect([model.modelOf('implementer'), model.modelOf('reviewer')]).toEqual(['big', 'small']);
    const asked = server.log.map(({ parameters: { model, temperature, seed, reasoning_effort } }) => [
      model,
      temperature,
      seed,
      reasoning_effort,
    ]);
    expect(asked).toEqual([
      ['big', 0.2, 7, undefined],
      ['small', 0, 7, 'low'],
    ]);
  });

  it('goes without parameters that the endpoint refuses, and says so', async () => {
    const refused = {
      wantsCompletionTokens: true,
      refusedParameters: ['seed', 'temperature', 'stream_options'],
    };
    const { model, server, notes } = await openDouble({ endpoint: refused }, { temperature: 0.5, seed: 1 });
    expect(await model.ask(question(), never)).toMatchObject({ kind: 'files' });
    expect(server.log.at(-1)!.parameters).toMatchObject({ max_completion_tokens: 16_384 });
    expect(Object.keys(server.log.at(-1)!.parameters).sort()).toEqual([
      'max_completion_tokens',
      'model',
      'response_format',
      'stream',
    ]);
    expect(notes).toHaveLength(4);
  });

  it('is as long as the endpoint allows', async () => {
    const { model, server } = await openDouble({ endpoint: { longestAnswer: 4096 } });
    expect(await model.ask(question(), never)).toMatchObject({ kind: 'files' });
    expect(server.log.map(({ parameters }) => parameters.max_tokens)).toEqual([16_384, 4096]);
  });
});
