import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import type { ToolAccess } from './run-tool.ts';
import type { CudaToolchain, Toolchain } from './toolchain.ts';

/** What a program is built for. Sources in C++ become the same objects for all of them. */
export type BuildTarget = 'host' | 'device' | 'emulation';

/** How one source becomes an object. */
export interface CompileRecipe {
  /** Whatever besides the texts decides what the object holds. */
  readonly keyParts: readonly string[];
  /** Up to the source and its output. */
  readonly command: readonly string[];
  /** Before the folder that messages and objects shall not name. */
  readonly mapPrefix: string;
  readonly access?: ToolAccess;
  /** A header that is taken from elsewhere than the folder of the sources, which are therefore copied without it. */
  readonly replaced?: string;
  /** Whether the compiler tells what each kernel uses. */
  readonly tellsResources: boolean;
}

export const baseFlags = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread'] as const;
// -O1 halves the time of this build. -g1: a sanitizer's report names file and line.
export const sanitizeFlags = [
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
  '-fno-omit-frame-pointer',
  '-g1',
  '-O1',
];

/** @throws AppError INTERNAL where a .cu source is to be compiled and nothing says how */
export function recipeFor(
  toolchain: Toolchain,
  source: string,
  { target, sanitize }: { readonly target: BuildTarget; readonly sanitize: boolean },
): CompileRecipe {
  if (!source.endsWith('.cu')) return hostRecipe(toolchain, sanitize);
  if (toolchain.cuda === undefined || target === 'host')
    throw new AppError('INTERNAL', `${source} cannot be compiled for the host alone.`);
  if (target === 'emulation') return emulationRecipe(toolchain, toolchain.cuda, sanitize);
  if (sanitize) throw new AppError('INTERNAL', 'There is no sanitized build for a device.');
  return deviceRecipe(toolchain, toolchain.cuda);
}

const plainMessages = '-fdiagnostics-color=never';

function hostRecipe({ compiler, version, flags }: Toolchain, sanitize: boolean): CompileRecipe {
  const all = [...baseFlags, ...flags, ...(sanitize ? sanitizeFlags : [])];
  return {
    keyParts: [version, ...all],
    command: [compiler, ...all, plainMessages],
    mapPrefix: '-ffile-prefix-map=',
    tellsResources: false,
  };
}

/** Every architecture at once: an object that lacks one would fail only on a machine that has it. */
function deviceRecipe(host: Toolchain, cuda: CudaToolchain): CompileRecipe {
  const flags = [
    ...cuda.flags,
    ...cuda.architectures.flatMap((name) => ['-gencode', `arch=compute_${name},code=sm_${name}`]),
  ];
  return {
    keyParts: ['device', host.version, cuda.version, ...flags],
    command: [cuda.compiler, '-ccbin', host.compiler, ...flags],
    mapPrefix: '-Xcompiler=-ffile-prefix-map=',
    access: { readOnlyPaths: [cuda.folder], programFolders: [join(cuda.folder, 'bin')] },
    tellsResources: true,
  };
}

/** What the harness has in place of an engine's own header of the same name. */
export const emulatedHeader = 'cuda_instructions.h';

function emulationRecipe(host: Toolchain, cuda: CudaToolchain, sanitize: boolean): CompileRecipe {
  const { emulationFolder } = cuda;
  const base = hostRecipe(host, sanitize);
  // Its headers are system headers: warnings are about the engine's code. `#pragma unroll` is nvcc's own.
  const extra = ['-Wno-unknown-pragmas', '-x', 'c++', '-isystem', emulationFolder];
  return {
    keyParts: ['emulation', ...base.keyParts, ...extra.slice(0, -1), ...readHeaders(emulationFolder)],
    command: [...base.command, ...extra],
    mapPrefix: base.mapPrefix,
    access: { readOnlyPaths: [emulationFolder], programFolders: [] },
    replaced: emulatedHeader,
    tellsResources: false,
  };
}

/** Names and texts: one changed header of the emulation means that all is compiled again. */
function readHeaders(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => entry.name)
    .sort()
    .flatMap((name) => [name, readFileSync(join(folder, name), 'utf8')]);
}
