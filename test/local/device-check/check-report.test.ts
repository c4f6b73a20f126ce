import { describe, expect, it } from 'vitest';
import { readDeviceReport, whyNoEvidence } from '../../../src/local/device-check/check-report.ts';
import type { DeviceReport, DeviceSpeed, DeviceStep } from '../../../src/model/device-report.ts';

const gpu = {
  ...{ name: 'NVIDIA H200', driver: '580.159.04', computeCapability: '9.0', memoryMib: 143_771 },
  ...{ smClockMhz: 1980, memoryClockMhz: 3201, maxSmClockMhz: 1980, maxMemoryClockMhz: 3201 },
  ...{ temperatureC: 40, powerWatts: 300, powerLimitWatts: 700 },
};
const ceilings = {
  ...{ readBytesPerSecond: 4.2e12, copyBytesPerSecond: 4e12, mmaFlopsPerSecond: 6e14 },
  ...{
    matmulFlopsPerSecond: null,
    reads: [{ workingSetBytes: 2 ** 33, bytesPerSecond: 4.2e12 }],
    gpuAfter: gpu,
  },
};

function step(name: DeviceStep['step'], subject: string | null = null): DeviceStep {
  const check = { check: 'all', status: 'passed' as const, reason: null, findings: [], figures: {} };
  return {
    ...{ step: name, subject, status: 'passed', reason: null, isEmulated: false },
    ...{ seconds: 10, limitSeconds: 60, checks: [check] },
  };
}

const bandwidthShare = 'share of the measured bandwidth in decode at qwen3-8b shapes, required';

/** Of a run on a device that found no fault, in figures that follow from each other. */
function deviceReport(): DeviceReport {
  const bytes = 16e9;
  const decode: DeviceSpeed = {
    ...{
      shape: 'qwen3-8b',
      runner: 'engine',
      test: 'decode',
      size: 0,
      samplesSeconds: [0.006, 0.005, 0.0055],
    },
    ...{ medianSeconds: 0.0055, tokensPerSecond: 1 / 0.0055, spread: 0.001 / 0.0055, bytes, flops: null },
    ...{ shareOfBandwidth: bytes / 0.0055 / 4.2e12, shareOfProducts: null, isEmulated: false },
  };
  return {
    schema: 'metainfer/device-report/v1',
    bundle: {
      sha256: 'a'.repeat(64),
      createdAt: '2026-11-30T12:00:00.000Z',
      catalogSha256: 'b'.repeat(64),
      seed: 5,
    },
    ...{ startedAt: '2026-11-30T13:00:00Z', seconds: 300, budgetSeconds: 540, seed: 1, isComplete: true },
    device: { isFake: false, gpu },
    environment: { python: '3.12.3', torch: null, computeSanitizer: true },
    steps: [step('environment'), step('build'), step('gates'), step('speed', 'qwen3-8b'), step('units')],
    ceilings,
    speeds: [decode],
    requirements: [
      ...[
        {
          requirement: 'all gates green on the device',
          status: 'met' as const,
          measured: 0,
          wanted: 0,
          note: null,
        },
        { requirement: bandwidthShare, status: 'met' as const, measured: 0.69, wanted: 0.6, note: null },
      ],
    ],
  };
}

type Change = (report: DeviceReport) => DeviceReport;

const speedWith =
  (changed: Partial<DeviceSpeed>): Change =>
  (report) => ({ ...report, speeds: report.speeds.map((line) => ({ ...line, ...changed })) });

const stepWith =
  (name: string, changed: Partial<DeviceStep>): Change =>
  (report) => ({
    ...report,
    steps: report.steps.map((entry) => (entry.step === name ? { ...entry, ...changed } : entry)),
  });

const fake: Change = (report) => ({ ...report, device: { isFake: true, gpu: null } });

const forgeries: readonly (readonly [string, RegExp, Change])[] = [
  ['a faster median than its samples have', /median/, speedWith({ medianSeconds: 0.004 })],
  ['more tokens per second than the median gives', /tokens per second/, speedWith({ tokensPerSecond: 400 })],
  [
    'a larger share than bytes and seconds give',
    /share of the bandwidth/,
    speedWith({ shareOfBandwidth: 0.95 }),
  ],
  ['a share without ceilings', /not measured/, (report) => ({ ...report, ceilings: null })],
  [
    'figures of a device without a name',
    /not named/,
    (report) => ({ ...report, device: { isFake: false, gpu: null } }),
  ],
  ['emulated speeds beside a device', /emulates none/, speedWith({ isEmulated: true })],
  ['emulated gates beside a device', /emulates none/, stepWith('gates', { isEmulated: true })],
  ['a fake run with figures', /a fake run/, fake],
  ['a skipped step without a reason', /no reason/, stepWith('units', { status: 'skipped', checks: [] })],
  ['a passed step without a check', /did not all pass/, stepWith('gates', { checks: [] })],
  [
    'a requirement that gates do not bear out',
    /not every gate/,
    stepWith('units', { status: 'timed-out', reason: 'time' }),
  ],
  ['a requirement that no decode shows', /no decode/, (report) => ({ ...report, speeds: [] })],
  ['a key that no report has', /blessed/, (report) => ({ ...report, blessed: true }) as DeviceReport],
  ['another form', /schema/, (report) => ({ ...report, schema: 'metainfer/device-report/v2' }) as never],
];

describe('the report of a device check', () => {
  it('is evidence where it holds together and a device was there', () => {
    const report = readDeviceReport(JSON.stringify(deviceReport()));
    expect(whyNoEvidence(report)).toBeUndefined();
  });

  it.each(forgeries)('is refused with %s', (_, words, change) => {
    expect(() => readDeviceReport(JSON.stringify(change(deviceReport())))).toThrow(words);
  });

  it('is refused where it is cut short in the middle of a line', () => {
    expect(() => readDeviceReport(JSON.stringify(deviceReport()).slice(0, -20))).toThrow(/not JSON/);
  });

  it('is no evidence where nothing was built, or no device found', () => {
    const failed = {
      ...deviceReport(),
      steps: [step('environment')],
      ceilings: null,
      speeds: [],
      requirements: [],
    };
    expect(whyNoEvidence(failed)).toMatch(/not built/);
    expect(whyNoEvidence({ ...failed, device: { isFake: false, gpu: null } })).toMatch(/no device/);
  });
});
