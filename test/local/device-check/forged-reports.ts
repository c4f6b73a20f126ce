import type { DeviceReport } from '../../../src/model/device-report.ts';
import {
  also,
  type Change,
  ceilingsWith,
  check,
  failed,
  gpu,
  requirementWith,
  speedLine,
  speedWith,
  step,
  stepWith,
} from './good-report.ts';

const fake: Change = (report) => ({ ...report, device: { isFake: true, gpu: null } });
const gpuWith =
  (changed: Partial<typeof gpu>): Change =>
  (report) => ({ ...report, device: { isFake: false, gpu: { ...gpu, ...changed } } });
const bundleWith =
  (changed: Partial<DeviceReport['bundle']>): Change =>
  (report) => ({ ...report, bundle: { ...report.bundle, ...changed } });
const plusSteps =
  (...more: DeviceReport['steps']): Change =>
  (report) => ({ ...report, steps: [...report.steps, ...more] });
/** Beyond the median: the share, tokens and spread are as they should be. */
const soon = speedLine('qwen3-8b', 'decode', 0, { share: 7.6 });

/** What a forged report has, where that is found, and how it is made from a good one. */
export const forgeries: readonly (readonly [string, RegExp, Change])[] = [
  [
    'a faster median than its samples have',
    /qwen3-8b decode 0 .*median/,
    speedWith({ medianSeconds: 0.004 }),
  ],
  ['more tokens per second than the median gives', /tokens per second/, speedWith({ tokensPerSecond: 900 })],
  [
    'a larger share than bytes and seconds give',
    /share of the bandwidth/,
    speedWith({ shareOfBandwidth: 0.95 }),
  ],
  ['a share without ceilings', /not measured/, (report) => ({ ...report, ceilings: null })],
  ['no share beside ceilings', /decode 0 .*no share/, speedWith({ shareOfBandwidth: null })],
  ['no bytes', /decode 0 .*bytes that it reads/, speedWith({ bytes: null, shareOfBandwidth: null })],
  [
    'a prefill without operations',
    /prefill 512 .*operations/,
    (report) => ({
      ...report,
      speeds: report.speeds.map((line) =>
        line.test === 'prefill' ? { ...line, flops: null, shareOfProducts: null } : line,
      ),
    }),
  ],
  ['a decode beyond the measured bandwidth', /decode 0 .*faster than the measured/, speedWith(soon)],
  [
    'a decode beyond the measured bandwidth that has no share',
    /decode 0 .*faster than the measured/,
    speedWith({ ...soon, shareOfBandwidth: null }),
  ],
  [
    'a decode beyond every device and no ceilings',
    /decode 0 .*faster than any device/,
    also(speedWith({ ...soon, shareOfBandwidth: null }), (report) => ({ ...report, ceilings: null })),
  ],
  ['a spread that its samples do not have', /decode 0 .*spread/, speedWith({ spread: 99 })],
  ['more bytes than its shape has', /decode 0 .*other bytes/, speedWith({ bytes: 1.6e11 })],
  ['a shape that is not measured', /moon decode 0 .*no shape/, speedWith({ shape: 'moon' })],
  ['a depth that is not measured', /decode 7 .*at that size/, speedWith({ size: 7 })],
  ['somebody else who is timed', /\(llama\.cpp\): nobody/, speedWith({ runner: 'llama.cpp' })],
  [
    'a line twice',
    /more than once/,
    (report) => ({ ...report, speeds: [...report.speeds, report.speeds[0]!] }),
  ],
  [
    'a line less than its step has',
    /speed qwen3-8b: decode 0 passed, and no line/,
    (report) => ({
      ...report,
      speeds: report.speeds.slice(1),
    }),
  ],
  [
    'lines beside PyTorch that never ran',
    /beside PyTorch/,
    (report) => ({
      ...report,
      speeds: [...report.speeds, { ...report.speeds[0]!, runner: 'torch, eager' }],
    }),
  ],
  [
    'figures of a device without a name',
    /not named/,
    (report) => ({
      ...report,
      device: { isFake: false, gpu: null },
    }),
  ],
  [
    'emulated speeds beside a device',
    /emulates none/,
    speedWith({ isEmulated: true, shareOfBandwidth: null }),
  ],
  ['emulated gates beside a device', /emulates none/, stepWith('gates', { isEmulated: true })],
  ['a fake run with figures', /a fake run/, fake],
  [
    'a skipped step without a reason',
    /units: .*no reason/,
    stepWith('units', { status: 'skipped', checks: [] }),
  ],
  ['a passed step without a check', /gates: .*did not all pass/, stepWith('gates', { checks: [] })],
  [
    'one gate of seven',
    /gates: .*with logits instead of ledger, trace/,
    stepWith('gates', { checks: [check('logits')] }),
  ],
  [
    'a gate twice',
    /gates: logits stands there more than once/,
    stepWith('gates', { checks: [check('logits'), check('logits')] }),
  ],
  [
    'a build of one engine',
    /build: .*3 engines/,
    stepWith('build', { checks: [check('engines/tiny-qwen3-cuda')] }),
  ],
  [
    'another second gates step',
    /gates stands there more than once/,
    plusSteps({ ...step('gates', []), ...failed('logits') }),
  ],
  [
    'four builds in place of all steps',
    /build stands there more than once/,
    (report) => ({
      ...report,
      steps: [1, 2, 3, 4].map(() => report.steps[1]!),
    }),
  ],
  [
    'a missing step',
    /steps: sanitizer is missing/,
    (report) => ({
      ...report,
      steps: report.steps.filter(({ step: name }) => name !== 'sanitizer'),
    }),
  ],
  [
    'steps in another order',
    /another order/,
    (report) => ({ ...report, steps: [...report.steps].reverse() }),
  ],
  ['a running step in a complete run', /gates: it is running/, stepWith('gates', { status: 'running' })],
  ['steps that took longer than the run', /seconds: the steps took/, stepWith('build', { seconds: 99_999 })],
  [
    'samples that took longer than their step',
    /speed qwen3-8b: its samples/,
    also(stepWith('speed', { seconds: 0 }), (report) => report),
  ],
  ['a run far beyond its budget', /seconds: .*budget/, (report) => ({ ...report, seconds: 1e9 })],
  [
    'a start that is yet to come',
    /yet to come/,
    (report) => ({ ...report, startedAt: '2099-01-01T00:00:00Z' }),
  ],
  [
    'a start of years ago',
    /before there was/,
    (report) => ({ ...report, startedAt: '2019-01-01T00:00:00Z' }),
  ],
  ['the hash of nothing', /bundle\.sha256: .*nothing/, bundleWith({ sha256: '0'.repeat(64) })],
  ['the hash of another bundle', /bundle\.sha256: it is not that/, bundleWith({ sha256: 'c'.repeat(64) })],
  [
    'fewer units than the bundle has',
    /units: .*of the bundle/,
    stepWith('units', { checks: [check('unit 1', { cases: 3 })] }),
  ],
  [
    'another device after its ceilings',
    /gpuAfter: NVIDIA A100/,
    ceilingsWith({ gpuAfter: { ...gpu, name: 'NVIDIA A100' } }),
  ],
  [
    'another device beside its speeds',
    /another device/,
    also(gpuWith({ name: 'NVIDIA H100' }), ceilingsWith({ gpuAfter: null })),
  ],
  [
    'a device of another capability than it has',
    /computeCapability: that of NVIDIA H200/,
    gpuWith({ computeCapability: '3.5' }),
  ],
  [
    'more bandwidth than its device has',
    /more bandwidth than NVIDIA H200/,
    ceilingsWith({ copyBytesPerSecond: 7e12 }),
  ],
  [
    'more bandwidth than any device has',
    /more bandwidth than any/,
    ceilingsWith({ copyBytesPerSecond: 1e18 }),
  ],
  [
    'more products than its device makes',
    /more products than NVIDIA H200/,
    ceilingsWith({ matmulFlopsPerSecond: 2e15 }),
  ],
  ['a bandwidth that no read shows', /readBytesPerSecond/, ceilingsWith({ reads: [] })],
  [
    'a requirement that gates do not bear out',
    /"all gates green.*called met.*give not-measured/,
    stepWith('units', { status: 'timed-out', reason: 'time' }),
  ],
  [
    'a requirement that no decode shows',
    /"share.*called met.*give not-measured/,
    (report) => ({ ...report, speeds: [] }),
  ],
  ['a requirement without its figure', /"share.*has null/, requirementWith(1, { measured: null })],
  ['a requirement better than its speeds', /"share.*has 0\.99/, requirementWith(1, { measured: 0.99 })],
  ['a requirement that wants less', /"share.*wants 0\.01/, requirementWith(1, { wanted: 0.01 })],
  [
    'a requirement that is missed by figures that meet it',
    /"share.*called missed/,
    requirementWith(1, { status: 'missed' }),
  ],
  ['seven failed gates of none wanted', /"all gates green.*has 7/, requirementWith(0, { measured: 7 })],
  [
    'a requirement of its own',
    /shapes and moon shapes" is none/,
    requirementWith(1, {
      requirement: 'share of the measured bandwidth in decode at qwen3-8b shapes and moon shapes',
    }),
  ],
  [
    'a comparison with PyTorch that nothing shows',
    /PyTorch" is called met/,
    requirementWith(3, { status: 'met', measured: 1.4 }),
  ],
  [
    'a requirement less',
    /goal" is missing/,
    (report) => ({
      ...report,
      requirements: report.requirements.filter((_, index) => index !== 2),
    }),
  ],
  ['no requirement', /requirements: there are none/, (report) => ({ ...report, requirements: [] })],
  ['a key that no report has', /blessed/, (report) => ({ ...report, blessed: true }) as DeviceReport],
  ['another form', /schema/, (report) => ({ ...report, schema: 'metainfer/device-report/v2' }) as never],
];
