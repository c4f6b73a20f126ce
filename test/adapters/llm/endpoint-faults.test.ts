import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createFileLedger } from '../../../src/adapters/llm/file-ledger.ts';
import { openLanguageModel } from '../../../src/adapters/llm/open-language-model.ts';
import type { ModelAnswer, ModelRequest, RefusalReason } from '../../../src/model/language-model.ts';
import { LlmSettings } from '../../../src/model/llm-settings.ts';
import { tokensOf } from '../../../src/model/spending.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/model-server.ts';
import type { EndpointTraits, Script } from '../../support/model-server/server-options.ts';

const key = 'sk-a-key-that-nobody-may-see';
const code = `// SPDX-License-Identifier: MIT\n// Sums over é: ${'x'.repeat(40)}\n${Array.from(
  { length: 60 },
  (_, line) => `int value_${line} = ${line * 7919};`,
).join('\n')}\n`;

const request: ModelRequest = {
  ...{ role: 'implementer', contract: 'norm.rms', phase: 'operations', attempt: 1 },
  system: 'role: implementer\nWrite one file.',
  sections: [
    { title: 'The contract', text: `contract: norm.rms\n${'It sums squares.\n'.repeat(40)}`, priority: 0 },
    { title: 'Platform', text: 'Sixteen lanes.\n'.repeat(40), priority: 3 },
    { title: 'Failure modes', text: 'One chain loses digits.\n'.repeat(400), priority: 4 },
  ],
  expects: { kind: 'files', paths: ['norm_rms.cpp'], maxBytes: 65_536 },
};

interface Row {
  readonly title: string;
  readonly script?: Script;
  readonly endpoint?: EndpointTraits;
  readonly settings?: Partial<Omit<LlmSettings, 'base_url' | 'model'>>;
  /** `files`, a refusal, or what the error says. */
  readonly ends: 'files' | RefusalReason | RegExp;
  /** That reach the server. */
  readonly requests: number;
  /** Sections that are left out. */
  readonly leftOut?: readonly string[];
}

const impatient = { timeout_seconds: 1, stall_seconds: 1 };

const passing: readonly Row[] = [
  { title: 'a rate limit, twice', script: ['rate-limited', 'rate-limited'], ends: 'files', requests: 3 },
  { title: 'an overloaded server', script: ['server-error', 'server-error'], ends: 'files', requests: 3 },
  { title: 'an internal error', script: [{ name: 'server-error', status: 500 }], ends: 'files', requests: 2 },
  { title: "a gateway's error page", script: ['html-error-page'], ends: 'files', requests: 2 },
  { title: 'no answer in time', script: ['time-out'], settings: impatient, ends: 'files', requests: 2 },
  { title: 'a stall mid-stream', script: ['stall'], settings: impatient, ends: 'files', requests: 2 },
  { title: 'a disconnect mid-stream', script: ['disconnect'], ends: 'files', requests: 2 },
  { title: 'a disconnect before', script: ['disconnect-before-answer'], ends: 'files', requests: 2 },
  { title: 'an error in the stream', script: ['error-in-stream'], ends: 'files', requests: 2 },
  { title: 'a garbled stream', script: ['garbled-stream'], ends: 'files', requests: 2 },
  { title: 'a stream without end mark', script: ['no-end-mark'], ends: 'files', requests: 1 },
  { title: 'slow tokens', script: [{ name: 'slow', pauseMs: 5 }], ends: 'files', requests: 1 },
];

const lasting: readonly Row[] = [
  { title: 'an endless rate limit', script: () => 'rate-limited', ends: /rate.?limit/i, requests: 6 },
  { title: 'a server that is down', script: () => 'server-error', ends: /503/, requests: 6 },
  { title: 'streams that always break', script: () => 'disconnect', ends: /broke off|ended/, requests: 6 },
  {
    title: 'a wait of hours',
    script: [{ name: 'rate-limited', retryAfter: 7200 }],
    ends: /120 min/,
    requests: 1,
  },
  { title: 'an empty account', script: ['quota-exhausted'], ends: /quota/, requests: 1 },
  { title: 'a refused key', script: ['key-refused'], ends: /METAINFER_LLM_API_KEY/, requests: 1 },
  {
    title: 'a key that is another',
    endpoint: { key: 'sk-other' },
    ends: /METAINFER_LLM_API_KEY/,
    requests: 0,
  },
  { title: 'a model that is not there', endpoint: { models: ['other'] }, ends: /--model/, requests: 1 },
  {
    title: 'a web page as answer',
    script: [{ name: 'html-error-page', status: 200 }],
    ...{ ends: /base_url/, requests: 1 },
  },
  {
    title: 'a parameter that cannot be left out',
    endpoint: { refusedParameters: ['messages'] },
    ...{ ends: /doctor/, requests: 1 },
  },
];

const limited: readonly Row[] = [
  { title: 'no usage', endpoint: { usage: false }, ends: 'files', requests: 1 },
  { title: 'no streaming', endpoint: { streaming: false }, ends: 'files', requests: 2 },
  { title: 'no schemas', endpoint: { structuredOutput: false }, ends: 'files', requests: 2 },
  {
    title: 'neither seed, temperature, effort nor stream_options',
    endpoint: { refusedParameters: ['seed', 'temperature', 'reasoning_effort', 'stream_options'] },
    settings: { seed: 1, temperature: 0, reasoning_effort: 'low' },
    ...{ ends: 'files', requests: 5 },
  },
  { title: 'max_completion_tokens', endpoint: { wantsCompletionTokens: true }, ends: 'files', requests: 2 },
  { title: 'shorter answers', endpoint: { longestAnswer: 2000 }, ends: 'files', requests: 2 },
  {
    title: 'a short context',
    endpoint: { contextTokens: 2500 },
    settings: { max_output_tokens: 1024 },
    ...{ ends: 'files', requests: 2, leftOut: ['Failure modes'] },
  },
  {
    title: 'a context too short for the contract',
    endpoint: { contextTokens: 300 },
    ...{ ends: 'context-overflow', requests: 1 },
  },
  {
    title: 'a context that is cut silently',
    endpoint: { cutsPromptsAt: 200 },
    ...{ ends: 'context-overflow', requests: 1 },
  },
];

const answers: readonly Row[] = [
  { title: 'prose around the file', script: ['prose-around'], ends: 'files', requests: 1 },
  { title: 'a cut, once', script: ['truncated'], ends: 'files', requests: 2 },
  { title: 'a cut, twice', script: ['truncated', 'truncated'], ends: 'files', requests: 3 },
  { title: 'a cut, always', script: () => 'truncated', ends: 'truncated', requests: 3 },
  { title: 'a token limit', settings: { max_output_tokens: 300 }, ends: 'files', requests: 2 },
  { title: 'a refusal', script: ['refusal'], ends: 'declined', requests: 1 },
  { title: 'a content filter', script: ['content-filter'], ends: 'declined', requests: 1 },
  { title: 'nothing', script: ['empty'], ends: 'empty', requests: 1 },
  { title: 'prose alone', script: ['prose-only'], ends: 'unreadable', requests: 1 },
  { title: 'another path', script: ['wrong-path'], ends: 'wrong-path', requests: 1 },
  { title: 'several versions', script: ['several-versions'], ends: 'contradictory', requests: 1 },
  { title: 'absurd length', script: ['absurd-length'], ends: 'too-long', requests: 1 },
  { title: 'bytes that are no UTF-8', script: ['invalid-utf8'], ends: 'invalid-text', requests: 1 },
];

const open: ModelServer[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function meet(row: Row, settings: Row['settings'] = {}) {
  const server = await startModelServer({
    replies: () => ({ kind: 'files', files: [{ path: 'norm_rms.cpp', text: code }] }),
    endpoint: { key, ...row.endpoint },
    ...(row.script === undefined ? {} : { script: row.script }),
  });
  open.push(server);
  const folder = mkdtempSync(join(tmpdir(), 'endpoint-faults-'));
  folders.push(folder);
  const given = { base_url: server.baseUrl, model: 'test-double', ...settings, ...row.settings };
  const limits = { softTokens: 9e6, hardTokens: 9e6, softUsd: null, hardUsd: null };
  const waits: number[] = [];
  const notes: string[] = [];
  const start = () =>
    openLanguageModel(LlmSettings.parse(given), {
      ...{ apiKey: key, limits, ledger: createFileLedger(folder) },
      onNote: (note) => notes.push(note),
      // The waits themselves are not waited for.
      wait: async (milliseconds) => void waits.push(milliseconds),
    });
  const ask = () => start().ask(request, new AbortController().signal);
  return { server, folder, waits, notes, ask };
}

function check(row: Row, answer: ModelAnswer | Error): void {
  if (row.ends instanceof RegExp) {
    expect(answer).toMatchObject({ code: 'MODEL_UNAVAILABLE', message: expect.stringMatching(row.ends) });
  } else if (row.ends === 'files') {
    expect(answer).toMatchObject({ kind: 'files', files: [{ path: 'norm_rms.cpp', text: code }] });
    expect(answer).toMatchObject({ origin: { leftOut: row.leftOut ?? [] } });
  } else {
    expect(answer).toMatchObject({
      kind: 'refusal',
      reason: row.ends,
      message: expect.stringMatching(/\w[.?!"]+$/),
    });
  }
}

async function run(row: Row, settings: Row['settings'] = {}) {
  const met = await meet(row, settings);
  const answer = await met.ask().catch((error: Error) => error);
  check(row, answer);
  expect(met.server.log.length).toBe(row.requests);
  // Nothing that the server worked for is missing in the accounts, so limits hold.
  const ledger = createFileLedger(met.folder);
  expect(tokensOf(await ledger.spent())).toBeGreaterThanOrEqual(met.server.count().tokens);
  expect((await ledger.list()).every(({ finished }) => finished !== null)).toBe(true);
  const recorded = readdirSync(met.folder).map((name) => readFileSync(join(met.folder, name), 'utf8'));
  const visible = [...recorded, ...met.notes, answer instanceof Error ? answer.message : ''];
  expect(visible.filter((text) => text.includes(key) || text.includes(key.slice(0, 11)))).toEqual([]);
  return { ...met, answer };
}

describe('faults of an endpoint, over HTTP', () => {
  it.each(passing)('$title passes', async (row) => {
    const { server, ask } = await run(row);
    await ask();
    expect(server.log.length, 'asked again by a new process: answered from the record').toBe(row.requests);
  });

  it.each(lasting)('$title ends in MODEL_UNAVAILABLE and says what to do', async (row) => {
    await run(row);
  });

  it.each(limited)('an endpoint with $title is adapted to, and said so', async (row) => {
    const { server, ask, notes } = await run(row);
    if (row.requests > 1) expect(notes.length).toBeGreaterThan(0);
    await ask();
    const isRecorded = row.ends === 'files' || row.endpoint?.cutsPromptsAt !== undefined;
    if (isRecorded) expect(server.log.length).toBe(row.requests);
  });

  describe.each(['auto', 'fenced'] as const)('an answer (structured_output: %s)', (structured_output) => {
    it.each(answers)('with $title ends as $ends', async (row) => {
      const { server, ask, answer } = await run(row, { structured_output });
      const again = await ask();
      expect({ ...again, origin: null }).toEqual({ ...(answer as ModelAnswer), origin: null });
      expect(again.origin?.isRepeated).toBe(true);
      expect(server.log.length).toBe(row.requests);
    });
  });

  it('waits as long as the endpoint asks, else ever longer', async () => {
    const asked = await run({
      title: '',
      script: [
        { name: 'rate-limited', retryAfter: 7 },
        { name: 'rate-limited', retryAfter: 0.25 },
      ],
      ...{ ends: 'files', requests: 3 },
    });
    expect(asked.waits).toEqual([7000, 250]);
    const silent = { name: 'server-error', retryAfter: null } as const;
    const own = await run({
      title: '',
      script: [silent, silent, silent, silent],
      ends: 'files',
      requests: 5,
    });
    const [first, second, third, fourth] = own.waits;
    expect(first).toBeGreaterThan(500);
    expect(third! / first!).toBeGreaterThan(2);
    expect(fourth! / second!).toBeGreaterThan(2);
  });
});
