import type OpenAI from 'openai';
import { APIError } from 'openai';
import { Stream } from 'openai/streaming';
import type { TokenUsage } from '../../model/spending.ts';
import { readErrorBody } from './endpoint-client.ts';
import { BrokenCompletion } from './endpoint-faults.ts';

/** What an endpoint answered. */
export interface Completion {
  readonly text: string;
  /** `refusal` where the model declined in the field that the protocol has for it; then that is the text. */
  readonly finishReason: string;
  readonly usage: TokenUsage | null;
  readonly fingerprint: string | null;
}

export interface ReadLimits {
  readonly longestText: number;
  readonly maxTokens: number;
}

/** Called with what arrived so far, reasoning that is not part of the answer included. */
export type OnArrival = (characters: number) => void;

export async function readCompletion(
  client: OpenAI,
  response: Response,
  controller: AbortController,
  limits: ReadLimits,
  onArrival: OnArrival,
): Promise<Completion> {
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('event-stream')) {
    const stream = Stream.fromSSEResponse<OpenAI.ChatCompletionChunk>(response, controller, client);
    return await readStream(stream, limits, onArrival);
  }
  const body = await response.text();
  if (!/^\s*(?:data|event|:)/.test(body)) return readWhole(body, type, limits);
  // A stream under a wrong name.
  const stream = Stream.fromSSEResponse<OpenAI.ChatCompletionChunk>(new Response(body), controller, client);
  return await readStream(stream, limits, onArrival);
}

/** With which servers end an answer that they could not finish. */
const brokenEnds = ['abort', 'aborted', 'cancelled', 'error', 'timeout'];

interface Arrived {
  text: string;
  refusal: string;
  reasoning: number;
  pieces: number;
  finishReason: string | null;
  usage: TokenUsage | null;
  fingerprint: string | null;
}

async function readStream(
  stream: AsyncIterable<OpenAI.ChatCompletionChunk>,
  limits: ReadLimits,
  onArrival: OnArrival,
): Promise<Completion> {
  const arrived: Arrived = {
    text: '',
    refusal: '',
    reasoning: 0,
    pieces: 0,
    finishReason: null,
    usage: null,
    fingerprint: null,
  };
  for await (const chunk of stream) {
    if (takeChunk(arrived, chunk))
      onArrival(arrived.text.length + arrived.refusal.length + arrived.reasoning);
    assertLength(arrived, limits);
  }
  // Usage comes last: whoever sent it had finished.
  if (arrived.finishReason === null && arrived.usage === null) {
    const message = `the stream ended after ${arrived.text.length} characters, before the answer did`;
    throw new BrokenCompletion({ kind: 'retry', message, waitMs: undefined, mayHaveCost: true });
  }
  if (brokenEnds.includes(arrived.finishReason ?? '')) {
    const message = `the endpoint ended the answer with "${arrived.finishReason}"`;
    throw new BrokenCompletion({ kind: 'retry', message, waitMs: undefined, mayHaveCost: true });
  }
  return toCompletion(arrived);
}

/** @returns whether it brought anything of the answer */
function takeChunk(arrived: Arrived, chunk: OpenAI.ChatCompletionChunk): boolean {
  if (typeof chunk.system_fingerprint === 'string') arrived.fingerprint = chunk.system_fingerprint;
  const usage = readUsage(chunk.usage);
  if (usage !== null) arrived.usage = usage;
  const choice = chunk.choices?.[0];
  if (choice === undefined) return false;
  if (typeof choice.finish_reason === 'string') arrived.finishReason = choice.finish_reason;
  const { content, refusal } = choice.delta ?? {};
  const text = typeof content === 'string' ? content : '';
  const reasoning = reasoningOf(choice.delta);
  arrived.text += text;
  arrived.refusal += typeof refusal === 'string' ? refusal : '';
  arrived.reasoning += reasoning.length;
  const hasBrought = text !== '' || reasoning !== '' || Boolean(refusal);
  if (hasBrought) arrived.pieces += 1;
  return hasBrought;
}

/** DeepSeek and llama.cpp say `reasoning_content`, vLLM and Ollama `reasoning`. */
function reasoningOf(message: unknown): string {
  const { reasoning_content: long, reasoning: short } = (message ?? {}) as Record<string, unknown>;
  if (typeof long === 'string') return long;
  return typeof short === 'string' ? short : '';
}

/** Ends what has no end: nobody would use it, and the longest answer was reserved, not more. */
function assertLength({ text, reasoning, pieces }: Arrived, { longestText, maxTokens }: ReadLimits): void {
  const isTooLong = text.length > longestText;
  // A piece is a token or more, except where a server sends letters; a token is rarely more than four bytes of code.
  const isBeyondTokens = Math.min(pieces, (text.length + reasoning) / 4) > maxTokens * 1.1 + 64;
  if (!isTooLong && !isBeyondTokens) return;
  const message = isTooLong
    ? `the answer was longer than ${longestText} characters`
    : `the answer went on beyond the ${maxTokens} tokens that were asked for`;
  throw new BrokenCompletion({ kind: 'too-long', message });
}

function readWhole(body: string, type: string, limits: ReadLimits): Completion {
  const completion = parseCompletion(body, type);
  const choice = completion.choices?.[0];
  const text = typeof choice?.message?.content === 'string' ? choice.message.content : '';
  const refusal = typeof choice?.message?.refusal === 'string' ? choice.message.refusal : '';
  const arrived: Arrived = {
    ...{ text, refusal, reasoning: 0, pieces: 0 },
    finishReason: choice?.finish_reason ?? 'stop',
    usage: readUsage(completion.usage),
    fingerprint: completion.system_fingerprint ?? null,
  };
  assertLength(arrived, limits);
  return toCompletion(arrived);
}

function parseCompletion(body: string, type: string): OpenAI.ChatCompletion {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    if (type.includes('html')) {
      const message = `A web page came instead of an answer ("${String(readErrorBody(body).message)}"): base_url is not the address of an OpenAI-compatible API; most end in /v1.`;
      throw new BrokenCompletion({ kind: 'fatal', message });
    }
    const message = 'the answer is no whole JSON document';
    throw new BrokenCompletion({ kind: 'retry', message, waitMs: undefined, mayHaveCost: true });
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (Array.isArray(fields.choices)) return value as OpenAI.ChatCompletion;
  // Some servers report errors with status 200.
  if ('error' in fields) {
    const error = readErrorBody(body);
    const status = Number(error.code) >= 400 && Number(error.code) < 600 ? Number(error.code) : 400;
    throw APIError.generate(status, { error }, undefined, new Headers());
  }
  const message =
    'What came back is no chat completion: base_url is not the address of an OpenAI-compatible API.';
  throw new BrokenCompletion({ kind: 'fatal', message });
}

function toCompletion({ text, refusal, finishReason, usage, fingerprint }: Arrived): Completion {
  const hasDeclined = refusal !== '' && text.trim() === '';
  // An answer that cost nothing was not counted.
  const isCounted = usage !== null && (usage.completionTokens > 0 || text === '');
  return {
    text: hasDeclined ? refusal : text,
    finishReason: hasDeclined ? 'refusal' : (finishReason ?? 'stop'),
    usage: isCounted ? usage : null,
    fingerprint,
  };
}

/** Null where it is missing or cannot be right: then it counts as what was reserved. */
function readUsage(usage: OpenAI.CompletionUsage | null | undefined): TokenUsage | null {
  if (typeof usage !== 'object' || usage === null) return null;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
  const hit = (usage as { prompt_cache_hit_tokens?: unknown }).prompt_cache_hit_tokens;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? hit;
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!isCount(promptTokens) || !isCount(completionTokens) || promptTokens === 0) return null;
  return {
    promptTokens,
    completionTokens,
    cachedTokens: isCount(cached) ? Math.min(cached, promptTokens) : 0,
  };
}
