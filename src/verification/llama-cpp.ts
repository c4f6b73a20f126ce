import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AppError } from '../model/errors.ts';
import { type EngineClient, startEngine } from './protocol-client.ts';
import type { Limits, Sandbox } from './sandbox.ts';

/** Release and commit of llama.cpp inside @node-llama-cpp/linux-x64 3.22.1. */
export const llamaCppVersion = { release: 'v0.5.0', commit: 'de3ff81' } as const;

const libraries = ['libllama.v0.5.0.so', 'libggml.v0.5.0.so', 'libggml-base.so'];
const driverFiles = ['llama-cpp-driver.cpp', 'llama-cpp-api.h', 'llama-cpp-frames.h'];

/** Folder of the prebuilt libraries, or undefined where the optional package isn't installed (another platform). */
export function findLlamaCpp(from: string = dirname(fileURLToPath(import.meta.url))): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules/@node-llama-cpp/linux-x64/bins/linux-x64');
    if (libraries.every((library) => existsSync(join(candidate, library)))) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The C++ beside this file; `tsc` leaves it in src when it writes dist. */
function sourceFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const candidates = [here, here.replace(/\/dist\/src\//, '/src/')];
  const found = candidates.find((folder) => existsSync(join(folder, driverFiles[0]!)));
  if (found === undefined) throw new AppError('INTERNAL', `${driverFiles[0]} is not beside ${here}`);
  return found;
}

/**
 * Compiles the driver once per source, library folder and compiler flags; later calls find it in `cacheFolder`.
 * Its source is ours, so it is compiled outside the sandbox. Throws BASELINE_UNAVAILABLE where it cannot be built.
 */
export async function buildLlamaCppDriver(
  cacheFolder: string,
  libraryFolder = findLlamaCpp(),
): Promise<string> {
  if (libraryFolder === undefined) {
    throw new AppError(
      'BASELINE_UNAVAILABLE',
      'llama.cpp is not installed: the optional package @node-llama-cpp/linux-x64 is missing (npm ci installs it on Linux x64).',
    );
  }
  const folder = sourceFolder();
  const flags = ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror'];
  const link = [
    `-L${libraryFolder}`,
    ...libraries.map((library) => `-l:${library}`),
    `-Wl,-rpath,${libraryFolder}`,
  ];
  const hash = createHash('sha256').update(JSON.stringify([flags, link]));
  for (const file of driverFiles) hash.update(readFileSync(join(folder, file)));
  const program = join(cacheFolder, `llama-cpp-driver-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  mkdirSync(cacheFolder, { recursive: true });
  const partial = `${program}.${process.pid}`;
  try {
    await promisify(execFile)('g++', [...flags, join(folder, driverFiles[0]!), '-o', partial, ...link]);
  } catch (cause) {
    throw new AppError('BASELINE_UNAVAILABLE', 'the llama.cpp driver does not compile here', { cause });
  }
  renameSync(partial, program);
  return program;
}

export interface LlamaCppOptions {
  /** From buildLlamaCppDriver. */
  readonly program: string;
  readonly ggufPath: string;
  readonly threads: number;
  /** Longest sequence per slot. */
  readonly context: number;
  readonly slots?: number;
  /** llama.cpp's own default is f16; f32 for comparing numbers. */
  readonly kvType: 'f16' | 'f32';
  readonly flashAttention?: 'auto' | 'on' | 'off';
  readonly sandbox: Sandbox;
  readonly limits?: Partial<Limits>;
  readonly timeoutMs?: number;
}

/** Starts the peer and loads the GGUF file. Throws BASELINE_UNAVAILABLE where it doesn't start or load. */
export async function startLlamaCpp(options: LlamaCppOptions): Promise<EngineClient> {
  const libraryFolder = findLlamaCpp();
  if (libraryFolder === undefined) {
    throw new AppError('BASELINE_UNAVAILABLE', 'llama.cpp is not installed');
  }
  const settings = {
    '--backends': libraryFolder,
    '--threads': options.threads,
    '--context': options.context,
    '--slots': options.slots ?? 1,
    '--kv': options.kvType,
    '--flash': options.flashAttention ?? 'auto',
  };
  const client = startEngine({
    command: [options.program, ...Object.entries(settings).flatMap(([name, value]) => [name, String(value)])],
    sandbox: options.sandbox,
    readOnlyPaths: [libraryFolder, options.program, options.ggufPath],
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  try {
    await client.load(options.ggufPath);
    await client.hello();
    return client;
  } catch (cause) {
    client.kill();
    const why = cause instanceof Error ? cause.message : 'no message';
    throw new AppError('BASELINE_UNAVAILABLE', `llama.cpp does not start here: ${why}`, { cause });
  }
}
