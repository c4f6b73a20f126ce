import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkContract } from '../../../src/local/agents/check-contract.ts';
import type { AgentFile } from '../../../src/model/agent-work.ts';
import { isLacking } from '../../fixtures/needed-tool.ts';
import { type AgentSubject, openSubject, replacing, withText } from './agent-subject.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-contract-'));
let subject: AgentSubject;
beforeAll(async () => {
  subject = await openSubject(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function check(contract: string, agentFiles: ReadonlyMap<string, AgentFile>, toolchain = subject.toolchain) {
  const { prepared, cacheFolder } = subject;
  const signal = new AbortController().signal;
  return checkContract({ prepared, agentFiles, contract, toolchain, cacheFolder, signal, runSeed: 5 });
}

/** The files of these contracts alone: what there is early in a run. */
function only(files: ReadonlyMap<string, AgentFile>, ...contracts: string[]) {
  return new Map([...files].filter(([id]) => contracts.includes(id)));
}

const append = (code: string) => (text: string) => `${text}${code}\n`;

describe.skipIf(isLacking('bubblewrap'))('a contract that an agent wrote', () => {
  it.each(['norm.rms', 'text.utf8', 'decoder.model'])('%s is green where it is right', async (contract) => {
    expect(await check(contract, subject.files)).toEqual([]);
  });

  it('is compiled alone while what it needs is not there yet', async () => {
    expect(await check('norm.rms', only(subject.files, 'norm.rms'))).toEqual([]);
    const files = withText(only(subject.files, 'norm.rms'), 'norm.rms', append('int x = undeclared;'));
    const [finding] = await check('norm.rms', files);
    expect(finding).toMatchObject({ gate: 'build', contract: 'norm.rms', file: 'norm_rms.cpp' });
    expect(finding?.line).toBe(files.get('norm.rms')!.text.split('\n').length - 1);
    expect(finding?.message).toContain('undeclared');
    // What an agent is told says nothing of this machine.
    expect(JSON.stringify(finding)).not.toMatch(/metainfer-contract|contracts\/engine|\/tmp\//);
  });

  it('that computes something else is told the case, what was expected and what came', async () => {
    const files = withText(subject.files, 'norm.rms', replacing(' + config::rms_norm_eps', ''));
    const findings = await check('norm.rms', files);
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) {
      expect(finding).toMatchObject({ gate: 'unit', contract: 'norm.rms', file: 'norm_rms.cpp' });
      expect(finding.evidence).toMatchObject({ case: expect.any(String), model: expect.any(String) });
      expect(finding.evidence.inputs).toMatch(/^\w+: /);
      expect(finding.evidence.wanted).toBeDefined();
      expect(finding.evidence.got).not.toBe(finding.evidence.wanted);
    }
  });

  it('that lacks a symbol of its header is told which', async () => {
    const files = withText(subject.files, 'text.utf8', (text) =>
      text.replace(/\btake_valid_utf8\b/g, 'other_name'),
    );
    const findings = await check('text.utf8', files);
    expect(findings[0]).toMatchObject({ contract: 'text.utf8', file: 'text_utf8.cpp' });
  });

  it('is not blamed for a file that it needs', async () => {
    const files = withText(subject.files, 'runtime.threading', append('int x = undeclared;'));
    expect(await check('norm.rms', files)).toEqual([]);
  });

  it('is neither compiled nor run without a sandbox', async () => {
    const toolchain = { ...subject.toolchain, sandbox: { kind: 'none' as const, reason: 'for the test' } };
    await expect(check('norm.rms', subject.files, toolchain)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      exitCode: 3,
      message: expect.stringContaining('apt install bubblewrap'),
    });
  });

  it('leaves nothing of its scratch folders', () => {
    expect(readdirSync(join(subject.cacheFolder, 'contracts'))).toEqual([]);
  });
});
