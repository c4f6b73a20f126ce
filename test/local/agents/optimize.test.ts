import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentFile } from '../../../src/model/agent-work.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, buildSubject, openSubject } from './agent-subject.ts';
import { fileReply, measuredReport, propose, slowFiles } from './optimize-world.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-optimize-'));
let subject: AgentSubject;
let agentFiles: ReadonlyMap<string, AgentFile>;
let folder = '';
beforeAll(async () => {
  if (isLacking('bubblewrap')) return;
  subject = await openSubject(root);
  agentFiles = slowFiles(subject);
  ({ folder } = await buildSubject(subject, agentFiles, join(root, 'subject')));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(isLacking('bubblewrap'))('a proposal of the optimizer', () => {
  it('for the contract that takes most of the time is dropped where its own gates turn red', async () => {
    const text = subject.files.get('norm.rms')!.text.replace(' + config::rms_norm_eps', '');
    const outcome = await propose(subject, fileReply(text), { folder, agentFiles, report: measuredReport() });
    expect(outcome).toMatchObject({ kept: null, isLast: false });
    expect(outcome.attempt).toMatchObject({
      ...{ contract: 'norm.rms', number: 1, outcome: 'dropped', reason: 'gate unit' },
      ...{ ratio: null, spread: null },
    });
  });

  it('that is no code is dropped and counted', async () => {
    const reply = { kind: 'text' as const, text: 'It is fast enough.' };
    const outcome = await propose(subject, reply, { folder, agentFiles, report: measuredReport() });
    expect(outcome.attempt).toMatchObject({ outcome: 'dropped', contract: 'norm.rms' });
    expect(outcome.attempt?.reason).toMatch(/^no usable answer/);
    expect(outcome.kept).toBeNull();
  });

  it('is not asked for where the engine was not measured', async () => {
    const report = { ...measuredReport(), benchmark: null };
    await expect(propose(subject, fileReply(''), { folder, agentFiles, report })).rejects.toMatchObject({
      code: 'ENGINE_INVALID',
    });
  });
});
