import type { DeviceCeilings, DeviceReport, DeviceSpeed } from '../../model/device-report.ts';
import { agree } from './agree.ts';
import { realTests } from './bundle-shapes.ts';
import { knownShapes } from './known-shapes.ts';

/** Of a gate's own limits: faster than measured allows is an error, not an achievement. */
export const physicsMargin = 1.25;
/** Beyond every device that there is; holds where nothing was measured. */
export const mostBytesPerSecond = 2e13;
export const mostFlopsPerSecond = 2e16;

const runners: readonly string[] = ['engine', 'engine, beside torch', 'torch, eager', 'torch, graph'];

/** What the lines say of their samples, of the shapes and of the ceilings, worked out again. */
export function findSpeedFaults({ speeds, ceilings, device }: DeviceReport): string[] {
  const names = speeds.map(lineName);
  const repeated = device.isFake ? [] : names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...repeated.map((name) => `${name}: it stands there more than once`),
    ...speeds.flatMap((line) => [
      ...findSampleFaults(line),
      ...findShareFaults(line, ceilings),
      ...(device.isFake || line.isEmulated ? [] : findWorkFaults(line)),
    ]),
  ];
}

export function lineName({ shape, test, size, runner }: DeviceSpeed): string {
  return `${shape} ${test} ${size} (${runner})`;
}

function findSampleFaults(line: DeviceSpeed): string[] {
  const { medianSeconds, samplesSeconds, spread, test, bytes, flops } = line;
  const name = lineName(line);
  const faults = [];
  if (!agree(medianSeconds, median(samplesSeconds)))
    faults.push(`${name}: the median is not that of its samples`);
  if (!agree(line.tokensPerSecond, (test === 'decode' ? 1 : line.size) / medianSeconds))
    faults.push(`${name}: tokens per second do not follow from the median`);
  const scatter = (Math.max(...samplesSeconds) - Math.min(...samplesSeconds)) / medianSeconds;
  if (!agree(spread, scatter)) faults.push(`${name}: the spread is not that of its samples`);
  if (!runners.includes(line.runner)) faults.push(`${name}: nobody of that name is timed`);
  const [own, other] = test === 'decode' ? [bytes, flops] : [flops, bytes];
  if (own === null || other !== null)
    faults.push(`${name}: a decode has the bytes that it reads and no operations, a prefill the reverse`);
  return faults;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function bestBandwidth({ copyBytesPerSecond, readBytesPerSecond }: DeviceCeilings): number {
  return Math.max(copyBytesPerSecond, readBytesPerSecond);
}

export function bestProducts({ mmaFlopsPerSecond, matmulFlopsPerSecond }: DeviceCeilings): number {
  return Math.max(mmaFlopsPerSecond, matmulFlopsPerSecond ?? 0);
}

/** Shares follow from work and seconds; where there are ceilings, every line of a device has its share. */
function findShareFaults(line: DeviceSpeed, ceilings: DeviceCeilings | null): string[] {
  const name = lineName(line);
  const { test, medianSeconds, isEmulated } = line;
  const isDecode = test === 'decode';
  const [share, other] = isDecode
    ? [line.shareOfBandwidth, line.shareOfProducts]
    : [line.shareOfProducts, line.shareOfBandwidth];
  if (other !== null) return [`${name}: a share of what does not bound it`];
  if (isEmulated) return share === null ? [] : [`${name}: emulation has no share of anything`];
  const rate = ((isDecode ? line.bytes : line.flops) ?? 0) / medianSeconds;
  const faults = [];
  if (rate > (isDecode ? mostBytesPerSecond : mostFlopsPerSecond))
    faults.push(`${name}: it is faster than any device`);
  if (ceilings === null)
    return share === null ? faults : [...faults, `${name}: a share of ceilings that were not measured`];
  const what = isDecode ? 'bandwidth' : 'rate of products';
  const best = isDecode ? bestBandwidth(ceilings) : bestProducts(ceilings);
  if (rate / best > physicsMargin) faults.push(`${name}: it is faster than the measured ${what}`);
  // PyTorch's product is measured after the engine's own lines, and before those beside PyTorch.
  const rates = isDecode ? [best] : [best, ceilings.mmaFlopsPerSecond];
  if (share === null) faults.push(`${name}: it has no share of the ceilings, which were measured`);
  else if (!rates.some((each) => agree(share, rate / each)))
    faults.push(
      isDecode
        ? `${name}: the share of the bandwidth does not follow from bytes and seconds`
        : `${name}: the share of the products does not follow from operations and seconds`,
    );
  return faults;
}

/** The work of a line is that of its shape: no figure of a report is taken at its word. */
function findWorkFaults(line: DeviceSpeed): string[] {
  const name = lineName(line);
  const work = knownShapes[line.shape];
  if (work === undefined) return [`${name}: no shape of that name is measured`];
  const sizes = line.test === 'decode' ? realTests.decodeDepths : realTests.prefillTokens;
  if (!sizes.includes(line.size)) return [`${name}: nothing is measured at that size`];
  if (line.test === 'prefill') {
    const flops = work.prefillFlops[String(line.size)] ?? 0;
    return agree(line.flops ?? flops, flops) ? [] : [`${name}: it has other operations than its shape`];
  }
  // One step in the middle of the timed ones, as decode_bytes of device/speeds.py.
  const middle = line.size + (realTests.decodeSteps + 1) / 2;
  const bytes = work.weightBytesPerStep + work.kvBytesPerPosition * middle;
  return agree(line.bytes ?? bytes, bytes) ? [] : [`${name}: it has other bytes than its shape`];
}
