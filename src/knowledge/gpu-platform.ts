import { z } from 'zod';
import type { GpuDevice, GpuPlatform } from '../model/catalog.ts';

const measures = z.strictObject({
  memory_gb: z.number().positive(),
  bandwidth_gb_per_s: z.number().positive(),
  bf16_tflops: z.number().positive(),
  l2_mib: z.number().positive(),
  shared_kib_per_block: z.int().min(48),
  multiprocessors: z.int().min(1),
});

/** `gpu:` of knowledge/platforms/<id>.yaml: the compiler of device code, and what is known of the devices. */
export const GpuSection = z.strictObject({
  compiler: z.strictObject({ command: z.string().min(1), minimum_major: z.int().min(1) }),
  flags: z.array(z.string().startsWith('-')).min(1),
  limits: z.strictObject({
    registers_per_thread: z.int().min(1).max(255),
    spill_bytes: z.int().min(0),
    static_shared_bytes: z.int().min(0).max(49_152),
  }),
  devices: z
    .array(
      measures.extend({
        id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
        name: z.string().min(3),
        arch: z.string().min(1),
        /** Keys of the section's `sources`. */
        sources: z.array(z.string().min(1)).min(1),
        /** Measures from recollection. */
        unverified: z.array(measures.keyof()),
      }),
    )
    .min(1),
  sources: z.record(z.string().regex(/^[a-z0-9-]+$/), z.string().min(10)),
});
export type GpuSection = z.infer<typeof GpuSection>;

export function toGpuPlatform({ compiler, flags, limits, devices }: GpuSection): GpuPlatform {
  return {
    compiler: { command: compiler.command, minimumMajor: compiler.minimum_major },
    flags,
    limits: {
      registersPerThread: limits.registers_per_thread,
      spillBytes: limits.spill_bytes,
      sharedBytesPerBlock: limits.static_shared_bytes,
    },
    devices: devices.map(toDevice),
  };
}

/** Data sheets count memory and rates in powers of ten, caches in powers of two. */
function toDevice(device: GpuSection['devices'][number]): GpuDevice {
  return {
    id: device.id,
    name: device.name,
    arch: device.arch,
    memoryBytes: Math.round(device.memory_gb * 1e9),
    bytesPerSecond: device.bandwidth_gb_per_s * 1e9,
    bf16FlopsPerSecond: device.bf16_tflops * 1e12,
    l2Bytes: Math.round(device.l2_mib * 2 ** 20),
    sharedBytesPerBlock: device.shared_kib_per_block * 2 ** 10,
    multiprocessors: device.multiprocessors,
  };
}

/** What contradicts itself inside the section, with the field that is to blame. */
export function findGpuContradictions(
  { devices, limits, sources }: GpuSection,
  archs: readonly string[],
): { readonly path: readonly (string | number)[]; readonly message: string }[] {
  const ids = devices.map(({ id }) => id);
  const cited = new Set(devices.flatMap((device) => device.sources));
  const ofDevices = devices.flatMap((device, index) => {
    const place = (key: string) => ['gpu', 'devices', index, key] as const;
    const unknown = device.sources.filter((source) => !Object.hasOwn(sources, source));
    return [
      ...(ids.indexOf(device.id) === index
        ? []
        : [{ path: place('id'), message: `${device.id} is listed twice` }]),
      ...(archs.includes(device.arch)
        ? []
        : [{ path: place('arch'), message: `${device.arch} is not one of the archs: ${archs.join(', ')}` }]),
      ...unknown.map((source) => ({ path: place('sources'), message: `no source is called ${source}` })),
      ...(device.shared_kib_per_block * 2 ** 10 >= limits.static_shared_bytes
        ? []
        : [{ path: place('shared_kib_per_block'), message: 'less than the limit of a kernel' }]),
    ];
  });
  const unused = Object.keys(sources).filter((source) => !cited.has(source));
  return [
    ...ofDevices,
    ...unused.map((source) => ({
      path: ['gpu', 'sources', source] as const,
      message: 'no device cites this source',
    })),
  ];
}
