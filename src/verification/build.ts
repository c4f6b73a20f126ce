import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { sanitizeFlags } from './compile-recipe.ts';
import { type BuildRequest, compileSource, type ObjectFile, publish, sha256 } from './compile-source.ts';
import { type KernelResources, readResources } from './cuda-resources.ts';
import type { Diagnostic } from './diagnostics.ts';
import { isElf } from './elf-file.ts';
import { mapParallel } from './parallel.ts';
import { explainRun, inScratch, requireElf, runTool } from './run-tool.ts';
import { runSandboxed } from './sandboxed-process.ts';
import type { Toolchain } from './toolchain.ts';

export { explainRun, inScratch, runTool } from './run-tool.ts';
export type { Toolchain };

export interface BuildResult {
  /** Absent where the build failed. */
  readonly binary: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly compiled: number;
  readonly cached: number;
  readonly seconds: number;
  /** What each kernel uses on each architecture; empty but for a device. */
  readonly resources: readonly KernelResources[];
}

async function link(
  toolchain: Toolchain,
  request: BuildRequest,
  objects: readonly ObjectFile[],
  scratch: string,
) {
  const flags = request.sanitize ? sanitizeFlags : [];
  const cuda = request.target === 'device' ? toolchain.cuda : undefined;
  const runtime = cuda === undefined ? [] : [cuda.runtimeLibrary, '-ldl', '-lrt', '-lpthread'];
  const keyParts = cuda === undefined ? [] : ['device', cuda.version];
  const key = sha256(toolchain.version, ...keyParts, ...flags, ...objects.map((object) => object.key));
  const binary = join(toolchain.cacheFolder, `${key}.bin`);
  if (isElf(binary, 'program')) return { binary, diagnostics: [] };
  const output = join(scratch, 'linked');
  const inputs = objects.map((object) => object.path);
  const command = [toolchain.compiler, '-pthread', ...flags, ...inputs, ...runtime, '-o', output];
  const access = { readOnlyPaths: cuda === undefined ? [] : [cuda.folder], programFolders: [] };
  const end = await runTool(toolchain, request.folder, scratch, command, access);
  if (end.exitCode !== 0 || end.reason !== 'exit')
    return {
      binary: undefined,
      diagnostics: explainRun(toolchain, request.folder, scratch, { end, what: 'link' }),
    };
  requireElf(output, 'program', toolchain.compiler, 'the linked objects');
  publish(output, binary);
  return { binary, diagnostics: [] };
}

export function compileAll(
  toolchain: Toolchain,
  request: BuildRequest,
  scratch: string,
): Promise<readonly ObjectFile[]> {
  return mapParallel(request.sources, toolchain.jobs, (source) =>
    compileSource(toolchain, request, source, scratch),
  );
}

/** Compiles each source by itself and links nothing; the objects stay in the cache for the build that follows. */
export function compileSources(toolchain: Toolchain, request: BuildRequest): Promise<readonly Diagnostic[]> {
  return inScratch(toolchain, async (scratch) => {
    const objects = await compileAll(toolchain, request, scratch);
    return objects.flatMap((object) => object.diagnostics);
  });
}

/** Compiles and links inside the sandbox; what was compiled before with the same bytes comes from the cache. */
export async function buildProgram(toolchain: Toolchain, request: BuildRequest): Promise<BuildResult> {
  const started = performance.now();
  return inScratch(toolchain, async (scratch) => {
    const objects = await compileAll(toolchain, request, scratch);
    const diagnostics = objects.flatMap((object) => object.diagnostics);
    const linked = diagnostics.length === 0 ? await link(toolchain, request, objects, scratch) : undefined;
    const cached = objects.filter((object) => object.cached).length;
    return {
      binary: linked?.binary,
      diagnostics: [...diagnostics, ...(linked?.diagnostics ?? [])],
      compiled: objects.length - cached,
      cached,
      seconds: (performance.now() - started) / 1000,
      resources: objects.flatMap(({ source, resources }) => readResources(source, resources)),
    };
  });
}

/** Finds the compiler and what it calls itself. */
export async function findToolchain(options: Omit<Toolchain, 'version'>): Promise<Toolchain> {
  if (!existsSync(options.compiler))
    throw new AppError('TOOL_MISSING', `${options.compiler} is not installed (Debian: apt install g++).`);
  const end = await runSandboxed({
    sandbox: options.sandbox,
    command: [options.compiler, '--version'],
    readOnlyPaths: [],
    environment: { LC_ALL: 'C' },
  });
  const version = end.stdout.toString('utf8').split('\n')[0] ?? '';
  if (end.exitCode !== 0 || version === '')
    throw new AppError('TOOL_MISSING', `${options.compiler} does not run here.`);
  return { ...options, version };
}
