import { type CppToken, findConfigReferences, tokenizeCpp } from '../model/cpp-tokens.ts';
import type { EngineFile } from '../model/engine.ts';
import type { Problem } from '../model/problem.ts';
import { type CppOutline, outlineCpp } from './cpp-definitions.ts';

interface Source {
  readonly path: string;
  readonly tokens: readonly CppToken[];
  readonly outline: CppOutline;
}

/** A definition that nothing refers to; `name` is absent where the problem is about a whole file. */
export type DeadCode = Problem & { readonly name?: string };

interface Place {
  readonly path: string;
  readonly index: number;
}

/** Definitions of one name in one file, in order. */
interface Range {
  readonly from: number;
  /** Where this one and all before it have ended. */
  readonly reach: number;
}

/** Names that the language or the standard library calls. */
const calledByName = new Set(['main', 'begin', 'end', 'what']);

/** Brackets within brackets; the outline follows them by recursion. */
const maxDepth = 200;
const emptyOutline: CppOutline = { definitions: [], declarators: new Set() };

/**
 * Functions, types and namespace-scope variables of the engine that nothing outside their own definition refers to,
 * and constants of config.h that no file uses. Names decide: overloads live or die together.
 */
export function findDeadCode(files: readonly EngineFile[]): DeadCode[] {
  const sources = files.filter((file) => /\.(?:h|cpp|cu)$/.test(file.path)).map(readSource);
  const code = sources.filter((source) => source.path !== 'config.h');
  const isUsed = findUses(code);
  const dead = code.flatMap((source) =>
    source.outline.definitions
      .filter((definition) => definition.needsReference && !calledByName.has(definition.name))
      .filter((definition) => !isUsed(definition.name))
      .map(({ kind, name, line }): DeadCode => {
        const message = `nothing refers to the ${kind} ${name}`;
        return { severity: 'error', code: 'dead-code', file: source.path, line, message, name };
      }),
  );
  return [...sources.flatMap(findDeepNesting), ...dead, ...findDeadConstants(sources)];
}

function readSource({ path, text }: EngineFile): Source {
  const tokens = tokenizeCpp(text);
  return { path, tokens, outline: depthOf(tokens) > maxDepth ? emptyOutline : outlineCpp(tokens) };
}

/** Names that the headers of an engine declare: what its parts offer each other. */
export function findDeclaredNames(files: readonly EngineFile[]): ReadonlySet<string> {
  const headers = files.filter(({ path }) => path.endsWith('.h') && path !== 'config.h').map(readSource);
  return new Set(
    headers.flatMap(({ tokens, outline }) =>
      [...outline.declarators].map((index) => tokens[index]?.text ?? ''),
    ),
  );
}

function depthOf(tokens: readonly CppToken[]): number {
  let depth = 0;
  let deepest = 0;
  for (const { text, kind } of tokens) {
    if (kind !== 'punctuation') continue;
    if (/^[([{]$/.test(text)) deepest = Math.max(deepest, ++depth);
    else if (/^[)\]}]$/.test(text)) depth--;
  }
  return deepest;
}

function findDeepNesting({ path, tokens }: Source): DeadCode[] {
  if (depthOf(tokens) <= maxDepth) return [];
  const message = `has brackets within brackets to a depth of more than ${maxDepth}`;
  return [{ severity: 'error', code: 'too-deep', file: path, message }];
}

/** Whether some use of a name lies outside every definition of that name. */
function findUses(sources: readonly Source[]): (name: string) => boolean {
  const uses = new Map<string, Place[]>();
  const ranges = new Map<string, Range[]>();
  const keyOf = (path: string, name: string): string => `${path} ${name}`;
  for (const { path, tokens, outline } of sources) {
    for (const [index, token] of tokens.entries()) {
      if (token.kind === 'identifier' && !outline.declarators.has(index))
        append(uses, token.text, { path, index });
    }
    for (const { name, from, to } of outline.definitions) {
      const before = ranges.get(keyOf(path, name))?.at(-1)?.reach ?? 0;
      append(ranges, keyOf(path, name), { from, reach: Math.max(before, to) });
    }
  }
  const isOutside = (name: string, { path, index }: Place): boolean =>
    reachAt(ranges.get(keyOf(path, name)) ?? [], index) <= index;
  const known = new Map<string, boolean>();
  return (name) => {
    const isUsed = known.get(name) ?? (uses.get(name) ?? []).some((use) => isOutside(name, use));
    known.set(name, isUsed);
    return isUsed;
  };
}

/** How far the definitions reach that begin at or before `index`; 0 where none does. */
function reachAt(ranges: readonly Range[], index: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.from <= index) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1]?.reach ?? 0;
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
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
