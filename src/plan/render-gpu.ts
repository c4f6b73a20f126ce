import type { Plan, PlanGpu } from '../model/plan.ts';
import { grouped, short } from '../model/show-number.ts';

/** `cpu-x86_64 (avx2), 2 threads`; `cuda (sm_90, NVIDIA H200), 4 host threads`. */
export function showMachine({ gpu, request, target }: Plan): string {
  const [platform, arch] = [target['hardware.platform'], target['hardware.arch']];
  const device = gpu?.device == null ? '' : `, ${gpu.device.name}`;
  const threads = `${request.threads} ${gpu === undefined ? '' : 'host '}thread${request.threads === 1 ? '' : 's'}`;
  return `${platform} (${arch}${device}), ${threads}`;
}

/** Where the rates come from, and what a product costs of them. */
export function noteGpuRates(gpu: PlanGpu, { device: rates, isCached }: Plan['limit']): string {
  const { bytesPerSecond, flopsPerSecond, source } = rates;
  if (bytesPerSecond === null && flopsPerSecond === null)
    return `No rate is known, because the file names no device. For a limit before anything is built write \`hardware.device\`: ${gpu.runsOn.join(', ')}; verification on a GPU measures its own.`;
  const known = [
    bytesPerSecond === null ? [] : [`${grouped(Math.round(bytesPerSecond / 1e9))} GB/s`],
    flopsPerSecond === null ? [] : [`${short(flopsPerSecond / 1e12)} TFLOP/s in bf16`],
  ].flat();
  const whose = source === 'stated' && gpu.device !== null ? `stated; device ${gpu.device.name}` : source;
  const cached = isCached
    ? ' What a step reads can stay in the L2 cache in part, so memory bandwidth sets no limit.'
    : '';
  const products =
    flopsPerSecond === null
      ? ''
      : ` Activations stay f32: a product with a weight takes ${gpu.productsPerWeight} products of bf16, so ${short(flopsPerSecond / gpu.productsPerWeight / 1e12)} TFLOP/s of such products at most.`;
  return `With ${known.join(' and ')} (${whose}).${products}${cached}`;
}

/** What a machine without a GPU can say of the engine, and which runner can say the rest. */
export function noteGpuCheck({ runsOn }: PlanGpu, labels: readonly string[]): string {
  const device = `a GPU that runs its code (of those listed: ${runsOn.join(', ')})`;
  const runner =
    labels.length === 0
      ? ''
      : `; a job for it asks for a runner with the labels ${labels.map((label) => `\`${label}\``).join(', ')}`;
  return [
    `**On a device** only ${device} can say whether the engine is right and how fast it is${runner}.`,
    'Without one, verification compiles it, checks its sources and what its kernels use, and runs their arithmetic in host emulation; the verdict is then "not run on a device".',
  ].join(' ');
}
