import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureEngine, verifyFolder } from '../../../src/local/judge-engine.ts';
import type { AgentFile } from '../../../src/model/agent-work.ts';
import type { Report } from '../../../src/model/report.ts';
import { type AgentSubject, buildSubject, openSubject, sharedCache } from './agent-subject.ts';
import { fileReply, propose, slowFiles } from './optimize-world.ts';

const root = mkdtempSync(join(tmpdir(), 'metainfer-optimizer-'));
let subject: AgentSubject;
let agentFiles: ReadonlyMap<string, AgentFile>;
let folder = '';
let report: Report;
beforeAll(async () => {
  subject = await openSubject(root);
  agentFiles = slowFiles(subject);
  ({ folder } = await buildSubject(subject, agentFiles, join(root, 'subject')));
  const options = {
    ...{ cacheFolder: sharedCache, sandbox: 'auto' as const, signal: new AbortController().signal },
    ...{ onDetail: () => {}, onNote: () => {}, runSeed: 4, baseline: false },
  };
  const verified = await verifyFolder(subject.prepared, folder, options);
  expect(verified.gates.filter(({ status }) => status === 'failed')).toEqual([]);
  report = await measureEngine(subject.prepared, folder, verified, options);
}, 1_200_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('a proposal of the optimizer whose gates are green', () => {
  it('is kept where it is faster beyond the spread, with a verdict and figures of its own', async () => {
    const { text } = subject.files.get('norm.rms')!;
    const { attempt, kept } = await propose(subject, fileReply(text), { folder, agentFiles, report });
    expect(attempt).toMatchObject({ contract: 'norm.rms', outcome: 'kept', reason: null });
    expect(attempt!.ratio! - attempt!.spread!).toBeGreaterThan(1);
    expect(kept!.file).toMatchObject({ contract: 'norm.rms', text });
    expect(kept!.report.verdict).toBe('passed');
    expect(kept!.report.benchmark).not.toBeNull();
    expect(kept!.report.engine.treeSha256).not.toBe(report.engine.treeSha256);
    expect(kept!.report.repeat).not.toContain('optimize-');
    expect(kept!.sources.files.find(({ path }) => path === 'norm_rms.cpp')?.text).toBe(text);
  }, 1_200_000);

  it('is dropped where nothing is gained', async () => {
    const text = `${agentFiles.get('norm.rms')!.text}// Nothing else has changed.\n`;
    const { attempt, kept } = await propose(subject, fileReply(text), { folder, agentFiles, report });
    expect(kept).toBeNull();
    expect(attempt).toMatchObject({ outcome: 'dropped', reason: 'no improvement beyond the spread' });
    expect(attempt!.ratio).toBeGreaterThan(0.5);
  }, 1_200_000);
});
