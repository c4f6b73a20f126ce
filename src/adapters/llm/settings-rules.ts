import type { LlmSettings } from '../../model/llm-settings.ts';
import type { Problem } from '../../model/problem.ts';
import { showSetting } from '../../model/show-setting.ts';

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
