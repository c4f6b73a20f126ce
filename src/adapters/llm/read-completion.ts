import type OpenAI from 'openai';
import { APIError } from 'openai';
import { Stream } from 'openai/streaming';
import type { TokenUsage } from '../../model/spending.ts';
import { readErrorBody } from './endpoint-client.ts';
import { BrokenCompletion, unusable } from './endpoint-faults.ts';
import { quoteText } from './quote-text.ts';
import { type CallSize, hasCounted, hasReport, readUsage, recordOf } from './read-usage.ts';

/** What an endpoint answered. */
export interface Completion {
  readonly text: string;
  /** `refusal` where the model declined in the field that the protocol has for it; then that is the text. */
  readonly finishReason: string;
  readonly usage: TokenUsage | null;
  /** Whether usage was reported that cannot be right. */
  readonly isUsageDoubtful: boolean;
  readonly fingerprint: string | null;
}

export interface ReadLimits extends CallSize {
  readonly longestText: number;
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
  const encoding = response.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    throw unusable(`the answer is compressed (${quoteText(encoding, 40)}), which was not asked for`);
  }
  if (isStream(response)) {
    const stream = Stream.fromSSEResponse<unknown>(response, controller, client);
    return await readStream(stream, limits, onArrival);
  }
  const body = await response.text();
  if (!/^\s*(?:data|event|:)/.test(body)) return readWhole(body, type, limits);
  // A stream under a wrong name.
  const stream = Stream.fromSSEResponse<unknown>(new Response(body), controller, client);
  return await readStream(stream, limits, onArrival);
}

export function isStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').includes('event-stream');
}

/** With which servers end an answer that they could not finish. */
const brokenEnds = ['abort', 'aborted', 'cancelled', 'error', 'timeout'];

interface Arrived {
  text: string;
  refusal: string;
  reasoning: number;
  pieces: number;
  /** Events that are parts of a completion. */
  chunks: number;
  finishReason: string | null;
  usage: TokenUsage | null;
  hasReport: boolean;
  fingerprint: string | null;
}

function nothingYet(): Arrived {
  return {
    ...{ text: '', refusal: '', reasoning: 0, pieces: 0, chunks: 0 },
    ...{ finishReason: null, usage: null, hasReport: false, fingerprint: null },
  };
}

async function readStream(
  stream: AsyncIterable<unknown>,
  limits: ReadLimits,
  onArrival: OnArrival,
): Promise<Completion> {
  const arrived = nothingYet();
  for await (const chunk of stream) {
    if (takeChunk(arrived, recordOf(chunk), limits))
      onArrival(arrived.text.length + arrived.refusal.length + arrived.reasoning);
    assertLength(arrived, limits);
  }
  if (arrived.chunks === 0) throw unusable('the stream held nothing of a chat completion');
  // Usage comes last: whoever sent it had finished.
  if (arrived.finishReason === null && !arrived.hasReport) {
    const message = `the stream ended after ${arrived.text.length} characters, before the answer did`;
    throw new BrokenCompletion({ kind: 'retry', message, waitMs: undefined, mayHaveCost: true });
  }
  return toCompletion(arrived);
}

/** @returns whether it brought anything of the answer */
function takeChunk(arrived: Arrived, chunk: Readonly<Record<string, unknown>>, limits: ReadLimits): boolean {
  takeFrame(arrived, chunk, limits);
  if (!Array.isArray(chunk.choices)) return false;
  arrived.chunks += 1;
  const choice = recordOf(chunk.choices[0]);
  const { content, refusal } = takeEnd(arrived, choice, choice.delta);
  const reasoning = reasoningOf(choice.delta);
  arrived.reasoning += reasoning.length;
  const hasBrought = content !== '' || reasoning !== '' || refusal !== '';
  if (hasBrought) arrived.pieces += 1;
  return hasBrought;
}

/** What stands around an answer, each field where it is what it should be. */
function takeFrame(arrived: Arrived, frame: Readonly<Record<string, unknown>>, limits: ReadLimits): void {
  const { system_fingerprint: fingerprint, usage } = frame;
  if (typeof fingerprint === 'string') arrived.fingerprint = quoteText(fingerprint, 100);
  arrived.usage = readUsage(usage, limits) ?? arrived.usage;
  arrived.hasReport ||= hasReport(usage);
}

function takeEnd(arrived: Arrived, choice: Readonly<Record<string, unknown>>, said: unknown) {
  const { content, refusal } = recordOf(said);
  const brought = {
    content: typeof content === 'string' ? content : '',
    refusal: typeof refusal === 'string' ? refusal : '',
  };
  arrived.text += brought.content;
  arrived.refusal += brought.refusal;
  const { finish_reason: reason } = choice;
  if (typeof reason === 'string') arrived.finishReason = quoteText(reason, 40);
  return brought;
}

/** DeepSeek and llama.cpp say `reasoning_content`, vLLM and Ollama `reasoning`. */
function reasoningOf(message: unknown): string {
  const { reasoning_content: long, reasoning: short } = recordOf(message);
  if (typeof long === 'string') return long;
  return typeof short === 'string' ? short : '';
}

/** Ends what has no end: nobody would use it, and the longest answer was reserved, not more. */
function assertLength(arrived: Arrived, { longestText, maxTokens }: ReadLimits): void {
  const { text, refusal, reasoning, pieces } = arrived;
  const isTooLong = text.length + refusal.length > longestText;
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
  const choice = recordOf(completion.choices[0]);
  const arrived = nothingYet();
  takeFrame(arrived, completion, limits);
  takeEnd(arrived, choice, choice.message);
  assertLength(arrived, limits);
  return toCompletion(arrived);
}

type Whole = Readonly<Record<string, unknown>> & { readonly choices: readonly unknown[] };

function parseCompletion(body: string, type: string): Whole {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    if (type.includes('html')) {
      const message = `A web page came instead of an answer ("${quoteText(String(readErrorBody(body).message))}"): base_url is not the address of an OpenAI-compatible API; most end in /v1.`;
      throw new BrokenCompletion({ kind: 'fatal', message });
    }
    throw unusable('the answer is no whole JSON document');
  }
  const fields = recordOf(value);
  if (Array.isArray(fields.choices)) return fields as Whole;
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

/** @throws BrokenCompletion where the server says that it could not finish */
function toCompletion(arrived: Arrived): Completion {
  const { text, refusal, finishReason, usage, fingerprint } = arrived;
  if (brokenEnds.includes(finishReason ?? '')) {
    const message = `the endpoint ended the answer with "${finishReason}"`;
    throw new BrokenCompletion({ kind: 'retry', message, waitMs: undefined, mayHaveCost: true });
  }
  const hasDeclined = refusal !== '' && text.trim() === '';
  const counted = usage !== null && hasCounted(usage, text) ? usage : null;
  return {
    text: hasDeclined ? refusal : text,
    finishReason: hasDeclined ? 'refusal' : finishReason || 'stop',
    usage: counted,
    isUsageDoubtful: counted === null && arrived.hasReport,
    fingerprint,
  };
}
