import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { AppError } from '../../model/errors.ts';
import { LlmSettings } from '../../model/llm-settings.ts';
import { nearestName } from '../../model/nearest-name.ts';
import { formatProblem, type Problem } from '../../model/problem.ts';
import { showSetting } from '../../model/show-setting.ts';
import { redactorOf } from './redact.ts';
import { settingExpectations } from './setting-expectations.ts';
import { type FieldPath, findContradictions, type Locate, type Place, problemAt } from './settings-rules.ts';

const longestFile = 64 * 1024;

/**
 * Settings of a language model from a YAML text; `where` names the file in messages.
 * @throws AppError SETTINGS_INVALID with every problem, each with line, key and what was expected
 */
export function readLlmSettings(text: string, where: string): LlmSettings {
  const { settings, problems } = parseSettings(text);
  if (settings !== undefined) return settings;
  const lines = problems.map((problem) => `- ${formatProblem({ ...problem, file: where })}`);
  const count = lines.length === 1 ? 'One setting needs' : `${lines.length} settings need`;
  // A key may stand where none belongs.
  const message = redactorOf([])(`${count} attention in ${where}:\n${lines.join('\n')}`);
  throw new AppError('SETTINGS_INVALID', message);
}

type Parsed =
  | { readonly settings: LlmSettings; readonly problems: readonly Problem[] }
  | { readonly settings?: undefined; readonly problems: readonly Problem[] };

function parseSettings(text: string): Parsed {
  if (text.length > longestFile)
    return { problems: [problemAt(undefined, '', 'the file is longer than 64 KiB.')] };
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    strict: true,
    prettyErrors: false,
  });
  const locate: Locate = (path) => placeOf(document.contents, path, lines);
  const faults = document.errors.slice(0, 5).map((error) => {
    const { line, col } = lines.linePos(error.pos[0]);
    return problemAt({ line, column: col }, '', `not valid YAML: ${error.message.split('\n')[0]}`);
  });
  const aliases = findAliases(document).map((offset) =>
    problemAt(at(offset, lines), '', 'an alias (*name) stands for another value; expected the value itself.'),
  );
  if (faults.length + aliases.length > 0) return { problems: [...faults, ...aliases] };
  const checked = LlmSettings.safeParse(document.toJS() ?? {});
  if (!checked.success) return { problems: checked.error.issues.flatMap((issue) => describe(issue, locate)) };
  const problems = findContradictions(checked.data, locate);
  return problems.length === 0 ? { settings: checked.data, problems } : { problems };
}

function findAliases(document: Document): readonly number[] {
  const offsets: number[] = [];
  visit(document, { Alias: (_, node) => void offsets.push(node.range?.[0] ?? 0) });
  return offsets.slice(0, 5);
}

/** Place of the field, or of the nearest parent that exists. */
function placeOf(root: Node | null, path: FieldPath, lines: LineCounter): Place {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const key of path) {
    const pair = isMap(node)
      ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      : undefined;
    const item = isSeq(node) ? node.items[Number(key)] : undefined;
    if (pair === undefined && item === undefined) return at(offset, lines);
    offset = ((pair?.key ?? item) as Node).range?.[0] ?? offset;
    node = pair?.value ?? item;
  }
  const written = isScalar(node) && path.length > 0 ? (node.source ?? String(node.value)) : undefined;
  return written === undefined ? at(offset, lines) : { ...at(offset, lines), written };
}

function at(offset: number, lines: LineCounter): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function describe(issue: z.core.$ZodIssue, locate: Locate): Problem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, locate));
  const place = locate(path);
  const expected = expectationOf(path);
  const hasNothing = place.written === undefined || place.written === '';
  const isMissing = hasNothing && issue.code === 'invalid_type';
  const found = isMissing
    ? 'is missing or has no value'
    : hasNothing
      ? 'has another form'
      : `is ${showSetting(place.written!)}`;
  return [problemAt(place, path.join('.'), `${found}; expected ${expected}.`)];
}

/** Names of roles and models stand for any of theirs. */
function expectationOf(path: FieldPath): string {
  const general = path.map((part, index) =>
    index === 1 && ['roles', 'prices'].includes(String(path[0])) ? '*' : part,
  );
  const own = settingExpectations[general.join('.')];
  if (own !== undefined) return own;
  return settingExpectations[String(general.at(-1))] ?? 'a mapping of settings';
}

function unknownKey(key: string, parent: FieldPath, locate: Locate): Problem {
  const prefix = parent.map((part, index) => (index === 1 ? '*' : part)).join('.');
  const siblings = siblingsOf(prefix);
  const shown = key.length > 60 ? `${key.slice(0, 59)}…` : key;
  const near = nearestName(key, siblings);
  const isKey = /^(?:api_?)?key$/i.test(key);
  const suggestion = isKey
    ? 'A key never stands in a file: put it into an environment variable and name that with api_key_env.'
    : near === undefined
      ? `Known: ${siblings.join(', ')}.`
      : `Did you mean ${near}?`;
  return problemAt(locate([...parent, key]), [...parent, shown].join('.'), 'is not a setting.', suggestion);
}

function siblingsOf(prefix: string): readonly string[] {
  const start = prefix === '' ? '' : `${prefix}.`;
  if (prefix === 'roles') return ['implementer', 'reviewer', 'diagnoser', 'optimizer'];
  return Object.keys(settingExpectations)
    .filter((name) => name.startsWith(start) && !name.slice(start.length).includes('.'))
    .map((name) => name.slice(start.length));
}
