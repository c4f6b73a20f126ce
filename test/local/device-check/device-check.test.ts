import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDeviceReport, whyNoEvidence } from '../../../src/local/device-check/check-report.ts';
import { deviceCheckEngines, packBundle } from '../../../src/local/device-check/pack-bundle.ts';
import { type CheckRun, runDeviceCheck } from '../../../src/local/device-check/run-check.ts';
import type { DeviceReport } from '../../../src/model/device-report.ts';
import { openKnowledge } from '../../../src/preparation/knowledge-base.ts';
import { sharedCache } from '../../fixtures/test-cache.ts';
import { refusalOf } from '../../support/refusal-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'device-check-test-'));
const bundle = join(folder, 'bundle');
const objects = join(sharedCache, 'objects/device-check');

beforeAll(async () => {
  mkdirSync(objects, { recursive: true });
  const { checked, shapes } = deviceCheckEngines();
  await packBundle(bundle, {
    catalog: await openKnowledge(sharedCache),
    engines: { checked, shapes: shapes.slice(0, 1) },
    ...{ seed: 3, oracleTokens: 4, unitContracts: ['runtime.threading'], onDetail: () => {} },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

function fakeRun(name: string, changed: Partial<CheckRun> = {}) {
  const out = join(folder, name);
  mkdirSync(out);
  return runDeviceCheck({
    ...{ bundle, out, isFake: true, budgetSeconds: 280, cacheFolder: objects, seed: 1, fakePositions: 3 },
    ...{ signal: new AbortController().signal, onLine: () => {}, ...changed },
  });
}

const statusOf = (report: DeviceReport, name: string) =>
  report.steps.filter(({ step }) => step === name).map(({ status }) => status);

/** A copy of the bundle with one source changed, and a manifest that says so. */
function sabotage(file: string, from: string, to: string): string {
  const copy = join(folder, 'sabotaged');
  cpSync(bundle, copy, { recursive: true });
  const text = readFileSync(join(copy, file), 'utf8');
  expect(text).toContain(from);
  writeFileSync(join(copy, file), text.replace(from, to));
  return copy;
}

function acceptChange(copy: string, file: string): void {
  const path = join(copy, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { files: { path: string; sha256: string }[] };
  const sha256 = createHash('sha256')
    .update(readFileSync(join(copy, file)))
    .digest('hex');
  const files = manifest.files.map((entry) => (entry.path === file ? { ...entry, sha256 } : entry));
  writeFileSync(path, JSON.stringify({ ...manifest, files }));
}

describe('the device check without a device', () => {
  it('runs from end to end over host emulation, and its report is no evidence', async () => {
    const { report, reportPath, exitCode } = await fakeRun('whole');
    const failed = report.steps.flatMap(({ checks }) => checks.filter(({ status }) => status === 'failed'));
    expect(failed).toEqual([]);
    expect(exitCode).toBe(0);
    expect(report.isComplete).toBe(true);
    for (const name of ['build', 'gates', 'speed', 'units', 'summary'])
      expect([name, statusOf(report, name)]).toEqual([name, ['passed']]);
    for (const name of ['environment', 'ceilings', 'sanitizer', 'torch'])
      expect([name, statusOf(report, name)]).toEqual([name, ['not-run']]);
    const gates = report.steps.find(({ step }) => step === 'gates')!.checks.map(({ check }) => check);
    expect(gates).toEqual(['ledger', 'trace', 'logits', 'edges', 'equivalence', 'text', 'determinism']);
    expect(report.speeds.length).toBeGreaterThan(0);
    expect(
      report.speeds.every(({ isEmulated, shareOfBandwidth }) => isEmulated && shareOfBandwidth === null),
    ).toBe(true);
    expect(new Set(report.requirements.map(({ status }) => status))).toEqual(new Set(['not-measured']));
    expect(whyNoEvidence(readDeviceReport(readFileSync(reportPath, 'utf8')))).toMatch(/host emulation/);
  });

  it('says of every step that its budget leaves out why it did not run', async () => {
    const { report } = await fakeRun('short', {
      budgetSeconds: 5,
      only: ['environment', 'gates', 'speed', 'units'],
    });
    expect(statusOf(report, 'speed')).toEqual(['skipped']);
    expect(report.steps.find(({ step }) => step === 'units')!.reason).toMatch(/of the budget left/);
    expect(statusOf(report, 'summary')).toEqual(['passed']);
  });

  it('leaves a report of what it found when it is ended from outside', async () => {
    const end = new AbortController();
    const onLine = (line: string) => {
      if (/\] build$/.test(line.trim())) end.abort();
    };
    const { report } = await fakeRun('ended', {
      signal: end.signal,
      onLine,
      cacheFolder: join(folder, 'cold'),
    });
    expect(report.isComplete).toBe(false);
    expect(statusOf(report, 'build')).toEqual(['interrupted']);
    expect(statusOf(report, 'gates')).toEqual(['pending']);
  });

  it('refuses a bundle with a changed file, and turns red where the engine is wrong', async () => {
    const file = 'engines/tiny-qwen3-cuda/position_rope_frequencies.cpp';
    const copy = sabotage(file, '-2.0 * i', '-2.5 * i');
    await expect(fakeRun('damaged', { bundle: copy })).rejects.toThrow(/damaged/);
    expect(existsSync(join(folder, 'damaged/report.json'))).toBe(false);
    acceptChange(copy, file);
    const { report, exitCode } = await fakeRun('wrong', { bundle: copy, only: ['build', 'gates'] });
    expect(exitCode).toBe(1);
    expect(statusOf(report, 'gates')).toEqual(['failed']);
    const gates = report.steps.find(({ step }) => step === 'gates')!.checks;
    expect(gates.filter(({ status }) => status === 'failed').map(({ check }) => check)).toContain('trace');
  });

  it('asks for a machine with a GPU where there is none', async () => {
    if (existsSync('/dev/nvidiactl')) return;
    const refusal = await refusalOf(['device-check', join(folder, 'other')], sharedCache);
    expect([refusal.code, refusal.message]).toEqual(['TOOL_MISSING', expect.stringContaining('--fake')]);
  });
});
