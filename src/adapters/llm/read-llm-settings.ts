import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { AppError } from '../../model/errors.ts';
import { LlmSettings } from '../../model/llm-settings.ts';
import { nearestName } from '../../model/nearest-name.ts';
import { formatProblem, type Problem } from '../../model/problem.ts';
import { showSetting } from '../../model/show-setting.ts';
import { settingExpectations } from './setting-expectations.ts';

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
  throw new AppError('SETTINGS_INVALID', `${count} attention in ${where}:\n${lines.join('\n')}`);
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
  if (faults.length > 0) return { problems: faults };
  const checked = LlmSettings.safeParse(document.toJS({ maxAliasCount: 0 }) ?? {});
  if (!checked.success) return { problems: checked.error.issues.flatMap((issue) => describe(issue, locate)) };
  const problems = findContradictions(checked.data, locate);
  return problems.length === 0 ? { settings: checked.data, problems } : { problems };
}

interface Place {
  readonly line: number;
  readonly column: number;
  /** The value as it stands in the file, where it is a plain one. */
  readonly written?: string;
}
type FieldPath = readonly (string | number)[];
type Locate = (path: FieldPath) => Place;

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

function problemAt(place: Place | undefined, path: string, message: string, suggestion?: string): Problem {
  return {
    ...{ severity: 'error', code: 'llm-settings', message },
    ...(place === undefined ? {} : { line: place.line, column: place.column }),
    ...(path === '' ? {} : { path }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
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

/** What each field allows by itself and all together don't. */
function findContradictions(settings: LlmSettings, locate: Locate): readonly Problem[] {
  const problems: Problem[] = [];
  const address = addressFault(settings.base_url);
  if (address !== undefined) problems.push(problemAt(locate(['base_url']), 'base_url', address));
  const {
    soft_tokens: softTokens,
    hard_tokens: hardTokens,
    soft_usd: softUsd,
    hard_usd: hardUsd,
  } = settings.limits;
  const softAbove = (name: string) =>
    problemAt(
      locate(['limits', name]),
      `limits.${name}`,
      `is above ${name.replace('soft', 'hard')}; expected at most that.`,
    );
  if (softTokens !== undefined && softTokens > hardTokens) problems.push(softAbove('soft_tokens'));
  if (softUsd !== undefined && hardUsd !== undefined && softUsd > hardUsd)
    problems.push(softAbove('soft_usd'));
  const models = [
    settings.model,
    ...Object.values(settings.roles).map((role) => role?.model ?? settings.model),
  ];
  const unpriced = [...new Set(models)].filter((model) => settings.prices[model] === undefined);
  if ((hardUsd ?? softUsd) !== undefined && unpriced.length > 0) {
    const message = `a limit in USD cannot be kept without the price of ${unpriced.join(', ')}; expected it under prices.`;
    problems.push(
      problemAt(locate(['limits', hardUsd === undefined ? 'soft_usd' : 'hard_usd']), 'limits', message),
    );
  }
  return problems;
}

/** Undefined for an address that requests can be sent to. A password in it isn't repeated. */
export function addressFault(url: string): string | undefined {
  const expected = 'expected the address of an OpenAI-compatible API, such as http://localhost:11434/v1';
  if (!/^https?:\/\/[^\s/]+/i.test(url) || !URL.canParse(url)) return `is ${showSetting(url)}; ${expected}.`;
  const { username, password, search, hash } = new URL(url);
  if (username !== '' || password !== '') {
    return 'holds a user name or password; expected an address without them: a key belongs into an environment variable (api_key_env).';
  }
  if (search !== '' || hash !== '') return `has a part after ? or #; ${expected}.`;
  return undefined;
}
