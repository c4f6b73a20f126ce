import { productsPerWeight } from '../model/arithmetic.ts';
import type { GpuDevice, GpuPlatform } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import type { DeviceRates, PlanGpu } from '../model/plan.ts';

/** What the vendor states of a device; nothing where none is named. */
export function statedRates(device: GpuDevice | undefined): DeviceRates {
  if (device === undefined) return { bytesPerSecond: null, flopsPerSecond: null, source: 'unknown' };
  const { bytesPerSecond, bf16FlopsPerSecond: flopsPerSecond } = device;
  return { bytesPerSecond, flopsPerSecond, source: 'stated' };
}

export function planGpu(
  constraints: Constraints,
  { devices }: GpuPlatform,
  named: GpuDevice | undefined,
): PlanGpu {
  const { arch } = constraints.hardware;
  return {
    device: named === undefined ? null : { id: named.id, name: named.name, memoryBytes: named.memoryBytes },
    runsOn: devices.filter((device) => device.arch === arch).map(({ id }) => id),
    productsPerWeight: productsPerWeight(constraints),
  };
}
