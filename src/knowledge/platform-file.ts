import { z } from 'zod';
import type { Platform } from '../model/catalog.ts';
import type { Problem } from '../model/problem.ts';
import { readYamlFile } from './contract-folder.ts';
import type { Tree } from './read-tree.ts';

const PlatformFile = z.strictObject({
  id: z.string().regex(/^[a-z0-9_-]+$/),
  summary: z.string().min(10),
  compilers: z.array(z.strictObject({ command: z.string().min(1), minimum_major: z.int().min(1) })).min(1),
  flags: z.array(z.string().startsWith('-')).min(1),
  never: z.array(z.strictObject({ flag: z.string().startsWith('-'), because: z.string().min(10) })),
  archs: z.record(
    z.string().regex(/^[a-z0-9-]+$/),
    z.strictObject({
      summary: z.string().min(5),
      flags: z.array(z.string().startsWith('-')),
      vector_width: z.union([z.literal(4), z.literal(8), z.literal(16)]),
      cpu_flags: z.array(z.string().min(1)),
    }),
  ),
  sources: z.array(z.string()).min(1),
});

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
    const { id, archs, compilers, flags, never } = read.value;
    if (file.path !== `platforms/${id}.yaml`) {
      problems.push({
        severity: 'error',
        code: 'id-not-file',
        file: file.path,
        ...read.yaml.locate(['id']),
        path: 'id',
        message: `expected the file name ${id}.yaml`,
      });
    }
    const used = [...flags, ...Object.values(archs).flatMap((arch) => arch.flags)];
    for (const entry of never.filter((candidate) => used.includes(candidate.flag))) {
      problems.push({
        severity: 'error',
        code: 'contradicting-fact',
        file: file.path,
        ...read.yaml.locate(['never']),
        path: 'never',
        message: `${entry.flag} is both used and under never`,
      });
    }
    platforms.push({
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
    });
  }
  return { platforms, problems };
}
