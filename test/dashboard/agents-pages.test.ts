import { afterEach, describe, expect, it } from 'vitest';
import type { AgentWork } from '../../src/model/agent-work.ts';
import type { RecordedCall } from '../../src/model/completion-ledger.ts';
import { serveDashboard } from './dashboard-server.ts';
import { type SampleRun, sampleRun } from './sample-runs.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const attack = '</pre><script>alert(1)</script>';
const call = (changes: Partial<RecordedCall>): RecordedCall => ({
  ...{ key: 'k', role: 'implementer', contract: 'norm.rms', phase: 'operations', model: 'a-model' },
  messages: [{ role: 'system', content: `role: implementer ${attack}` }],
  ...{ reservedTokens: 5000, reservedUsd: 0.4, startedAt: '2026-11-30T07:43:00Z', finished: null },
  ...changes,
});
const finished = {
  ...{ text: `int x; ${attack}`, finishReason: 'stop', usd: 0.25, seconds: 2, failure: null },
  usage: { promptTokens: 1200, cachedTokens: 400, completionTokens: 300 },
};
const calls = [call({ finished }), call({ role: 'reviewer', finished }), call({})];
const objection = {
  ...{ contract: 'norm.rms', source: 'review', file: 'norm_rms.cpp', line: 9, message: `eps ${attack}` },
  ...{ expected: null, got: null, clause: null },
};
const agents: AgentWork = {
  contracts: [
    {
      ...{ contract: 'norm.rms', phase: 'operations', status: 'accepted', attempts: 2, totalAttempts: 2 },
      ...{ findings: [], objections: [objection], fileSha256: 'a' },
    },
    {
      ...{ contract: 'text.stop', phase: 'text', status: 'failed', attempts: 3, totalAttempts: 3 },
      ...{ findings: [{ ...objection, message: 'no usable answer' }], objections: [], fileSha256: null },
    },
  ],
  ...{ publishedPhases: [], round: 1, optimizations: 0, stop: null },
  limits: {
    ...{ attemptsPerContract: 3, rounds: 2, optimizations: 0 },
    spending: { softTokens: 80_000, hardTokens: 100_000, softUsd: null, hardUsd: null },
  },
  spent: {
    ...{ calls: 3, promptTokens: 2400, cachedTokens: 800, completionTokens: 600 },
    ...{ unreportedTokens: 5000, usd: 0.9 },
  },
};
const sample: SampleRun = { run: sampleRun(3, {}, { agents }), calls };

async function serve(samples: readonly SampleRun[]) {
  const server = await serveDashboard(samples, { operatorToken: 'a-token-that-is-long' });
  open.push(server);
  return server;
}

describe('the page of a run in which a model writes', () => {
  it('shows tokens and cost by contract, role and phase, attempts, findings and objections', async () => {
    const page = await (await serve([sample])).text('/runs/3');
    expect(page).toContain('8,000 of 100,000 tokens in 3 calls, $0.90');
    expect(page).toMatch(/norm\.rms[\s\S]*✓ accepted/);
    expect(page).toMatch(/text\.stop[\s\S]*✗ not right[\s\S]*no usable answer/);
    expect(page).toMatch(/role <strong>reviewer<\/strong>[\s\S]*1,200/);
    expect(page).toContain('phase <strong>operations</strong>');
    expect(page).toContain('Objections of the reviewing model');
    expect(page).toContain('href="/runs/3/transcript"');
    expect(page).not.toContain('<script>');
  });

  it('says nothing of models where none had a part', async () => {
    const page = await (await serve([{ run: sampleRun(1) }])).text('/runs/1');
    expect(page).not.toContain('What a model writes');
    expect(page).not.toContain('diagnose');
  });
});

describe('the transcript', () => {
  it('shows every prompt and answer as text, and is there as a file', async () => {
    const { get, text } = await serve([sample]);
    const page = await text('/runs/3/transcript');
    expect(page).toContain('1,200 tokens in, 300 out, 2.0 s');
    expect(page).toContain('no answer, 5,000 tokens reserved');
    expect(page).toContain('int x; &lt;/pre&gt;');
    expect(page).not.toContain('<script>');
    const file = await get('/runs/3/transcript.json');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="run-3-transcript.json"');
    expect(await file.json()).toEqual({ schema: 'metainfer/transcript/v1', run: '01jd3', calls });
  });

  it('of a private repository is for whoever has the operator’s token', async () => {
    const { run } = sample;
    const hidden = { ...sample, run: { ...run, repository: { ...run.repository, isPrivate: true } } };
    const { get } = await serve([hidden]);
    for (const path of ['/runs/3/transcript', '/runs/3/transcript.json', '/runs/4/transcript'])
      expect((await get(path)).status).toBe(404);
    const headers = { authorization: 'Bearer a-token-that-is-long' };
    expect((await get('/runs/3/transcript.json', { headers })).status).toBe(200);
  });
});
