import { buildProgram } from './build.ts';
import { EngineFailure } from './engine-channel.ts';
import type { GateContext } from './gate-context.ts';
import { listSources } from './gates/build.ts';

/**
 * The engine's program for host emulation; objects come from the cache where the build gate made them. Throws
 * EngineFailure with the compiler's words where it doesn't build: the gate that asked for it can't pass.
 */
export async function buildEmulated({
  engine,
  toolchain,
}: Pick<GateContext, 'engine' | 'toolchain'>): Promise<string> {
  const { binary, diagnostics } = await buildProgram(toolchain, {
    ...{ folder: engine.folder, sources: listSources(engine.folder) },
    ...{ sanitize: false, target: 'emulation' },
  });
  if (binary !== undefined) return binary;
  const told = diagnostics.slice(0, 3).map(({ file, line, message }) => `${file}:${line ?? 1}: ${message}`);
  throw new EngineFailure('crashed', 'build', `no program for host emulation: ${told.join('; ')}`);
}
