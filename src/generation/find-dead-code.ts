import { type CppToken, findConfigReferences, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { EngineFile } from '../model/engine.ts';
import type { Problem } from '../model/problem.ts';
import { type CppOutline, outlineCpp } from './cpp-definitions.ts';

interface Source {
  readonly path: string;
  readonly tokens: readonly CppToken[];
  readonly outline: CppOutline;
}

/** Names that the language or the standard library calls. */
const calledByName = new Set(['main', 'begin', 'end', 'what']);

/**
 * Functions, types and namespace-scope variables of the engine that nothing outside their own definition refers to,
 * and constants of config.h that no file uses. Names decide: overloads live or die together.
 */
export function findDeadCode(files: readonly EngineFile[]): Problem[] {
  const sources = files
    .filter((file) => /\.(?:h|cpp|cu)$/.test(file.path))
    .map((file): Source => {
      const tokens = tokenizeCpp(file.text);
      return { path: file.path, tokens, outline: outlineCpp(tokens) };
    });
  const code = sources.filter((source) => source.path !== 'config.h');
  const used = collectUses(code);
  const dead = code.flatMap((source) =>
    source.outline.definitions
      .filter((definition) => definition.needsReference && !calledByName.has(definition.name))
      .filter((definition) => !isUsed(definition.name, used, code))
      .map(({ kind, name, line }): Problem => {
        const message = `nothing refers to the ${kind} ${name}`;
        return { severity: 'error', code: 'dead-code', file: source.path, line, message };
      }),
  );
  return [...dead, ...findDeadConstants(sources)];
}

/** Name → where it is used, as `path:token index`. */
function collectUses(
  sources: readonly Source[],
): Map<string, { readonly path: string; readonly index: number }[]> {
  const used = new Map<string, { path: string; index: number }[]>();
  for (const { path, tokens, outline } of sources) {
    for (const [index, token] of tokens.entries()) {
      if (token.kind !== 'identifier' || outline.declarators.has(index)) continue;
      const uses = used.get(token.text);
      if (uses === undefined) used.set(token.text, [{ path, index }]);
      else uses.push({ path, index });
    }
  }
  return used;
}

/** Whether some use lies outside every definition of that name. */
function isUsed(name: string, used: ReturnType<typeof collectUses>, sources: readonly Source[]): boolean {
  const own = sources.flatMap(({ path, outline }) =>
    outline.definitions
      .filter((definition) => definition.name === name)
      .map(({ from, to }) => ({ path, from, to })),
  );
  return (used.get(name) ?? []).some(
    (use) => !own.some((range) => range.path === use.path && use.index >= range.from && use.index < range.to),
  );
}

function findDeadConstants(sources: readonly Source[]): Problem[] {
  const config = sources.find((source) => source.path === 'config.h');
  const used = new Set(sources.flatMap((source) => [...findConfigReferences(source.tokens).keys()]));
  return (config?.outline.definitions ?? [])
    .filter((definition) => definition.kind === 'variable' && !used.has(definition.name))
    .map(({ name, line }) => ({
      severity: 'error',
      code: 'dead-constant',
      file: 'config.h',
      line,
      message: `no file uses config::${name}`,
    }));
}
