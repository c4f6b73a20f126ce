import { z } from 'zod';
import type { Platform } from '../model/catalog.ts';
import { MeasuredDevice } from '../model/platform-facts.ts';
import type { Problem } from '../model/problem.ts';
import { readYamlFile } from './contract-folder.ts';
import { findGpuContradictions, GpuSection, toGpuPlatform } from './gpu-platform.ts';
import type { Tree } from './read-tree.ts';

export const PlatformFile = z.strictObject({
  id: z.string().regex(/^[a-z0-9_-]+$/),
  summary: z.string().min(10),
  compilers: z.array(z.strictObject({ command: z.string().min(1), minimum_major: z.int().min(1) })).min(1),
  flags: z.array(z.string().startsWith('-')).min(1),
  never: z.array(z.strictObject({ flag: z.string().startsWith('-'), because: z.string().min(10) })),
  archs: z.record(
    z.string().regex(/^[a-z0-9_-]+$/),
    z.strictObject({
      summary: z.string().min(5),
      flags: z.array(z.string().startsWith('-')),
      /** f32 lanes of one host vector; 1 where device code does the work. */
      vector_width: z.union([z.literal(1), z.literal(4), z.literal(8), z.literal(16)]),
      cpu_flags: z.array(z.string().min(1)),
    }),
  ),
  gpu: GpuSection.optional(),
  /** Devices that verified runs measured; facts of what is there, no promise. */
  measured: z.array(MeasuredDevice).optional(),
  sources: z.array(z.string()).min(1),
});
type PlatformFile = z.infer<typeof PlatformFile>;

/** knowledge/platforms/<id>.yaml. A flag that stands under `never` may not be used. */
export function loadPlatforms(tree: Tree): {
  readonly platforms: readonly Platform[];
  readonly problems: readonly Problem[];
} {
  const platforms: Platform[] = [];
  const problems: Problem[] = [];
  for (const file of tree.values()) {
    if (!file.path.startsWith('platforms/')) continue;
    const read = readYamlFile(file, PlatformFile);
    problems.push(...read.problems);
    if (read.value === undefined || read.yaml === undefined) continue;
    const { locate } = read.yaml;
    const tell = (code: string, path: readonly (string | number)[], message: string): number =>
      problems.push({
        severity: 'error',
        code,
        file: file.path,
        ...locate(path),
        path: path.join('.'),
        message,
      });
    const { id } = read.value;
    if (file.path !== `platforms/${id}.yaml`)
      tell('id-not-file', ['id'], `expected the file name ${id}.yaml`);
    for (const { path, message } of findContradictions(read.value)) tell('contradicting-fact', path, message);
    platforms.push(toPlatform(read.value));
  }
  return { platforms, problems };
}

function findContradictions(
  file: PlatformFile,
): { readonly path: readonly (string | number)[]; readonly message: string }[] {
  const { archs, flags, never, gpu } = file;
  const written = [...flags, ...Object.values(archs).flatMap((arch) => arch.flags), ...(gpu?.flags ?? [])];
  const used = written.flatMap(unwrapFlag);
  const lanes = Object.entries(archs).filter(([, arch]) => (arch.vector_width === 1) !== (gpu !== undefined));
  return [
    ...never
      .filter(({ flag }) => used.includes(flag))
      .map(({ flag }) => ({ path: ['never'], message: `${flag} is both used and under never` })),
    ...lanes.map(([name]) => ({
      path: ['archs', name, 'vector_width'],
      message: 'a platform with gpu has one lane, and no other has',
    })),
    ...(gpu === undefined ? [] : findGpuContradictions(gpu, Object.keys(archs))),
  ];
}

/** The flag, and those that nvcc hands on: `-Xcompiler=-Wall,-O3` holds -Wall and -O3. */
function unwrapFlag(flag: string): readonly string[] {
  const inner = /^-(?:Xcompiler|Xptxas|Xlinker)=(.+)$/.exec(flag)?.[1];
  return inner === undefined ? [flag] : [flag, ...inner.split(',')];
}

function toPlatform({ id, archs, compilers, flags, gpu, measured }: PlatformFile): Platform {
  return {
    id,
    archs: Object.fromEntries(
      Object.entries(archs).map(([name, arch]) => [
        name,
        { flags: arch.flags, vectorWidth: arch.vector_width, cpuFlags: arch.cpu_flags },
      ]),
    ),
    compilers: compilers.map((entry) => entry.command),
    compilerMinimums: Object.fromEntries(compilers.map((entry) => [entry.command, entry.minimum_major])),
    flags,
    ...(gpu === undefined ? {} : { gpu: toGpuPlatform(gpu) }),
    ...(measured === undefined ? {} : { measured }),
  };
}
