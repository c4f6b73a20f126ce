import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedCache } from '../../fixtures/test-cache.ts';
import { changeSource, packSmallBundle, runFake, statusOf } from '../../support/device-check-bundle.ts';
import { refusalOf } from '../../support/refusal-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'device-check-test-'));
const bundle = join(folder, 'bundle');

beforeAll(() => packSmallBundle(bundle));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the device check without a device', () => {
  it('says of every step that its budget leaves out why it did not run', async () => {
    const { report } = await runFake(bundle, join(folder, 'short'), {
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
    const { report } = await runFake(bundle, join(folder, 'ended'), {
      signal: end.signal,
      onLine,
      cacheFolder: join(folder, 'cold'),
    });
    expect(report.isComplete).toBe(false);
    expect(statusOf(report, 'build')).toEqual(['interrupted']);
    expect(statusOf(report, 'gates')).toEqual(['pending']);
  });

  it('refuses a bundle with a changed file', async () => {
    const copy = join(folder, 'changed');
    changeSource(bundle, copy, {
      ...{ file: 'engines/tiny-qwen3-cuda/norm_rms.cu', from: 'num_rows', to: 'num_rows + 1' },
    });
    await expect(runFake(copy, join(folder, 'damaged'))).rejects.toThrow(/damaged/);
    expect(existsSync(join(folder, 'damaged/report.json'))).toBe(false);
  });

  it('asks for a machine with a GPU where there is none', async () => {
    if (existsSync('/dev/nvidiactl')) return;
    const refusal = await refusalOf(['device-check', join(folder, 'other')], sharedCache);
    expect([refusal.code, refusal.message]).toEqual(['TOOL_MISSING', expect.stringContaining('--fake')]);
  });
});
