import { realTests } from '../../../src/local/device-check/bundle-shapes.ts';
import { knownShapes } from '../../../src/local/device-check/known-shapes.ts';
import {
  type DeviceReport,
  type DeviceSpeed,
  type DeviceStep,
  deviceGates,
} from '../../../src/model/device-report.ts';

export const gpu = {
  ...{ name: 'NVIDIA H200', driver: '580.159.04', computeCapability: '9.0', memoryMib: 143_771 },
  ...{ smClockMhz: 1980, memoryClockMhz: 3201, maxSmClockMhz: 1980, maxMemoryClockMhz: 3201 },
  ...{ temperatureC: 40, powerWatts: 300, powerLimitWatts: 700 },
};
const [bandwidth, products] = [4.2e12, 6e14];
const ceilings = {
  ...{ readBytesPerSecond: bandwidth, copyBytesPerSecond: 4e12, mmaFlopsPerSecond: products },
  matmulFlopsPerSecond: null,
  reads: [
    { workingSetBytes: 2 ** 23, bytesPerSecond: 9e12 },
    { workingSetBytes: 2 ** 33, bytesPerSecond: bandwidth },
  ],
  gpuAfter: gpu,
};

type Check = DeviceStep['checks'][number];

export function check(name: string, figures: Check['figures'] = {}): Check {
  return { check: name, status: 'passed', reason: null, findings: [], figures };
}

export function step(
  name: DeviceStep['step'],
  checks: readonly Check[],
  subject: string | null = null,
): DeviceStep {
  return {
    ...{ step: name, subject, status: 'passed', reason: null, isEmulated: false },
    ...{ seconds: 20, limitSeconds: 60, checks: [...checks] },
  };
}

/** Three samples around a time that is `share` of what the ceilings allow. */
export function speedLine(
  shape: string,
  test: DeviceSpeed['test'],
  size: number,
  { share = 0.7, runner = 'engine' } = {},
): DeviceSpeed {
  const { weightBytesPerStep, kvBytesPerPosition, prefillFlops } = knownShapes[shape]!;
  const isDecode = test === 'decode';
  const bytes = weightBytesPerStep + kvBytesPerPosition * (size + (realTests.decodeSteps + 1) / 2);
  const flops = prefillFlops[String(size)]!;
  const medianSeconds = isDecode ? bytes / bandwidth / share : flops / products / share;
  const samplesSeconds = [1.02 * medianSeconds, 0.99 * medianSeconds, medianSeconds];
  return {
    ...{ shape, runner, test, size, samplesSeconds, medianSeconds, isEmulated: false },
    tokensPerSecond: (isDecode ? 1 : size) / medianSeconds,
    spread: (samplesSeconds[0]! - samplesSeconds[1]!) / medianSeconds,
    ...(isDecode ? { bytes, flops: null } : { bytes: null, flops }),
    ...{ shareOfBandwidth: isDecode ? share : null, shareOfProducts: isDecode ? null : share },
  };
}

function speedStep(shape: string, lines: readonly DeviceSpeed[]): DeviceStep {
  const timed = lines
    .filter((line) => line.shape === shape)
    .map(({ test, size, tokensPerSecond }) => check(`${test} ${size}`, { tokensPerSecond, gpu }));
  return step('speed', [check('weights'), ...timed, check('equivalence')], shape);
}

/** Of a run on a device without PyTorch that found no fault, in figures that follow from each other. */
export function deviceReport(): DeviceReport {
  const shapes = Object.keys(knownShapes);
  const speeds = shapes.flatMap((shape) => [
    ...realTests.decodeDepths.map((depth) => speedLine(shape, 'decode', depth)),
    ...realTests.prefillTokens.map((tokens) => speedLine(shape, 'prefill', tokens)),
  ]);
  const engines = ['tiny-qwen3-cuda', ...shapes].map((name) => check(`engines/${name}`));
  const share = 'share of the measured bandwidth in decode at qwen3-8b shapes';
  const noTorch = { status: 'not-run' as const, reason: 'torch cannot be imported', checks: [] };
  return {
    schema: 'metainfer/device-report/v1',
    bundle: {
      ...{ sha256: 'a'.repeat(64), createdAt: '2026-11-30T12:00:00.000Z' },
      ...{ catalogSha256: 'b'.repeat(64), seed: 5 },
    },
    ...{ startedAt: '2026-11-30T13:00:00Z', seconds: 300, budgetSeconds: 540, seed: 1, isComplete: true },
    device: { isFake: false, gpu },
    environment: { python: '3.12.3', torch: null, computeSanitizer: true },
    steps: [
      step('environment', [check('device'), check('nvcc')]),
      step('build', [...engines, check('synthesize.cpp'), check('ceilings.cu')]),
      step(
        'gates',
        deviceGates.map((gate) => check(gate)),
      ),
      step('ceilings', [check('ceilings')]),
      ...shapes.map((shape) => speedStep(shape, speeds)),
      step('units', [check('unit 1', { cases: 3 }), check('unit 2', { cases: 4 })]),
      step('sanitizer', [check('memcheck linear.dense'), check('racecheck linear.dense')]),
      { ...step('torch', []), ...noTorch },
      step('summary', [check('requirements', { met: 2 })]),
    ],
    ...{ ceilings, speeds },
    requirements: [
      {
        requirement: 'all gates green on the device',
        ...{ status: 'met', measured: 0, wanted: 0, note: null },
      },
      { requirement: `${share}, required`, status: 'met', measured: 0.7, wanted: 0.6, note: null },
      { requirement: `${share}, goal`, status: 'missed', measured: 0.7, wanted: 0.85, note: null },
      {
        requirement: 'no slower in decode than PyTorch',
        ...{ status: 'not-measured', measured: null, wanted: 1, note: 'no PyTorch beside the engine' },
      },
    ],
  };
}

export type Change = (report: DeviceReport) => DeviceReport;

/** Of the first line: decoding of the 8B shape into an empty cache. */
export const speedWith =
  (changed: Partial<DeviceSpeed>): Change =>
  (report) => ({
    ...report,
    speeds: report.speeds.map((line, index) => (index === 0 ? { ...line, ...changed } : line)),
  });

export const stepWith =
  (name: string, changed: Partial<DeviceStep>): Change =>
  (report) => ({
    ...report,
    steps: report.steps.map((entry) => (entry.step === name ? { ...entry, ...changed } : entry)),
  });

export const failed = (name: string): Partial<DeviceStep> => ({
  status: 'failed',
  checks: [
    {
      ...check(name),
      status: 'failed',
      findings: [{ contract: null, message: 'invalid write', evidence: {} }],
    },
  ],
});

export const requirementWith =
  (index: number, changed: Partial<DeviceReport['requirements'][number]>): Change =>
  (report) => ({
    ...report,
    requirements: report.requirements.map((entry, at) => (at === index ? { ...entry, ...changed } : entry)),
  });

export const ceilingsWith =
  (changed: Partial<DeviceReport['ceilings']>): Change =>
  (report) => ({ ...report, ceilings: { ...report.ceilings!, ...changed } });

export const also =
  (...changes: readonly Change[]): Change =>
  (report) =>
    changes.reduce((changed, change) => change(changed), report);
