import type { TokenUsage } from '../../model/spending.ts';

/** Counts above this many times what was asked for, or sent, are none: reasoning may pass `max_tokens`, not so far. */
const beyond = 4;
/** Tokens that a chat template or a hidden system prompt may add to any prompt. */
const mostTemplate = 1024;
/** On average no tokenizer in use puts so many characters of a text into a token. */
const densest = 40;
/** A shorter text may be one of long blanks. */
const shortestJudged = 2000;

/** What a count is held against. */
export interface CallSize {
  readonly promptBytes: number;
  readonly maxTokens: number;
}

/** Null where it is missing or cannot be right: then it counts as what was reserved. */
export function readUsage(value: unknown, { promptBytes, maxTokens }: CallSize): TokenUsage | null {
  const usage = recordOf(value);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
  const cached = recordOf(usage.prompt_tokens_details).cached_tokens ?? usage.prompt_cache_hit_tokens;
  if (!isCount(promptTokens) || !isCount(completionTokens) || promptTokens === 0) return null;
  if (promptTokens > promptBytes * beyond + mostTemplate || completionTokens > maxTokens * beyond)
    return null;
  return {
    promptTokens,
    completionTokens,
    cachedTokens: isCount(cached) ? Math.min(cached, promptTokens) : 0,
  };
}

/** Whether anything was reported; several servers send zeros until they know. */
export function hasReport(value: unknown): boolean {
  const { prompt_tokens: prompt, completion_tokens: completion } = recordOf(value);
  return Boolean(prompt) || Boolean(completion);
}

/** Whether an answer of this text can have cost so little. */
export function hasCounted({ completionTokens }: TokenUsage, text: string): boolean {
  if (text.length >= shortestJudged) return completionTokens * densest >= text.length;
  return completionTokens > 0 || text === '';
}

/** A value of an endpoint as an object, whatever it is. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
