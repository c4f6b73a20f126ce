import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckAnnotation, CheckDraft } from '../../../src/model/delivery.ts';
import { type AppUnderTest, openApp, repositoryRef } from './app-under-test.ts';
import { type ScriptedGitHub, startScriptedGitHub } from './scripted-github.ts';

const once = { scope: 'run-1', key: 'check' };
const head = 'a'.repeat(40);
const checksPath = /^\/repos\/octo\/engines\/check-runs$/;
const checkPath = /^\/repos\/octo\/engines\/check-runs\/900$/;
const badGateway = { status: 502, body: { message: 'Server Error' } };

const annotation = (line: number): CheckAnnotation => ({
  path: 'engines/tiny/a.cpp',
  startLine: line,
  endLine: line,
  level: 'failure',
  message: `finding ${line}`,
});
const draftWith = (annotations: number): CheckDraft => ({
  status: 'completed',
  conclusion: 'failure',
  title: 'Failed: unit',
  summary: 'One gate failed.',
  annotations: Array.from({ length: annotations }, (_, index) => annotation(index + 1)),
  actions: [{ label: 'Retry', description: 'Judge again', identifier: 'retry' }],
});

interface Output {
  readonly title: string;
  readonly summary: string;
  readonly annotations: readonly { readonly start_line: number; readonly message: string }[];
}

let github: ScriptedGitHub;
let app: AppUnderTest;
let checks: Record<string, unknown>[];
let lines: number[];

beforeEach(async () => {
  github = await startScriptedGitHub();
  [checks, lines] = [[], []];
  const take = (output: Output) => lines.push(...output.annotations.map((it) => it.start_line));
  github.on('POST', checksPath, ({ body }) => {
    const check = { ...body, id: 900, html_url: 'https://x/check/900', app: { slug: 'metainfer' } };
    checks.push(check);
    take(body.output as unknown as Output);
    return { status: 201, body: check };
  });
  github.on('PATCH', checkPath, ({ body }) => {
    take(body.output as unknown as Output);
    return { status: 200, body: { id: 900, html_url: 'https://x/check/900' } };
  });
  github.on('GET', checkPath, () => ({
    status: 200,
    body: { id: 900, output: { annotations_count: lines.length } },
  }));
  github.on('GET', /\/commits\/a{40}\/check-runs$/, () => ({ status: 200, body: { check_runs: checks } }));
  app = openApp(`${github.url}/api/v3`);
});
afterEach(() => github.stop());

const repository = () => app.client.repository(repositoryRef);
const create = (draft: CheckDraft) =>
  repository().createCheck(once, head, 'run-1-1', draft, 'https://x/runs/1');
const allLines = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('a check run', () => {
  it('is made once on the head, with its external id and buttons', async () => {
    const first = await create(draftWith(1));
    expect(await create(draftWith(1))).toEqual(first);
    expect(first).toEqual({ id: 900, url: 'https://x/check/900' });
    expect(checks).toMatchObject([
      {
        name: 'metainfer',
        head_sha: head,
        external_id: 'run-1-1',
        details_url: 'https://x/runs/1',
        status: 'completed',
        conclusion: 'failure',
        actions: [{ label: 'Retry', description: 'Judge again', identifier: 'retry' }],
      },
    ]);
  });

  it('sends annotations fifty a request, each once', async () => {
    await create(draftWith(120));
    expect(lines).toEqual(allLines(120));
    expect(github.count('POST', checksPath)).toBe(1);
    expect(github.count('PATCH', checkPath)).toBe(2);
  });

  it('with exactly fifty annotations needs no second request', async () => {
    await create(draftWith(50));
    expect(github.count('PATCH', checkPath)).toBe(0);
  });

  it('is found by its external id after a lost answer', async () => {
    github.faults.push({ method: 'POST', path: checksPath, reply: badGateway, lands: true });
    await create(draftWith(60));
    expect(checks).toHaveLength(1);
    expect(lines).toEqual(allLines(60));
  });

  it('of another app with the same name and id is not taken for ours', async () => {
    checks.push({ id: 1, external_id: 'run-1-1', app: { slug: 'imitation' } });
    await app.effects.begin(once.scope, once.key);
    expect((await create(draftWith(0))).id).toBe(900);
  });

  it('gets the rest of its annotations after a crash between two requests', async () => {
    await create(draftWith(0));
    await app.effects.begin('run-1', 'check:annotations');
    lines = allLines(70);
    await create(draftWith(120));
    expect(lines).toEqual(allLines(120));
  });

  it('is updated once for the same content', async () => {
    const key = { scope: 'run-1', key: 'check-done' };
    await repository().updateCheck(key, 900, draftWith(2));
    await repository().updateCheck(key, 900, draftWith(2));
    expect(lines).toEqual([1, 2]);
    await repository().updateCheck(key, 900, { ...draftWith(0), title: 'Passed' });
    expect(github.count('PATCH', checkPath)).toBe(2);
  });

  it('does not get an annotation twice where the answer to an update was lost', async () => {
    github.faults.push({ method: 'PATCH', path: checkPath, reply: badGateway, lands: true });
    await repository().updateCheck({ scope: 'run-1', key: 'check-done' }, 900, draftWith(80));
    expect(lines).toEqual(allLines(80));
  });

  it('does not get an annotation twice after a crash in an update', async () => {
    const key = { scope: 'run-1', key: 'check-done' };
    await app.effects.begin(key.scope, key.key);
    lines = allLines(50);
    await repository().updateCheck(key, 900, draftWith(80));
    expect(lines).toEqual(allLines(80));
  });

  it('keeps to the lengths that GitHub takes', async () => {
    await create({
      ...draftWith(0),
      title: 't'.repeat(300),
      summary: 's'.repeat(70_000),
      text: 'x'.repeat(70_000),
      annotations: [{ ...annotation(1), message: 'ü'.repeat(60_000), title: 'y'.repeat(300) }],
      actions: [{ label: 'l'.repeat(30), description: 'd'.repeat(50), identifier: 'retry' }],
    });
    const output = checks[0]?.output as unknown as Output & { text: string };
    expect([output.title.length, output.summary.length, output.text.length]).toEqual([255, 65_535, 65_535]);
    expect(Buffer.byteLength(output.annotations[0]?.message ?? '')).toBeLessThanOrEqual(65_536);
    const [button] = (checks[0]?.actions ?? []) as CheckDraft['actions'];
    expect([button?.label.length, button?.description.length]).toEqual([20, 40]);
  });
});
