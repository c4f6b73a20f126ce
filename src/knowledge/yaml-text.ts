import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { Problem } from '../model/problem.ts';

type FieldPath = readonly (string | number)[];

/** A YAML text with a value and the place of each of its fields. */
export interface YamlText {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Place of the field, or of the nearest parent that exists. */
  readonly locate: (path: FieldPath) => { readonly line: number; readonly column: number };
}

/** Parses strictly (no duplicate keys, no alias bombs). `firstLine` is the 0-based line of the text inside its file. */
export function parseYamlText(text: string, file: string, firstLine = 0): YamlText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, strict: true, version: '1.2' });
  const place = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line) + firstLine, column: Math.max(1, col) };
  };
  const report = (offset: number, message: string) =>
    problems.push({ severity: 'error', code: 'yaml-syntax', file, ...place(offset), message });
  const problems: Problem[] = [];
  for (const fault of [...document.errors, ...document.warnings]) {
    report(fault.pos[0], fault.message.split('\n')[0] ?? fault.message);
  }
  const value = problems.length === 0 ? toValue(document, (message) => report(0, message)) : undefined;
  return {
    value,
    problems,
    locate: (path) => place(offsetOf(document.contents, path)),
  };
}

/** Aliases may repeat a long value, but not multiply: the limit is that of an alias bomb. */
function toValue(document: Document, onProblem: (message: string) => void): unknown {
  try {
    return document.toJS({ maxAliasCount: 50 });
  } catch (error) {
    onProblem(`the aliases cannot be resolved: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function offsetOf(root: Node | null, path: FieldPath): number {
  let offset = root?.range?.[0] ?? 0;
  let node: unknown = root;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
      if (pair === undefined) return offset;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}

/** Checks the value against a schema; every fault becomes one problem with its place. */
export function checkSchema<T>(
  yaml: YamlText,
  schema: z.ZodType<T>,
  file: string,
): { readonly value?: T; readonly problems: readonly Problem[] } {
  if (yaml.problems.length > 0) return { problems: yaml.problems };
  const result = schema.safeParse(yaml.value);
  if (result.success) return { value: result.data, problems: [] };
  return { problems: result.error.issues.flatMap((issue) => toProblems(issue, yaml, file)) };
}

function toProblems(issue: z.core.$ZodIssue, yaml: YamlText, file: string): Problem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      severity: 'error',
      code: 'unknown-key',
      file,
      ...yaml.locate([...path, key]),
      path: [...path, key].join('.'),
      message: `unknown key ${key}`,
    }));
  }
  // The union's own message says nothing; the closest branch does.
  if (issue.code === 'invalid_union') {
    const branches = issue.errors.filter((branch) => branch.length > 0);
    const deepest = branches.sort((a, b) => (b[0]?.path.length ?? 0) - (a[0]?.path.length ?? 0))[0];
    if (deepest?.[0] !== undefined && deepest[0].path.length > 0) {
      return deepest.flatMap((inner) => toProblems({ ...inner, path: [...path, ...inner.path] }, yaml, file));
    }
  }
  return [
    {
      severity: 'error',
      code: 'schema',
      file,
      ...yaml.locate(path),
      path: path.join('.'),
      message: issue.message,
    },
  ];
}

/** Splits `---` front matter from the text below it. The second value is the 0-based line at which the YAML starts. */
export function splitFrontMatter(
  text: string,
  file: string,
): { readonly yaml: YamlText; readonly body: string } | { readonly problem: Problem } {
  const match = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (match === null) {
    const message = 'expected front matter between two lines of "---" at the start of the file';
    return { problem: { severity: 'error', code: 'no-front-matter', file, line: 1, column: 1, message } };
  }
  return { yaml: parseYamlText(match[1] ?? '', file, 1), body: text.slice(match[0].length) };
}
