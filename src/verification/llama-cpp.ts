import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../model/errors.ts';
import { buildNativeProgram } from './bench-program.ts';
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

/** Throws BASELINE_UNAVAILABLE where the driver cannot be built. */
export async function buildLlamaCppDriver(
  cacheFolder: string,
  libraryFolder: string | undefined,
): Promise<string> {
  if (libraryFolder === undefined) {
    throw new AppError(
      'BASELINE_UNAVAILABLE',
      'llama.cpp is not installed: the optional package @node-llama-cpp/linux-x64 is missing (npm ci installs it on Linux x64).',
    );
  }
  return buildNativeProgram({
    cacheFolder,
    name: 'llama-cpp-driver',
    files: driverFiles,
    flags: ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror'],
    link: [
      `-L${libraryFolder}`,
      ...libraries.map((library) => `-l:${library}`),
      `-Wl,-rpath,${libraryFolder}`,
    ],
    code: 'BASELINE_UNAVAILABLE',
  });
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
  readonly signal?: AbortSignal;
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
    ...(options.signal === undefined ? {} : { signal: options.signal }),
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
