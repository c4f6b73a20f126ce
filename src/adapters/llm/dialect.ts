import type { LlmSettings } from '../../model/llm-settings.ts';
import type { RoleSettings } from './request-key.ts';

/** What the endpoint has turned out to accept; learned from its refusals, for the life of the object. */
export interface Dialect {
  streams: boolean;
  /** `stream_options.include_usage`. */
  reportsUsage: boolean;
  structured: boolean;
  lengthName: 'max_tokens' | 'max_completion_tokens';
  /** Optional parameters that it refuses. */
  readonly refused: Set<OptionalParameter>;
  /** Prompt and answer together, as far as known. */
  contextTokens: number;
  /** Longest answer that it allows; undefined where it never complained. */
  longestAnswer: number | undefined;
}

const optionalParameters = ['temperature', 'seed', 'reasoning_effort'] as const;
type OptionalParameter = (typeof optionalParameters)[number];

export function createDialect(settings: LlmSettings): Dialect {
  return {
    streams: true,
    reportsUsage: true,
    structured: settings.structured_output !== 'fenced',
    lengthName: 'max_tokens',
    refused: new Set(),
    contextTokens: settings.context_tokens,
    longestAnswer: undefined,
  };
}

/** Parameters of the role that are set and not refused. */
export function samplingOf(role: RoleSettings, dialect: Dialect): Readonly<Record<string, unknown>> {
  const values = { temperature: role.temperature, seed: role.seed, reasoning_effort: role.reasoningEffort };
  const sent = optionalParameters.filter((name) => values[name] !== undefined && !dialect.refused.has(name));
  return Object.fromEntries(sent.map((name) => [name, values[name]]));
}

/** How the answer is to arrive. */
export function deliveryOf(dialect: Dialect): Readonly<Record<string, unknown>> {
  if (!dialect.streams) return {};
  return { stream: true, ...(dialect.reportsUsage ? { stream_options: { include_usage: true } } : {}) };
}

/** A refused request, in lower case, as far as it tells what was wrong. */
export interface Refusal {
  readonly parameter: string | undefined;
  readonly message: string;
  /** That was asked for. */
  readonly longestAnswer: number;
}

/**
 * Adapts to what the endpoint refused.
 * @returns what is done differently from now on, for people; undefined where nothing was recognised
 */
export function adaptDialect(
  dialect: Dialect,
  refusal: Refusal,
  mayGoUnstructured: boolean,
): string | undefined {
  const isAbout = (...names: string[]) =>
    names.some(
      (name) => refusal.parameter?.startsWith(name) ?? new RegExp(`\\b${name}\\b`).test(refusal.message),
    );
  const limit = isAbout('max_tokens', 'max_completion_tokens') ? limitIn(refusal) : undefined;
  if (limit !== undefined) {
    dialect.longestAnswer = limit;
    return `answers are at most ${limit} tokens long`;
  }
  if (dialect.reportsUsage && isAbout('stream_options', 'include_usage')) {
    dialect.reportsUsage = false;
    return 'it does not report usage in streams: each call counts as what was reserved for it';
  }
  if (
    dialect.structured &&
    mayGoUnstructured &&
    isAbout('response_format', 'json_schema', 'guided_json', 'grammar', 'structured')
  ) {
    dialect.structured = false;
    return 'it does not accept response_format json_schema: files are asked for in fences';
  }
  if (dialect.lengthName === 'max_tokens' && isAbout('max_tokens')) {
    dialect.lengthName = 'max_completion_tokens';
    return 'it wants max_completion_tokens in place of max_tokens';
  }
  const parameter = optionalParameters.find((name) => !dialect.refused.has(name) && isAbout(name));
  if (parameter !== undefined) {
    dialect.refused.add(parameter);
    return `it does not accept ${parameter}: left out`;
  }
  if (dialect.streams && isAbout('stream', 'streaming')) {
    dialect.streams = false;
    return 'it does not stream: answers arrive in one piece';
  }
  return undefined;
}

/** The longest answer that is allowed, where the refusal tells: the largest number in it below what was asked for. */
function limitIn({ message, longestAnswer }: Refusal): number | undefined {
  const numbers = [...message.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const lower = numbers.filter((number) => number >= 256 && number < longestAnswer);
  return lower.length === 0 ? undefined : Math.max(...lower);
}
