import type { ServerResponse } from 'node:http';
import { countTokens, makeAnswer } from './answer.ts';
import { CompletionBody, findLooseObjects } from './completion-body.ts';
import { type Fault, isStatusFault } from './faults.ts';
import { type ModelServerOptions, modelsOf } from './model-server.ts';
import { contentOf, type Question, readQuestion } from './question.ts';
import { type Replies, smallestValue } from './reply.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';
import { type Sending, sendStream, sendWhole } from './send-completion.ts';
import {
  sendContextOverflow,
  sendError,
  sendStatusFault,
  sendUnknownModel,
  sendUnknownParameter,
} from './send-error.ts';

/** POST /v1/chat/completions. */
export async function answerCompletion(
  text: string,
  response: ServerResponse,
  options: ModelServerOptions,
  log: RequestLog,
): Promise<void> {
  const parsed = CompletionBody.safeParse(parseJson(text));
  if (!parsed.success) return sendInvalid(response, parsed.error.issues[0]!);
  const body = parsed.data;
  const question = readQuestion(body, log.entries.length + 1, (role, contract) =>
    log.countDelivered(role, contract),
  );
  const entry = toEntry(question, body);
  const fault = faultFor(question, options);
  entry.fault = fault?.name ?? null;
  response.once('finish', () => {
    entry.status = response.statusCode;
    log.changed();
  });
  log.add(entry);
  if (refuse(response, body, question, options)) return;
  // Whatever happens to the answer, the model has read the prompt; only a refusal at the door is free.
  const promptTokens = body.messages.reduce((sum, message) => sum + countTokens(contentOf(message)), 0);
  if (fault !== undefined && isStatusFault(fault.name)) {
    if (fault.name === 'time-out') entry.promptTokens = promptTokens;
    return await sendStatusFault(response, fault.name, fault, body, promptTokens);
  }
  entry.promptTokens = promptTokens;
  const answer = await makeAnswer(question, withProbes(options.replies), fault, maxTokensOf(body));
  const sending: Sending = {
    ...{ response, answer, fault },
    id: `chatcmpl-double-${question.number}`,
    model: body.model,
    fingerprint: options.endpoint?.fingerprint ?? 'test-double',
    usage: isUsageWanted(body, options)
      ? {
          promptTokens,
          cachedTokens: countCached(question, log),
          completionTokens: countTokens(answer.text),
        }
      : undefined,
    onSent: (piece) => {
      entry.sent += piece;
      entry.completionTokens = countTokens(entry.sent);
      log.changed();
    },
  };
  entry.finishReason = answer.finishReason;
  entry.isDelivered = await (body.stream === true ? sendStream(sending) : sendWhole(sending));
  // A stream that ends with an error is no answer.
  if (fault?.name === 'error-in-stream') entry.isDelivered = false;
  log.changed();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendInvalid(
  response: ServerResponse,
  issue: { readonly code: string; readonly path: readonly PropertyKey[]; readonly message: string },
): void {
  const unknown = 'keys' in issue ? (issue.keys as string[])[0] : undefined;
  if (unknown !== undefined && issue.path.length === 0) {
    sendUnknownParameter(response, unknown);
    return;
  }
  const param = issue.path.map(String).join('.');
  const message = `Invalid value for '${param}': ${issue.message}`;
  sendError(response, 400, { message, type: 'invalid_request_error', param });
}

function toEntry(question: Question, body: CompletionBody): LoggedRequest {
  const { messages, ...parameters } = body;
  const { number, role, contract, attempt, prompt } = question;
  return {
    ...{ number, role, contract, attempt, messages, prompt, parameters },
    isContinuation: question.written !== '',
    ...{ fault: null, status: null, sent: '', finishReason: null, isDelivered: false },
    ...{ promptTokens: 0, completionTokens: 0 },
  };
}

function faultFor(question: Question, { script }: ModelServerOptions): Fault | undefined {
  if (script === undefined) return undefined;
  const entry = typeof script === 'function' ? script(question) : script[question.number - 1];
  if (entry === undefined || entry === 'answer') return undefined;
  return typeof entry === 'string' ? { name: entry } : entry;
}

/** What this endpoint doesn't do. @returns whether it was refused */
function refuse(
  response: ServerResponse,
  body: CompletionBody,
  question: Question,
  options: ModelServerOptions,
): boolean {
  const { endpoint = {} } = options;
  const invalid = (message: string, param: string): true => {
    sendError(response, 400, { message, type: 'invalid_request_error', param });
    return true;
  };
  if (!modelsOf(options).includes(body.model)) {
    sendUnknownModel(response, body.model);
    return true;
  }
  const refused = endpoint.refusedParameters?.find((name) => name in body);
  if (refused !== undefined) {
    sendUnknownParameter(response, refused);
    return true;
  }
  if (body.stream === true && endpoint.streaming === false)
    return invalid('Streaming is not supported by this server.', 'stream');
  if (body.stream_options != null && body.stream !== true)
    return invalid(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  const format = body.response_format;
  if (format?.type === 'json_schema' && endpoint.structuredOutput === false)
    return invalid("response_format of type 'json_schema' is not supported.", 'response_format');
  if (format?.type === 'json_schema' && format.json_schema.strict === true) {
    const loose = findLooseObjects(format.json_schema.schema)[0];
    if (loose !== undefined)
      return invalid(
        `Invalid schema for response_format '${format.json_schema.name}': In context=${loose}, 'additionalProperties' is required to be supplied and to be false, and 'required' to list every key.`,
        'response_format',
      );
  }
  const prompt = question.messages.reduce((sum, message) => sum + countTokens(contentOf(message)), 0);
  const longest = body.max_completion_tokens ?? body.max_tokens ?? 0;
  if (endpoint.contextTokens !== undefined && prompt + longest > endpoint.contextTokens) {
    sendContextOverflow(response, endpoint.contextTokens, prompt, longest);
    return true;
  }
  return false;
}

function maxTokensOf(body: CompletionBody): number {
  return body.max_completion_tokens ?? body.max_tokens ?? 1_000_000;
}

/** In a stream only where the client asks for it, as OpenAI does. */
function isUsageWanted(body: CompletionBody, { endpoint }: ModelServerOptions): boolean {
  if (endpoint?.usage === false) return false;
  return body.stream !== true || body.stream_options?.include_usage === true;
}

/** The system text of a prompt that was seen before, as endpoints with a prefix cache report it. */
function countCached(question: Question, log: RequestLog): number {
  const first = contentOf(question.messages[0]!);
  const isKnown = log.entries.some(
    (entry) => entry.number < question.number && contentOf(entry.messages[0]!) === first,
  );
  return isKnown ? countTokens(first) : 0;
}

/** A question without the markers of an agent is a probe of the endpoint: answered as short as it allows. */
function withProbes(replies: Replies): Replies {
  return (question) => {
    if (question.role !== null) return replies(question);
    return question.schema === undefined
      ? { kind: 'text', text: 'OK' }
      : { kind: 'json', value: smallestValue(question.schema) };
  };
}
