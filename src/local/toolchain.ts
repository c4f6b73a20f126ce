import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import type { PreparedEngine } from '../preparation/prepare-engine.ts';
import { buildProgram, findToolchain, type Toolchain } from '../verification/build.ts';
import { probeSandbox } from '../verification/sandbox.ts';
import { requireTrustedCode } from './foreign-files.ts';

/**
 * How this machine compiles and runs the engine in `folder`; undefined where the code is the caller's own composition.
 * @throws AppError TOOL_MISSING where g++ is absent or too old, SANDBOX_UNAVAILABLE for foreign code without a sandbox
 */
export async function openToolchain(
  prepared: PreparedEngine,
  folder: string | undefined,
  options: { readonly cacheFolder: string; readonly sandbox: 'auto' | 'off'; readonly signal: AbortSignal },
): Promise<Toolchain> {
  const { arch } = prepared.request.constraints.hardware;
  const sandbox = probeSandbox(options.sandbox);
  if (folder !== undefined) await requireTrustedCode(prepared, folder, sandbox);
  const toolchain = await findToolchain({
    compiler: '/usr/bin/g++',
    flags: prepared.platform.archs[arch]?.flags ?? [],
    cacheFolder: join(options.cacheFolder, 'objects'),
    jobs: 2,
    sandbox,
    signal: options.signal,
  });
  const major = Number(/(\d+)\.\d+/.exec(toolchain.version.replace(/\(.*?\)/, ''))?.[1] ?? 0);
  if (major < 12)
    throw new AppError('TOOL_MISSING', `${toolchain.version} is too old; g++ 12 or newer is needed.`);
  return toolchain;
}

/** The engine's binary, compiled or from the cache. @throws AppError ENGINE_INVALID with the compiler's first errors */
export async function buildBinary(folder: string, toolchain: Toolchain): Promise<string> {
  const sources = (await readdir(folder)).filter((file) => file.endsWith('.cpp')).sort();
  const { binary, diagnostics } = await buildProgram(toolchain, { folder, sources, sanitize: false });
  if (binary !== undefined) return binary;
  const lines = diagnostics
    .slice(0, 5)
    .map((entry) => `- ${entry.file}${entry.line === null ? '' : `:${entry.line}`} ${entry.message}`);
  throw new AppError('ENGINE_INVALID', `The engine in ${folder} does not compile:\n${lines.join('\n')}`);
}
