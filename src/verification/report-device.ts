import type { Report, ReportDevice } from '../model/report.ts';
import { type CudaDevice, queryDevices } from './cuda-devices.ts';
import type { Toolchain } from './toolchain.ts';

function bytesOf(memory: string): number {
  const mebibytes = /^(\d+) MiB$/.exec(memory)?.[1];
  return Number(mebibytes ?? 0) * 2 ** 20;
}

/** The GPU that engines run on: the first, which is the one that CUDA gives a process. Null without one. */
export async function readDevice(
  { cuda }: Pick<Toolchain, 'cuda'>,
  query: () => Promise<readonly CudaDevice[] | undefined> = queryDevices,
): Promise<ReportDevice | null> {
  if (cuda?.mode !== 'device') return null;
  const device = (await query())?.[0];
  if (device === undefined) return null;
  const { name, driver, computeCapability, memory } = device;
  return { name, driver, computeCapability, memoryBytes: bytesOf(memory) };
}

/** What a report says of how the parts for a GPU were compiled and where they ran; nothing of an engine without. */
export function describeCuda(
  { cuda }: Pick<Toolchain, 'cuda'>,
  device: ReportDevice | null,
): Pick<Report['environment'], 'cuda'> {
  if (cuda === undefined) return {};
  const architectures = cuda.architectures.map((name) => `sm_${name}`);
  return { cuda: { compiler: cuda.version, flags: [...cuda.flags, ...architectures], device } };
}
