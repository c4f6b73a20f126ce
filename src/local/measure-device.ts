import { computeArithmetic } from '../model/arithmetic.ts';
import type { Platform } from '../model/catalog.ts';
import type { DeviceRates } from '../model/plan.ts';
import type { Request } from '../preparation/read-request.ts';
import { buildBandwidthProgram, measureRates } from '../verification/bandwidth.ts';
import { bandwidthFor } from '../verification/physics.ts';

/** Measures this machine for a plan: read bandwidth at the model's own working-set size, and multiply-add rate. */
export async function measureDevice(
  request: Request,
  platform: Platform,
  cacheFolder: string,
): Promise<DeviceRates> {
  const { constraints, model } = request;
  const flags = platform.archs[constraints.hardware.arch]?.flags ?? [];
  const program = await buildBandwidthProgram(cacheFolder, flags);
  const workingSet = computeArithmetic(model.facts, constraints).weightBytesPerStep;
  const rates = await measureRates(program, constraints.hardware.threads, workingSet);
  return {
    bytesPerSecond: bandwidthFor(rates, workingSet, 'best') ?? null,
    flopsPerSecond: rates.best_flops_per_second,
    source: 'measured',
  };
}
