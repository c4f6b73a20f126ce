import { z } from 'zod';
import type { Problem } from '../model/problem.ts';
import { suggestArch } from './hardware-rules.ts';
import { suggestAllowed, suggestKey } from './key-suggestion.ts';
import { type Locate, maxProblems, showText } from './problem-list.ts';
import { WrittenConstraints } from './written-constraints.ts';
import type { WrittenValue } from './yaml-tree.ts';

type Issue = z.core.$ZodIssue;
type Places = ReadonlyMap<string, WrittenValue>;

/** Where a path stands: its value, or for one that was not written the key of its nearest ancestor. */
export function locateIn(places: Places): Locate {
  return (path) => {
    const exact = places.get(path);
    if (exact !== undefined) return exact.value;
    for (let parent = parentOf(path); parent !== undefined; parent = parentOf(parent)) {
      const place = places.get(parent);
      if (place !== undefined) return place.key;
    }
    return { line: 1, column: 1 };
  };
}

function parentOf(path: string): string | undefined {
  const dot = path.lastIndexOf('.');
  return dot < 0 ? undefined : path.slice(0, dot);
}

/** Problems of one zod issue, with place, finding, expectation and "did you mean". */
export function describeIssue(issue: Issue, places: Places): Problem[] {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, maxProblems + 1).map((key) => unknownKey(key, path, places));
  const written = places.get(path);
  const head = {
    severity: 'error',
    ...locateIn(places)(path),
    ...(path === '' ? {} : { path: showText(path) }),
  } as const;
  if (written === undefined && path !== '')
    return [{ ...head, code: 'missing-key', message: `${path} is missing; expected ${issue.message}.` }];
  const found = written?.shown ?? 'no mapping';
  const suggestion = suggestValue(issue, written);
  const code = codeOf(issue);
  const message = `found ${found}${code === 'out-of-range' ? ', which is out of range' : ''}; expected ${issue.message}.`;
  return [{ ...head, code, message, ...(suggestion === undefined ? {} : { suggestion }) }];
}

/**
 * A key that was meant but misspelled is told once, as an unknown key, and not as a missing one too; nor is a list
 * missing that was dropped for one of its entries.
 */
export function dropEchoes(problems: readonly Problem[]): Problem[] {
  const broken = new Set(
    problems
      .filter(({ code }) => code !== 'missing-key')
      .flatMap(({ path = '' }) => [path, path.replace(/\.\d+$/, '')]),
  );
  const meant = new Set<string>();
  for (const { code, path = '', suggestion } of problems) {
    const name = code === 'unknown-key' ? /^Did you mean ([\w.]+)\?$/.exec(suggestion ?? '')?.[1] : undefined;
    if (name === undefined) continue;
    const parent = parentOf(path);
    meant.add(name).add(parent === undefined ? name : `${parent}.${name}`);
  }
  return problems.filter(
    ({ code, path = '' }) => code !== 'missing-key' || (!broken.has(path) && !meant.has(path)),
  );
}

function codeOf(issue: Issue): string {
  if (issue.code === 'too_big' || issue.code === 'too_small') return 'out-of-range';
  if (issue.code === 'invalid_value') return 'unknown-value';
  return issue.code === 'invalid_format' ? 'wrong-form' : 'wrong-type';
}

function suggestValue(issue: Issue, written: WrittenValue | undefined): string | undefined {
  if (written === undefined) return undefined;
  const text = written.shown.replace(/^"|"$/g, '');
  if (issue.code === 'invalid_value') {
    const near = suggestAllowed(text, issue.values.map(String));
    return near === undefined ? undefined : `Did you mean ${near}?`;
  }
  const path = issue.path.join('.');
  if (path === 'name' && issue.code === 'invalid_format') return suggestName(text);
  if (issue.code !== 'invalid_type') return undefined;
  const isBareNumber = !written.isQuoted && /^\d+(?:\.\d+)?$/.test(text);
  if (isBareNumber && path === 'hardware.memory')
    return `Which unit is meant? Write ${text}GiB or ${text}GB.`;
  if (isBareNumber && path.startsWith('goals.require.')) return 'A bound needs a comparison.';
  const arch = isBareNumber && path === 'hardware.arch' ? suggestArch('cuda', text) : undefined;
  if (arch !== undefined) return `Did you mean ${arch}?`;
  if (issue.expected === 'string' && !/^(?:a mapping|a list|nothing|null|~)$/.test(text))
    return `Put it in quotes if it is meant as text: "${text}".`;
  const isNumber = issue.expected === 'number' || issue.expected === 'int';
  if (isNumber && written.isQuoted && /^\d+$/.test(text)) return 'Write it without quotes.';
  const isModel = path === 'model' && /^"[\w.-]+\/[\w.-]+"$/.test(written.shown);
  return isModel ? `Write model: {id: ${text}}.` : undefined;
}

function suggestName(text: string): string | undefined {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return plain === '' || /[/$`;]/.test(text) ? undefined : `For example ${plain}.`;
}

function unknownKey(key: string, parent: string, places: Places): Problem {
  const path = parent === '' ? key : `${parent}.${key}`;
  const place = places.get(path)?.key ?? { line: 1, column: 1 };
  const where = parent === '' ? 'at the top level' : `under ${parent}`;
  const message = `unknown key "${showText(key)}" ${where}.`;
  const suggestion = suggestKey(key, keysUnder(parent), keyHomes());
  return { severity: 'error', code: 'unknown-key', ...place, path: showText(path), message, suggestion };
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (schema instanceof z.ZodOptional) return shapeOf(schema.unwrap());
  return schema instanceof z.ZodObject ? schema.shape : undefined;
}

function keysUnder(path: string): readonly string[] {
  let shape = shapeOf(WrittenConstraints);
  for (const key of path === '' ? [] : path.split('.')) shape = shapeOf(shape?.[key]);
  return Object.keys(shape ?? {});
}

/** Every key below the top level, with the path where it belongs. */
function keyHomes(): ReadonlyMap<string, string> {
  const homes = new Map<string, string>();
  const visit = (schema: unknown, path: string): void => {
    for (const [key, child] of Object.entries(shapeOf(schema) ?? {})) {
      const childPath = path === '' ? key : `${path}.${key}`;
      if (!homes.has(key)) homes.set(key, childPath);
      visit(child, childPath);
    }
  };
  visit(WrittenConstraints, '');
  return homes;
}
