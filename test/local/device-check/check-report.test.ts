import { describe, expect, it } from 'vitest';
import { readDeviceReport } from '../../../src/local/device-check/check-report.ts';
import { renderDeviceReport } from '../../../src/local/device-check/render-report.ts';
import { whyNoEvidence } from '../../../src/local/device-check/why-no-evidence.ts';
import type { DeviceReport } from '../../../src/model/device-report.ts';
import { forgeries } from './forged-reports.ts';
import { deviceReport, gpu } from './good-report.ts';
import { worthless } from './worthless-reports.ts';

const h200 = {
  ...{ id: 'h200', name: 'NVIDIA H200', arch: 'sm_90', memoryBytes: 141e9, bytesPerSecond: 4.8e12 },
  ...{
    bf16FlopsPerSecond: 989e12,
    l2Bytes: 50 * 2 ** 20,
    sharedBytesPerBlock: 232_448,
    multiprocessors: 132,
  },
};
const bundle = {
  ...{
    sha256: 'a'.repeat(64),
    createdAt: '2026-11-30T12:00:00.000Z',
    catalogSha256: 'b'.repeat(64),
    seed: 5,
  },
  ...{ shapes: ['qwen3-8b', 'qwen3-0.6b'], units: ['unit 2', 'unit 1'] },
};
const now = Date.parse('2026-11-30T14:00:00Z');
const read = (report: DeviceReport) =>
  readDeviceReport(JSON.stringify(report), { devices: [h200], bundle, now });

describe('the report of a device check', () => {
  it('is evidence where it holds together and a device was there', () => {
    expect(whyNoEvidence(read(deviceReport()))).toBeUndefined();
    expect(whyNoEvidence(readDeviceReport(JSON.stringify(deviceReport())))).toBeUndefined();
  });

  it.each(forgeries)('is refused with %s', (_, words, change) => {
    expect(() => read(change(deviceReport()))).toThrow(words);
  });

  it.each(worthless)('holds together and is no evidence where %s', (_, words, change) => {
    expect(whyNoEvidence(read(change(deviceReport())))).toMatch(words);
  });

  it('is no evidence of a device that no engine is built for', () => {
    const old = { ...gpu, name: 'NVIDIA GeForce GT 710', computeCapability: '3.5' };
    const text = JSON.stringify(deviceReport()).replaceAll(JSON.stringify(gpu), JSON.stringify(old));
    expect(whyNoEvidence(readDeviceReport(text))).toMatch(/compute capability 3\.5/);
  });

  it('is refused where it is cut short in the middle of a line, or has a figure that is no number', () => {
    const text = JSON.stringify(deviceReport());
    expect(() => readDeviceReport(text.slice(0, -20))).toThrow(/not JSON/);
    expect(() => readDeviceReport(text.replace('"seconds":300', '"seconds":1e999'))).toThrow(/seconds/);
  });

  it.each([
    ['"isFake":true,"isFake":false', 'isFake'],
    ['"is\\u0046ake":true,"isFake":false', 'isFake'],
    ['"isFake":false,"__proto__":1', '__proto__'],
  ])('is refused where a key stands twice: %s', (keys, name) => {
    const text = JSON.stringify(deviceReport()).replace('"isFake":false', keys);
    expect(() => readDeviceReport(text)).toThrow(`"${name}"`);
  });

  it('steers no terminal with its texts', () => {
    const name = '\u001b[31mNVIDIA\u001b]0;pwn\u0007 H200\u202e\r';
    const text = JSON.stringify(deviceReport()).replaceAll('NVIDIA H200', JSON.stringify(name).slice(1, -1));
    const shown = renderDeviceReport(readDeviceReport(text));
    expect(shown).toContain('\\u{1b}[31mNVIDIA');
    expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const keyed = text.replace('"isComplete"', '"\\u001b[2J":1,"isComplete"');
    expect(() => readDeviceReport(keyed)).toThrow(/^[^\u001b]*$/);
  });

  it('is no evidence where nothing was built, or no device found', () => {
    const bare = { ...deviceReport(), steps: [], ceilings: null, speeds: [], requirements: [] };
    expect(whyNoEvidence(bare)).toMatch(/not built/);
    expect(whyNoEvidence({ ...bare, device: { isFake: false, gpu: null } })).toMatch(/no device/);
  });
});
