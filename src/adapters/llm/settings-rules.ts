import type { LlmSettings } from '../../model/llm-settings.ts';
import type { Problem } from '../../model/problem.ts';
import { showSetting } from '../../model/show-setting.ts';
import { quoteText } from './quote-text.ts';

/** Where a setting stands. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /** The value as it stands in the file, where it is a plain one. */
  readonly written?: string;
}
export type FieldPath = readonly (string | number)[];
export type Locate = (path: FieldPath) => Place;

export function problemAt(
  place: Place | undefined,
  path: string,
  message: string,
  suggestion?: string,
): Problem {
  return {
    ...{ severity: 'error', code: 'llm-settings', message },
    ...(place === undefined ? {} : { line: place.line, column: place.column }),
    ...(path === '' ? {} : { path }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** What each field allows by itself and all together don't. */
export function findContradictions(settings: LlmSettings, locate: Locate): readonly Problem[] {
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
  const unnamed = faultyModels(settings, locate);
  if (unnamed.length > 0) return [...problems, ...unnamed];
  if ((hardUsd ?? softUsd) !== undefined && unpriced.length > 0) {
    const message = `a limit in USD cannot be kept without the price of ${unpriced.join(', ')}; expected it under prices.`;
    problems.push(
      problemAt(locate(['limits', hardUsd === undefined ? 'soft_usd' : 'hard_usd']), 'limits', message),
    );
  }
  return problems;
}

function faultyModels({ model, roles }: LlmSettings, locate: Locate): readonly Problem[] {
  const named: readonly (readonly [FieldPath, string | undefined])[] = [
    [['model'], model],
    ...Object.entries(roles).map(([role, own]) => [['roles', role, 'model'], own?.model] as const),
  ];
  return named.flatMap(([path, name]) => {
    const fault = name === undefined ? undefined : modelFault(name);
    return fault === undefined ? [] : [problemAt(locate(path), path.join('.'), fault)];
  });
}

/** Undefined for a name of a model that requests, records and messages can carry. */
export function modelFault(name: string): string | undefined {
  if (name.trim() !== '' && name.length <= 200 && quoteText(name) === name) return undefined;
  return `is ${showSetting(name)}; expected the name of a model, of at most 200 characters, without control characters.`;
}

/** Undefined for an address that requests can be sent to. A password in it isn't repeated. */
export function addressFault(url: string): string | undefined {
  const expected = 'expected the address of an OpenAI-compatible API, such as http://localhost:11434/v1';
  if (!/^https?:\/\/[^\s/]+[^\s\p{Cc}]*$/iu.test(url) || !URL.canParse(url))
    return `is ${showSetting(url)}; ${expected}.`;
  const { username, password, search, hash } = new URL(url);
  if (username !== '' || password !== '') {
    return 'holds a user name or password; expected an address without them: a key belongs into an environment variable (api_key_env).';
  }
  if (search !== '' || hash !== '') return `has a part after ? or #; ${expected}.`;
  return undefined;
}
