import type { GpuDevice, Platform } from '../model/catalog.ts';
import { nearestName } from '../model/nearest-name.ts';
import type { Problem } from '../model/problem.ts';
import { showBytes } from '../model/show-bytes.ts';
import type { PartialConstraints } from './partial-constraints.ts';
import { showText } from './problem-list.ts';

/** What a device may be compiled for, best first; knowledge/platforms says how to compile for each. */
export const archsOf: Readonly<Record<string, readonly string[]>> = {
  'cpu-x86_64': ['x86-64', 'avx2', 'avx512'],
  cuda: ['sm_80', 'sm_90'],
};

/** Words for a GPU's arch, without blanks, dashes and underscores: generations, devices and compute capabilities. */
const cudaArchWords: readonly (readonly [string, RegExp])[] = [
  ['sm_90', /^(?:hopper|g?h[12]00.*|(?:sm|compute|cc)?9\.?0a?)$/],
  [
    'sm_80',
    /^(?:ampere|ada(?:lovelace)?|a(?:100.*|10|30|40)|l4|l40s?|(?:geforce)?(?:rtx)?[34]0[6-9]0.*|(?:sm|compute|cc)?8\.?[0679])$/,
  ],
];

type Fault = Pick<Problem, 'code' | 'path' | 'message'> & { readonly suggestion?: string };
type Hardware = NonNullable<PartialConstraints['hardware']>;

/** Rules of the section `hardware`: what each platform takes, and what a named device can run and hold. */
export function checkHardware(
  { hardware }: PartialConstraints,
  platforms: readonly Pick<Platform, 'id' | 'gpu'>[],
): Fault[] {
  if (hardware?.platform === undefined) return [];
  const gpu = platforms.find(({ id }) => id === hardware.platform)?.gpu;
  return [
    ...checkThreads(hardware),
    ...checkArch(hardware),
    ...(gpu === undefined ? refuseDevice(hardware) : checkDevice(hardware, gpu.devices)),
  ];
}

/** A GPU engine uses few host threads and has a default; on a processor their number decides its speed. */
function checkThreads({ platform, threads }: Hardware): Fault[] {
  if (threads !== undefined || platform === 'cuda') return [];
  const path = 'hardware.threads';
  const message = `${path} is missing; expected a whole number from 1 to 1024.`;
  return [{ code: 'missing-key', path, message }];
}

function checkArch({ platform, arch }: Hardware): Fault[] {
  const known = archsOf[platform ?? ''];
  if (arch === undefined || known === undefined || known.includes(arch)) return [];
  const what = platform === 'cuda' ? 'GPU architecture' : 'instruction set';
  const message = `unknown ${what} "${showText(arch)}"; expected one of ${known.join(', ')} on ${platform}.`;
  const fault = { code: 'unknown-value', path: 'hardware.arch', message };
  const meant = suggestArch(platform!, arch);
  return [meant === undefined ? fault : { ...fault, suggestion: `Did you mean ${meant}?` }];
}

/** The arch that was probably meant. */
export function suggestArch(platform: string, written: string): string | undefined {
  if (platform !== 'cuda')
    return /^avx-?512/i.test(written) ? 'avx512' : nearestName(written, archsOf[platform] ?? []);
  const folded = written.toLowerCase().replace(/[\s_-]|nvidia/g, '');
  // No near names here: one digit further is another generation.
  return cudaArchWords.find(([, words]) => words.test(folded))?.[0];
}

function refuseDevice({ platform, device }: Hardware): Fault[] {
  // A reserved platform is not covered at all, and is told so.
  if (device === undefined || platform !== 'cpu-x86_64') return [];
  const message = `a device belongs to a GPU platform; expected no hardware.device on ${platform}.`;
  const suggestion = 'Remove it, or write platform: cuda.';
  return [{ code: 'device-unused', path: 'hardware.device', message, suggestion }];
}

function checkDevice({ arch, device: id, memory }: Hardware, devices: readonly GpuDevice[]): Fault[] {
  if (id === undefined) return [];
  const device = devices.find((candidate) => candidate.id === id);
  if (device === undefined) return [unknownDevice(id, devices)];
  const isRunnable = arch === undefined || arch === device.arch || !archsOf.cuda!.includes(arch);
  const isTooMuch = memory !== undefined && memory > device.memoryBytes;
  return [
    ...(isRunnable ? [] : [notRunnable(device, arch)]),
    ...(isTooMuch ? [moreThanDevice(device, memory)] : []),
  ];
}

function unknownDevice(written: string, devices: readonly GpuDevice[]): Fault {
  const ids = devices.map(({ id }) => id);
  const message = `unknown device "${showText(written)}"; expected one of ${ids.join(', ')}, or no device: then the plan knows no rates.`;
  const meant = suggestDevice(written, ids);
  const suggestion = meant === undefined ? {} : { suggestion: `Did you mean ${meant}?` };
  return { code: 'unknown-value', path: 'hardware.device', message, ...suggestion };
}

/** `NVIDIA-H100-80GB` and `4090` mean what stands in them, or what they stand in. */
function suggestDevice(written: string, ids: readonly string[]): string | undefined {
  const words = written.toLowerCase().split(/[^a-z0-9]+/);
  return (
    nearestName(written, ids) ??
    ids.find((id) => words.includes(id) || words.some((word) => word.length > 2 && id.includes(word)))
  );
}

function notRunnable(device: GpuDevice, arch: string): Fault {
  const message = `${device.id} (${device.name}) cannot run code for ${arch}; expected ${device.arch} for this device.`;
  const suggestion = `Write arch: ${device.arch}, or leave it out.`;
  return { code: 'arch-not-runnable', path: 'hardware.arch', message, suggestion };
}

function moreThanDevice(device: GpuDevice, memory: number): Fault {
  const message = `found ${showBytes(memory)}; expected at most ${showBytes(device.memoryBytes)}, the memory of ${device.id} (${device.memoryBytes / 1e9} GB).`;
  return { code: 'memory-over-device', path: 'hardware.memory', message };
}
