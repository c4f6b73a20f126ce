import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { Problem } from '../model/problem.ts';
import { type Place, showText } from './problem-list.ts';

export interface WrittenValue {
  readonly key: Place;
  readonly value: Place;
  /** As it stands in the file, short and safe to print; `a mapping`, `a list` or `nothing` where it is no scalar. */
  readonly shown: string;
  /** True for a quoted or block scalar. */
  readonly isQuoted: boolean;
}

export interface YamlTree {
  readonly value: unknown;
  /** By dotted path. */
  readonly places: ReadonlyMap<string, WrittenValue>;
  readonly problems: Problem[];
}

interface Walk {
  readonly lines: LineCounter;
  readonly places: Map<string, WrittenValue>;
  readonly problems: Problem[];
}

/** A broken quote can make an error of every character; the first ones tell what is wrong. */
const maxSyntaxErrors = 20;

/** Nesting of mappings and lists that a constraint file with an inline config.json can need. */
const maxDepth = 16;

/** Parses one guarded YAML document into plain values with places. `value` is undefined where the syntax is broken. */
export function readYamlTree(text: string): YamlTree {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    // `silent` would also silence the error about a second document.
    logLevel: 'error',
    strict: true,
  });
  const walk: Walk = { lines, places: new Map(), problems: [] };
  if (document.errors.length > 0) {
    const problems = document.errors
      .slice(0, maxSyntaxErrors)
      .map((error) => syntaxProblem(error, text, lines));
    return { value: undefined, places: walk.places, problems: firstOfEachLine(problems) };
  }
  const value = document.contents === null ? undefined : readNode(document.contents, '', 0, walk);
  return { value, places: walk.places, problems: walk.problems };
}

function placeAt(walk: Pick<Walk, 'lines'>, offset: number): Place {
  const { line, col } = walk.lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

const syntaxHints: Readonly<Record<string, { code: string; message: string; suggestion?: string }>> = {
  TAB_AS_INDENT: {
    code: 'tab-indent',
    message: 'found a tab used as indentation; YAML indents with spaces only.',
    suggestion: 'Replace the tab by two spaces.',
  },
  MULTIPLE_DOCS: {
    code: 'several-documents',
    message: 'found a second document after ---; a constraint file is one document.',
    suggestion: 'Put each engine in a file of its own.',
  },
};

function syntaxProblem(error: YAMLError, text: string, lines: LineCounter): Problem {
  const place = placeAt({ lines }, error.pos[0]);
  const hint = syntaxHints[error.code];
  if (hint !== undefined) return { severity: 'error', ...place, ...hint };
  const line = text.split('\n')[place.line - 1] ?? '';
  const problem = {
    severity: 'error',
    code: 'yaml-syntax',
    ...place,
    message: `not valid YAML: ${showSentence(error.message)}`,
  } as const;
  const comparison = /:\s*>/.test(line)
    ? 'A value that begins with > needs quotes, as in ">= 1.0x llama.cpp".'
    : undefined;
  return comparison === undefined ? problem : { ...problem, suggestion: comparison };
}

/** One broken line makes the parser report several faults; the first one, or the one we can explain, tells it all. */
function firstOfEachLine(problems: readonly Problem[]): Problem[] {
  const explained = [...problems.filter(({ code }) => code !== 'yaml-syntax'), ...problems];
  const firsts = explained.filter(
    (problem, index) => explained.findIndex(({ line }) => line === problem.line) === index,
  );
  return firsts.slice(0, 5);
}

function showSentence(message: string): string {
  const first = message.split('\n')[0]!.slice(0, 160);
  return `${Array.from(first, (character) => showText(character)).join('')}${/[.!?]$/.test(first) ? '' : '.'}`;
}

function readNode(node: Node, path: string, depth: number, walk: Walk): unknown {
  if (depth > maxDepth) {
    const place = placeAt(walk, node.range?.[0] ?? 0);
    if (!walk.problems.some((problem) => problem.code === 'too-deep'))
      walk.problems.push({
        severity: 'error',
        code: 'too-deep',
        ...place,
        message: `found more than ${maxDepth} levels of nesting.`,
      });
    return null;
  }
  if (isMap(node)) return readMap(node, path, depth, walk);
  if (isSeq(node)) return node.items.map((item, index) => readItem(item, path, index, depth, walk));
  if (isScalar(node)) return readScalar(node, path, walk);
  // Aliases are refused before parsing.
  if (isAlias(node)) return null;
  return null;
}

function readItem(item: unknown, path: string, index: number, depth: number, walk: Walk): unknown {
  const node = item as Node | null;
  if (node === null) return null;
  const itemPath = `${path}.${index}`;
  const place = placeAt(walk, node.range?.[0] ?? 0);
  walk.places.set(itemPath, { key: place, value: place, shown: showNode(node), isQuoted: isQuoted(node) });
  return readNode(node, itemPath, depth + 1, walk);
}

/** Own properties only: a key such as `__proto__` must stay a key and never reach a prototype. */
function readMap(map: YAMLMap, path: string, depth: number, walk: Walk): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const first = new Map<string, Place>();
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const place = placeAt(walk, pair.key?.range?.[0] ?? map.range?.[0] ?? 0);
    const key = keyText(pair.key);
    const keyPath = path === '' ? (key ?? '') : `${path}.${key}`;
    if (key === undefined) {
      const message = 'found a list or mapping used as a key; keys are plain words.';
      walk.problems.push({
        severity: 'error',
        code: 'key-not-text',
        ...place,
        ...(path === '' ? {} : { path }),
        message,
      });
      continue;
    }
    const earlier = first.get(key);
    if (earlier !== undefined) {
      const message = `duplicate key "${showText(key)}": first on line ${earlier.line}, again on line ${place.line}.`;
      walk.problems.push({
        severity: 'error',
        code: 'duplicate-key',
        ...place,
        path: showText(keyPath),
        message,
        suggestion: 'Keep one of the two.',
      });
      continue;
    }
    first.set(key, place);
    const node = pair.value;
    const valuePlace = node?.range ? placeAt(walk, node.range[0]) : place;
    walk.places.set(keyPath, {
      key: place,
      value: valuePlace,
      shown: showNode(node),
      isQuoted: isQuoted(node),
    });
    const value = node === null ? null : readNode(node, keyPath, depth + 1, walk);
    Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return values;
}

/** The key as text: `12` and `no` are keys as they are written. */
function keyText(key: Node | null): string | undefined {
  if (key === null) return '';
  if (!isScalar(key)) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

function readScalar(scalar: Scalar, path: string, walk: Walk): unknown {
  const source = scalar.source ?? '';
  if (typeof scalar.value !== 'number' || !isRounded(source, scalar.value)) return scalar.value;
  const place = placeAt(walk, scalar.range?.[0] ?? 0);
  const message = `found ${showText(source)}, which a computer would silently round to ${scalar.value}; expected a number with fewer digits.`;
  walk.problems.push({ severity: 'error', code: 'number-rounded', ...place, path, message });
  return scalar.value;
}

/** Whether a number that reads as a whole one was written as something else (`1.00000000000000000001`). */
function isRounded(source: string, value: number): boolean {
  const parts = /^[-+]?(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,4}))?$/.exec(source);
  if (parts === null || !Number.isSafeInteger(value)) return false;
  const digits = `${parts[1] ?? ''}${parts[2] ?? ''}`;
  const exponent = Number(parts[3] ?? 0) - (parts[2]?.length ?? 0);
  const significant = digits.replace(/0+$/, '');
  const isWhole = significant === '' || exponent + (digits.length - significant.length) >= 0;
  return !isWhole;
}

function isQuoted(node: Node | null): boolean {
  return isScalar(node) && node.type !== 'PLAIN';
}

function showNode(node: Node | null): string {
  if (node === null) return 'nothing';
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node)) return 'an alias';
  if (node.value === null && (node.source ?? '') === '') return 'nothing';
  return typeof node.value === 'string'
    ? `"${showText(node.value)}"`
    : showText(node.source ?? String(node.value));
}
