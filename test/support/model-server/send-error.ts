import type { ServerResponse } from 'node:http';
import type { CompletionBody } from './completion-body.ts';
import type { Fault, StatusFault } from './faults.ts';
import { hold } from './send-completion.ts';

export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param?: string | null;
  readonly code?: string | number | null;
}

export function sendError(
  response: ServerResponse,
  status: number,
  error: ErrorBody,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { param: null, code: null, ...error } }));
}

export function sendUnknownModel(response: ServerResponse, model: string): void {
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  sendError(response, 404, { message, type: 'invalid_request_error', code: 'model_not_found' });
}

export function sendKeyRefused(response: ServerResponse, shown: string): void {
  const message = `Incorrect API key provided: ${shown}. You can find your API key at https://platform.openai.com/account/api-keys.`;
  sendError(response, 401, { message, type: 'invalid_request_error', code: 'invalid_api_key' });
}

export function sendUnknownParameter(response: ServerResponse, parameter: string): void {
  const message = `Unrecognized request argument supplied: ${parameter}`;
  sendError(response, 400, { message, type: 'invalid_request_error', param: parameter });
}

/** As vLLM says it. */
export function sendContextOverflow(
  response: ServerResponse,
  context: number,
  prompt: number,
  longest: number,
): void {
  const message = `This model's maximum context length is ${context} tokens. However, you requested ${prompt + longest} tokens (${prompt} in the messages, ${longest} in the completion). Please reduce the length of the messages or completion.`;
  sendError(response, 400, {
    message,
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  });
}

/** In place of an answer. */
export async function sendStatusFault(
  response: ServerResponse,
  name: StatusFault,
  fault: Fault,
  body: CompletionBody,
  promptTokens: number,
): Promise<void> {
  switch (name) {
    case 'rate-limited':
      return sendError(
        response,
        429,
        { message: 'Rate limit reached for requests', type: 'requests', code: 'rate_limit_exceeded' },
        retryAfter(fault),
      );
    case 'quota-exhausted': {
      const message = 'You exceeded your current quota, please check your plan and billing details.';
      return sendError(response, 429, { message, type: 'insufficient_quota', code: 'insufficient_quota' });
    }
    case 'server-error': {
      const message = 'The server is currently overloaded with other requests.';
      return sendError(response, fault.status ?? 503, { message, type: 'server_error' }, retryAfter(fault));
    }
    case 'html-error-page':
      response.writeHead(fault.status ?? 502, { 'content-type': 'text/html' });
      response.end('<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>');
      return;
    case 'time-out':
      await hold(response);
      return;
    case 'disconnect-before-answer':
      response.destroy();
      return;
    case 'key-refused':
      return sendKeyRefused(response, 'sk-...');
    case 'no-such-model':
      return sendUnknownModel(response, body.model);
    case 'unknown-parameter':
      return sendUnknownParameter(response, fault.parameter ?? firstOptional(body));
    case 'context-overflow':
      return sendContextOverflow(response, promptTokens - 1, promptTokens, body.max_tokens ?? 1);
  }
}

function retryAfter({ retryAfter: seconds = 1 }: Fault): Record<string, string> {
  if (seconds === null) return {};
  return Number.isInteger(seconds)
    ? { 'retry-after': String(seconds) }
    : { 'retry-after-ms': String(Math.round(seconds * 1000)) };
}

function firstOptional(body: CompletionBody): string {
  const optional = ['reasoning_effort', 'seed', 'temperature', 'stream_options', 'max_tokens'] as const;
  return optional.find((name) => body[name] !== undefined) ?? 'max_tokens';
}
