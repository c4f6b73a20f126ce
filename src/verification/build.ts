import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { explain } from './compiler-end.ts';
import type { Diagnostic } from './diagnostics.ts';
import { pruneConfig, readTransitive } from './object-key.ts';
import { mapParallel } from './parallel.ts';
import { defaultLimits, type Limits, type Sandbox } from './sandbox.ts';
import { type ProcessEnd, runSandboxed } from './sandboxed-process.ts';

/** How this run compiles: one compiler, one cache, one sandbox. */
export interface Toolchain {
  /** Absolute path of g++. */
  readonly compiler: string;
  /** First line of `g++ --version`. */
  readonly version: string;
  /** Of the platform, e.g. `-mavx2 -mfma -mf16c`. */
  readonly flags: readonly string[];
  readonly cacheFolder: string;
  readonly jobs: number;
  readonly sandbox: Sandbox;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}

export interface BuildRequest {
  /** Folder with every source and header. */
  readonly folder: string;
  /** The .cpp files, relative to it. */
  readonly sources: readonly string[];
  /** AddressSanitizer and UndefinedBehaviorSanitizer, ending at the first fault. */
  readonly sanitize: boolean;
}

export interface BuildResult {
  /** Absent where the build failed. */
  readonly binary: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly compiled: number;
  readonly cached: number;
  readonly seconds: number;
}

export const baseFlags = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread'] as const;
// -O1 halves the time of this build. -g1: a sanitizer's report names file and line.
const sanitizeFlags = [
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
  '-fno-omit-frame-pointer',
  '-g1',
  '-O1',
];

const compileLimits: Partial<Limits> = {
  wallSeconds: 300,
  cpuSeconds: 300,
  memoryBytes: 3 * 2 ** 30,
  processes: 16,
  fileBytes: 256 * 2 ** 20,
  outputBytes: 2 * 2 ** 20,
  pollMs: 250,
};

function sha256(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}\n`).update(part);
  return hash.digest('hex');
}

export function runTool(
  toolchain: Toolchain,
  folder: string,
  scratch: string,
  command: readonly string[],
): Promise<ProcessEnd> {
  return runSandboxed({
    sandbox: toolchain.sandbox,
    command,
    readOnlyPaths: [folder, toolchain.cacheFolder],
    scratch,
    // g++ finds its assembler and linker by PATH; TMPDIR keeps its files in the scratch folder.
    environment: { PATH: '/usr/bin', LC_ALL: 'C', TMPDIR: scratch },
    limits: { ...compileLimits, ...toolchain.limits },
    ...(toolchain.signal === undefined ? {} : { signal: toolchain.signal }),
  });
}

/** The ends of compiler and linker, in a folder and with these limits, as what they say about the code. */
export function explainRun(
  toolchain: Toolchain,
  folder: string,
  scratch: string,
  { end, what }: { readonly end: ProcessEnd; readonly what: string },
): Diagnostic[] {
  const { memoryBytes } = { ...defaultLimits, ...compileLimits, ...toolchain.limits };
  return explain(end, { what, memoryBytes, folders: [folder, scratch, toolchain.cacheFolder] });
}

export interface ObjectFile {
  readonly path: string;
  readonly key: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly cached: boolean;
}

/** Two builds at once that need the same object wait for one compilation. */
const compiling = new Map<string, Promise<ObjectFile>>();

async function compileOne(
  toolchain: Toolchain,
  request: BuildRequest,
  source: string,
  scratch: string,
): Promise<ObjectFile> {
  const flags = [...baseFlags, ...toolchain.flags, ...(request.sanitize ? sanitizeFlags : [])];
  const texts = readTransitive(request.folder, source);
  if (!texts.has(source)) throw changedMeanwhile(source);
  const key = sha256(toolchain.version, ...flags, source, ...[...pruneConfig(texts)].flat());
  const path = join(toolchain.cacheFolder, `${key}.o`);
  if (existsSync(path)) return { path, key, diagnostics: [], cached: true };
  const started =
    compiling.get(path) ?? runCompiler(toolchain, request, source, flags, { path, key, scratch, texts });
  compiling.set(path, started);
  return started.finally(() => compiling.delete(path));
}

async function runCompiler(
  toolchain: Toolchain,
  request: BuildRequest,
  source: string,
  flags: readonly string[],
  target: {
    readonly path: string;
    readonly key: string;
    readonly scratch: string;
    readonly texts: ReadonlyMap<string, string>;
  },
): Promise<ObjectFile> {
  const { path, key, scratch, texts } = target;
  const output = join(scratch, `${basename(source)}-${key.slice(0, 8)}.o`);
  // Relative names in messages and in the object: the folder's place must not change the bytes.
  const map = `-ffile-prefix-map=${request.folder}/=`;
  const from = join(request.folder, source);
  const command = [toolchain.compiler, ...flags, map, '-fdiagnostics-color=never', '-c', from, '-o', output];
  const end = await runTool(toolchain, request.folder, scratch, command);
  // Else the object would be another text's, or the complaint would be about what no longer stands there.
  if (!isSameText(texts, readTransitive(request.folder, source))) throw changedMeanwhile(source);
  if (end.exitCode === 0 && end.reason === 'exit') {
    publish(output, path);
    return { path, key, diagnostics: [], cached: false };
  }
  const diagnostics = explainRun(toolchain, request.folder, scratch, { end, what: source });
  return { path, key, diagnostics, cached: false };
}

function isSameText(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean {
  return before.size === after.size && [...before].every(([file, text]) => after.get(file) === text);
}

function changedMeanwhile(source: string): AppError {
  return new AppError(
    'ENGINE_INVALID',
    `${source}, or a header that it includes, was changed or taken away while it was compiled: run again.`,
  );
}

/** Into the cache by rename, so that a reader never sees half a file. */
function publish(from: string, to: string): void {
  const partial = `${to}.${process.pid}.${Math.round(performance.now() * 1000)}.part`;
  copyFileSync(from, partial);
  renameSync(partial, to);
}

async function link(
  toolchain: Toolchain,
  request: BuildRequest,
  objects: readonly ObjectFile[],
  scratch: string,
) {
  const flags = request.sanitize ? sanitizeFlags : [];
  const key = sha256(toolchain.version, ...flags, ...objects.map((object) => object.key));
  const binary = join(toolchain.cacheFolder, `${key}.bin`);
  if (existsSync(binary)) return { binary, diagnostics: [] };
  const output = join(scratch, 'linked');
  const inputs = objects.map((object) => object.path);
  const end = await runTool(toolchain, request.folder, scratch, [
    ...[toolchain.compiler, '-pthread', ...flags],
    ...inputs,
    ...['-o', output],
  ]);
  if (end.exitCode !== 0 || end.reason !== 'exit')
    return {
      binary: undefined,
      diagnostics: explainRun(toolchain, request.folder, scratch, { end, what: 'link' }),
    };
  publish(output, binary);
  return { binary, diagnostics: [] };
}

export function compileAll(
  toolchain: Toolchain,
  request: BuildRequest,
  scratch: string,
): Promise<readonly ObjectFile[]> {
  return mapParallel(request.sources, toolchain.jobs, (source) =>
    compileOne(toolchain, request, source, scratch),
  );
}

export async function inScratch<Result>(
  toolchain: Toolchain,
  work: (scratch: string) => Promise<Result>,
): Promise<Result> {
  mkdirSync(toolchain.cacheFolder, { recursive: true });
  const scratch = mkdtempSync(join(toolchain.cacheFolder, 'scratch-'));
  try {
    return await work(scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
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
