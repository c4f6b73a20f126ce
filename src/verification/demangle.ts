import { inScratch, runTool } from './run-tool.ts';
import type { Toolchain } from './toolchain.ts';

/** Where nvcc puts what has no name outside its file; the numbers say nothing. */
const hiddenNamespace = /_GLOBAL__N__[0-9a-f]+_\d+_\w+?_cu_[0-9a-f]+(?:_\d+)?::|\(anonymous namespace\)::/g;

/** Symbols as a person wrote them, without the parameters; a symbol that isn't C++ stays as it is. */
export async function demangle(
  toolchain: Toolchain,
  symbols: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(symbols)].filter((symbol) => /^_Z[\w$.]+$/.test(symbol)).slice(0, 200);
  if (wanted.length === 0) return new Map();
  return inScratch(toolchain, async (scratch) => {
    // Of binutils, as the assembler is that g++ can't do without.
    const end = await runTool(toolchain, scratch, scratch, ['/usr/bin/c++filt', '-p', ...wanted]);
    const lines = end.exitCode === 0 ? end.stdout.toString('utf8').split('\n') : [];
    return new Map(
      wanted.map((symbol, index) => [symbol, lines[index]?.replace(hiddenNamespace, '') || symbol]),
    );
  });
}
