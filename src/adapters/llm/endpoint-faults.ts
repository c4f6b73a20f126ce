import { APIConnectionError, APIError } from 'openai';
import { quoteText } from './quote-text.ts';

/** Why a call brought no completion, as far as it decides what is done next. */
export type CallFault =
  /** May pass. */
  | {
      readonly kind: 'retry';
      readonly message: string;
      readonly waitMs: number | undefined;
      readonly mayHaveCost: boolean;
      /** An answer arrived that is none: asked again and again, the same would come, and each may be paid. */
      readonly isUnusable?: true;
    }
  /** Will not pass by itself; the message says what to do. */
  | { readonly kind: 'fatal'; readonly message: string }
  /** The prompt, or prompt and answer, are too long. */
  | {
      readonly kind: 'overflow';
      readonly limit: number | undefined;
      readonly promptTokens: number | undefined;
      readonly message: string;
    }
  /** Something in the request is not accepted. */
  | { readonly kind: 'bad-request'; readonly parameter: string | undefined; readonly message: string }
  /** A content filter before the model. */
  | { readonly kind: 'declined'; readonly message: string }
  /** Longer than what was asked for could ever be. */
  | { readonly kind: 'too-long'; readonly message: string };

/** A completion that broke off or is none; thrown while it is read. */
export class BrokenCompletion extends Error {
  readonly fault: CallFault;

  constructor(fault: CallFault) {
    super(fault.message);
    this.name = 'BrokenCompletion';
    this.fault = fault;
  }
}

export function unusable(message: string): BrokenCompletion {
  return new BrokenCompletion(unusableFault(message));
}

function unusableFault(message: string): CallFault {
  return { kind: 'retry', message, waitMs: undefined, mayHaveCost: true, isUnusable: true };
}

export interface FaultContext {
  readonly baseUrl: string;
  readonly model: string;
  /** Variable that the key is taken from, and whether it has one. */
  readonly keyVariable: string;
  readonly hasKey: boolean;
  /** Whether the endpoint ever answered: then a refused connection is a restart, else a wrong address. */
  readonly hasAnswered: boolean;
  readonly redact: (text: string) => string;
  readonly now: () => number;
}

export function classifyFault(error: unknown, context: FaultContext): CallFault {
  const broken = brokenWithin(error);
  if (broken !== undefined)
    return { ...broken.fault, message: context.redact(quoteText(broken.message, 600)) };
  if (error instanceof APIConnectionError) return connectionFault(error, context);
  if (error instanceof APIError && error.status !== undefined) return statusFault(error, context);
  const message = quote(error, context);
  // An `error` event within a stream has no status.
  if (error instanceof APIError)
    return overflowOf(message, error) ?? passing(`the endpoint broke off: ${message}`);
  if (error instanceof SyntaxError) return unusableFault('an event of the stream is no JSON');
  // A connection that ended.
  return passing(`the answer broke off: ${message}`);
}

function brokenWithin(error: unknown): BrokenCompletion | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof BrokenCompletion) return cause;
  }
  return undefined;
}

function passing(message: string, waitMs?: number, mayHaveCost = true): CallFault {
  return { kind: 'retry', message, waitMs, mayHaveCost };
}

function fatal(message: string): CallFault {
  return { kind: 'fatal', message };
}

function connectionFault(error: APIConnectionError, context: FaultContext): CallFault {
  const { code, syscall } = causeOf(error);
  const host = new URL(context.baseUrl).host;
  if (/CERT|SELF_SIGNED|SSL|TLS|EPROTO|WRONG_VERSION/.test(code)) {
    return fatal(
      `${host} cannot be reached safely (${code}). Is it http instead of https? A certificate of your own is trusted with NODE_EXTRA_CA_CERTS.`,
    );
  }
  if (code.startsWith('HPE_') && !context.hasAnswered) {
    return fatal(`What answers at ${context.baseUrl} does not speak HTTP (${code}): check base_url.`);
  }
  const never = syscall === 'connect' || syscall === 'getaddrinfo';
  if (never && !context.hasAnswered) {
    return fatal(
      `Nothing answers at ${context.baseUrl} (${code}). Is the server started, and is base_url right? Ollama: http://localhost:11434/v1, vLLM: http://localhost:8000/v1, llama.cpp: http://localhost:8080/v1.`,
    );
  }
  return passing(`the connection to ${host} failed (${code})`, undefined, !never);
}

function causeOf(error: unknown): { readonly code: string; readonly syscall: string | undefined } {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string') return { code, syscall };
  }
  return { code: 'connection failed', syscall: undefined };
}

function statusFault(error: APIError, context: FaultContext): CallFault {
  const message = quote(error, context);
  const status: number = error.status ?? 0;
  const overflow = overflowOf(message, error);
  if (overflow !== undefined && status !== 429) return overflow;
  switch (status) {
    case 400:
    case 422:
    case 501:
      return requestFault(error, message);
    case 401:
    case 403:
      return keyFault(status, message, context);
    case 402:
      return fatal(`The endpoint wants to be paid first (402): ${message}`);
    case 404:
    case 405:
      return notFoundFault(error, message, context);
    case 413:
      return { kind: 'overflow', limit: undefined, promptTokens: undefined, message };
    case 429:
      return limitFault(error, message, context);
    default:
      return otherFault(error, status, message, context);
  }
}

function requestFault(error: APIError, message: string): CallFault {
  if (error.code === 'content_filter' || /content (?:management )?(?:filter|policy)/i.test(message)) {
    return { kind: 'declined', message };
  }
  return {
    kind: 'bad-request',
    parameter: typeof error.param === 'string' ? error.param : undefined,
    message,
  };
}

function keyFault(status: number, message: string, context: FaultContext): CallFault {
  const advice = context.hasKey
    ? `Check the key in ${context.keyVariable}, and that it may use ${context.model}.`
    : `No key was sent: put one into the environment variable ${context.keyVariable} (api_key_env in the settings names another).`;
  return fatal(`${new URL(context.baseUrl).host} refused the key (${status}): ${message} ${advice}`);
}

function notFoundFault(error: APIError, message: string, context: FaultContext): CallFault {
  const isModel = error.code === 'model_not_found' || /\bmodel\b/i.test(message);
  if (isModel) {
    return fatal(
      `The endpoint has no model "${context.model}" (${message}). \`metainfer doctor --llm …\` lists those it has; name one with --model or in the settings. With Ollama, pull it first.`,
    );
  }
  const hint = /\/v\d+$/.test(context.baseUrl) ? '' : ' Most endpoints want /v1 at the end of base_url.';
  return fatal(
    `${context.baseUrl}/chat/completions does not exist (${error.status}): check base_url.${hint}`,
  );
}

function limitFault(error: APIError, message: string, context: FaultContext): CallFault {
  if (
    /insufficient_quota|billing|quota exceeded|exceeded your current quota/i.test(
      `${error.code} ${error.type} ${message}`,
    )
  ) {
    return fatal(
      `The account at the endpoint has no quota left (429): ${message} Add credit, or use another key or endpoint.`,
    );
  }
  return passing(`the endpoint limits requests (429): ${message}`, retryAfterMs(error, context), false);
}

function otherFault(error: APIError, status: number, message: string, context: FaultContext): CallFault {
  if (status >= 300 && status < 400) {
    const target = error.headers?.get('location');
    const where = target && URL.canParse(target) ? ` to ${quoteText(new URL(target).origin, 100)}` : '';
    return fatal(
      `The endpoint redirects${where} (${status}), and a key follows no redirect: set base_url to the address that answers.`,
    );
  }
  if (status >= 500 && /\b(?:grammar|json_schema|response_format)\b/i.test(message))
    return requestFault(error, message);
  if (status >= 500 || [408, 409, 425].includes(status)) {
    // The model may have worked all the same, except where the request was not even let in.
    const mayHaveCost = ![409, 425, 503, 529].includes(status);
    return passing(`the endpoint failed (${status}): ${message}`, retryAfterMs(error, context), mayHaveCost);
  }
  return fatal(`The endpoint refused the request (${status}): ${message}`);
}

const overflowWords =
  /context[_ ](?:length|size|window)|maximum context|n_ctx|prompt is too long|too many tokens|input (?:is )?too long|reduce the length|input token count|tokens \+ `?max_new_tokens/i;

const contextWords =
  /(?:context length (?:is|of)|context size \(|window of|context length:?|must be <=|tokens allowed \()\s*(\d+)|> (\d+) maximum/i;
const promptWords =
  /(\d+) (?:tokens )?(?:in the messages|input tokens|`inputs` tokens)|request \((\d+) tokens\)|resulted in (\d+) tokens/i;

function firstNumber(message: string, words: RegExp): number | undefined {
  return numberOf(
    words
      .exec(message)
      ?.slice(1)
      .find((digits) => digits !== undefined),
  );
}

function overflowOf(message: string, error: APIError): CallFault | undefined {
  const body = error.error as Readonly<Record<string, unknown>> | undefined;
  const isNamed = ['context_length_exceeded', 'exceed_context_size_error'].some(
    (name) => error.code === name || error.type === name || body?.type === name,
  );
  // Groq names the context in a complaint about the answer.
  const isAboutAnswer = /max(?:_completion)?_tokens\W+must be/i.test(message);
  if (!isNamed && (isAboutAnswer || !overflowWords.test(message))) return undefined;
  const limit = numberOf(body?.n_ctx) ?? firstNumber(message, contextWords);
  const promptTokens = numberOf(body?.n_prompt_tokens) ?? firstNumber(message, promptWords);
  return { kind: 'overflow', limit, promptTokens, message };
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfterMs(error: APIError, context: FaultContext): number | undefined {
  const exact = Number(error.headers?.get('retry-after-ms') ?? Number.NaN);
  if (exact > 0 && Number.isFinite(exact)) return exact;
  const written = error.headers?.get('retry-after');
  if (written === null || written === undefined || written.trim() === '') return undefined;
  const milliseconds = Number.isNaN(Number(written))
    ? Date.parse(written) - context.now()
    : Number(written) * 1000;
  // What is over already says nothing about when to come back.
  return milliseconds > 0 && Number.isFinite(milliseconds) ? milliseconds : undefined;
}

/** The endpoint's own words in one line, without keys. */
function quote(error: unknown, { redact }: FaultContext): string {
  const body = error instanceof APIError ? (error.error as { message?: unknown } | undefined) : undefined;
  const text =
    typeof body?.message === 'string' ? body.message : error instanceof Error ? error.message : String(error);
  // Redacted before it is cut: half of a key would not be recognised.
  const line = quoteText(redact(quoteText(text, Number.POSITIVE_INFINITY)));
  return line === '' ? 'it did not say why.' : line;
}
