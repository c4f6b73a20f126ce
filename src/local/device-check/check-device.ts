import type { GpuDevice } from '../../model/catalog.ts';
import type { DeviceReport, DeviceState } from '../../model/device-report.ts';
import { agree } from './agree.ts';
import { bestBandwidth, bestProducts, mostBytesPerSecond, mostFlopsPerSecond } from './check-speeds.ts';

/** Measured above what the vendor states: more than this is no measurement of that device. */
const statedMargin = 1.3;
/** Sets of at least this many bytes are in no cache. */
const beyondCaches = 2 ** 30;
const dayMs = 86_400_000;
const firstStart = Date.parse('2026-01-01T00:00:00Z');
/** Seconds that ending what runs may take after the budget. */
const budgetSlack = 120;

/** What is known of a bundle from its own folder. */
export interface KnownBundle {
  readonly sha256: string;
  readonly createdAt: string;
  readonly catalogSha256: string;
  readonly seed: number;
  readonly shapes: readonly string[];
  readonly units: readonly string[];
}

/** When and of which bundle. */
export function findOriginFaults(
  { bundle, startedAt, seconds, budgetSeconds, steps }: DeviceReport,
  now: number,
  known: KnownBundle | undefined,
): string[] {
  const faults = [];
  const started = Date.parse(startedAt);
  if (started > now + dayMs) faults.push(`startedAt: ${startedAt} is yet to come`);
  if (started < firstStart) faults.push(`startedAt: ${startedAt} is before there was a device check`);
  if (started < Date.parse(bundle.createdAt) - dayMs)
    faults.push('startedAt: the run began before its bundle was packed');
  if (seconds > budgetSeconds + budgetSlack)
    faults.push(`seconds: ${seconds.toFixed(0)} s of a budget of ${budgetSeconds.toFixed(0)} s`);
  if (/^0+$/.test(bundle.sha256)) faults.push('bundle.sha256: it is the hash of nothing');
  if (/^0+$/.test(bundle.catalogSha256)) faults.push('bundle.catalogSha256: it is the hash of nothing');
  if (known === undefined) return faults;
  for (const key of ['sha256', 'createdAt', 'catalogSha256', 'seed'] as const)
    if (bundle[key] !== known[key]) faults.push(`bundle.${key}: it is not that of the bundle`);
  const shapes = steps.flatMap(({ step, subject }) => (step === 'speed' ? (subject ?? []) : []));
  if (shapes.join('\n') !== known.shapes.join('\n'))
    faults.push('steps: speed is not of the shapes of the bundle');
  const units = steps.find(({ step }) => step === 'units');
  // They are written as they are done.
  const names = units?.checks.map(({ check }) => check).sort() ?? [];
  if (units?.status === 'passed' && names.join('\n') !== [...known.units].sort().join('\n'))
    faults.push('units: its checks are not those of the bundle');
  return faults;
}

/** Nothing of a run without a device may look measured. */
export function findFakeFaults({ device, ceilings, speeds, steps, requirements }: DeviceReport): string[] {
  const faults = [];
  if (device.gpu !== null) faults.push('device: a fake run names a device');
  if (ceilings !== null) faults.push('ceilings: a fake run measures none');
  if (speeds.some(({ isEmulated }) => !isEmulated))
    faults.push('speeds: a fake run has a figure that is not emulated');
  if (requirements.some(({ status }) => status !== 'not-measured'))
    faults.push('requirements: a fake run meets and misses none');
  const emulated = new Set(['gates', 'speed', 'units']);
  if (steps.some(({ step, checks, isEmulated }) => emulated.has(step) && checks.length > 0 && !isEmulated))
    faults.push('steps: a fake run has gates that are not emulated');
  return faults;
}

/** One device, the same from beginning to end, and no faster than such a device can be. */
export function findDeviceFaults(report: DeviceReport, devices: readonly GpuDevice[]): string[] {
  const { device, steps, speeds, ceilings } = report;
  const faults = [];
  if (steps.some(({ isEmulated }) => isEmulated)) faults.push('steps: a run on a device emulates none');
  if (speeds.some(({ isEmulated }) => isEmulated)) faults.push('speeds: a run on a device emulates none');
  const { gpu } = device;
  if (gpu === null) {
    const measured = ceilings !== null || speeds.length > 0;
    return measured ? [...faults, 'device: figures of a device that is not named'] : faults;
  }
  const later = steps
    .flatMap(({ checks }) => checks)
    .flatMap(({ figures }) => Object.values(figures))
    .filter((figure) => typeof figure === 'object' && figure !== null);
  if (later.some((state) => !isSameDevice(gpu, state)))
    faults.push('steps: figures of another device than the one that is named');
  if (ceilings === null) return faults;
  if (ceilings.gpuAfter !== null && !isSameDevice(gpu, ceilings.gpuAfter))
    faults.push(`ceilings.gpuAfter: ${ceilings.gpuAfter.name} is not the device that was there before`);
  return [...faults, ...findCeilingFaults(report, devices)];
}

function isSameDevice(left: DeviceState, right: DeviceState): boolean {
  return (['name', 'driver', 'computeCapability', 'memoryMib'] as const).every(
    (key) => left[key] === right[key],
  );
}

function findCeilingFaults({ device, ceilings }: DeviceReport, devices: readonly GpuDevice[]): string[] {
  if (ceilings === null) return [];
  const faults = [];
  const reads = ceilings.reads
    .filter(({ workingSetBytes }) => workingSetBytes >= beyondCaches)
    .map(({ bytesPerSecond }) => bytesPerSecond);
  if (reads.length === 0 || !agree(ceilings.readBytesPerSecond, Math.max(...reads)))
    faults.push('ceilings.readBytesPerSecond: no read beyond the caches shows it');
  const [bandwidth, products] = [bestBandwidth(ceilings), bestProducts(ceilings)];
  if (bandwidth > mostBytesPerSecond) faults.push('ceilings: more bandwidth than any device has');
  if (products > mostFlopsPerSecond) faults.push('ceilings: more products than any device makes');
  const known = devices.find(({ name }) => name === device.gpu?.name);
  if (known === undefined) return faults;
  if (bandwidth > statedMargin * known.bytesPerSecond)
    faults.push(`ceilings: more bandwidth than ${known.name} has`);
  if (products > statedMargin * known.bf16FlopsPerSecond)
    faults.push(`ceilings: more products than ${known.name} makes`);
  const major = known.arch.replace(/^sm_(\d+)\d$/, '$1');
  if (device.gpu?.computeCapability.split('.')[0] !== major)
    faults.push(`device.gpu.computeCapability: that of ${known.name} is ${major}`);
  return faults;
}
