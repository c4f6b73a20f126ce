import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDeviceReport } from '../../../src/local/device-check/check-report.ts';
import { whyNoEvidence } from '../../../src/local/device-check/why-no-evidence.ts';
import {
  acceptChange,
  changeSource,
  packSmallBundle,
  runFake,
  statusOf,
} from '../../support/device-check-bundle.ts';

const folder = mkdtempSync(join(tmpdir(), 'device-check-test-'));
const bundle = join(folder, 'bundle');

beforeAll(() => packSmallBundle(bundle));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the device check over host emulation', () => {
  it('runs from end to end over host emulation, and its report is no evidence', {
    timeout: 600_000,
  }, async () => {
    const { report, reportPath, exitCode } = await runFake(bundle, join(folder, 'whole'));
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

  it('turns red where the engine is wrong', { timeout: 600_000 }, async () => {
    const file = 'engines/tiny-qwen3-cuda/position_rope_frequencies.cpp';
    const copy = join(folder, 'sabotaged');
    changeSource(bundle, copy, { file, from: '-2.0 * i', to: '-2.5 * i' });
    acceptChange(copy, file);
    const { report, exitCode } = await runFake(copy, join(folder, 'wrong'), { only: ['build', 'gates'] });
    expect(exitCode).toBe(1);
    expect(statusOf(report, 'gates')).toEqual(['failed']);
    const gates = report.steps.find(({ step }) => step === 'gates')!.checks;
    expect(gates.filter(({ status }) => status === 'failed').map(({ check }) => check)).toContain('trace');
  });
});
