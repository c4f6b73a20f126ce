import type { ServerResponse } from 'node:http';
import { type Answer, countPrompt, countTokens, makeAnswer } from './answer.ts';
import { CompletionBody } from './completion-body.ts';
import { type Fault, isStatusFault } from './faults.ts';
import { contentOf, type Question, readQuestion } from './question.ts';
import { refuseRequest } from './refuse-request.ts';
import { type Replies, smallestValue } from './reply.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';
import { type Sending, sendHeartbeat, sendStream, sendWhole } from './send-completion.ts';
import { sendError, sendStatusFault, sendUnknownParameter } from './send-error.ts';
import type { ModelServerOptions } from './server-options.ts';

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
  if (refuseRequest(response, body, options)) return;
  // Whatever happens to the answer, the model has read the prompt; only a refusal at the door is free.
  const promptTokens = countPrompt(body);
  if (fault !== undefined && isStatusFault(fault.name)) {
    if (fault.name === 'time-out') entry.promptTokens = promptTokens;
    return await sendStatusFault(response, fault.name, fault, body, promptTokens);
  }
  entry.promptTokens = Math.min(promptTokens, options.endpoint?.cutsPromptsAt ?? promptTokens);
  const answer = await waitForAnswer(question, body, response, options, fault);
  if (answer === undefined) return;
  const usage = {
    promptTokens: entry.promptTokens,
    cachedTokens: countCached(question, log),
    completionTokens: countTokens(answer.text),
  };
  let sentBytes = 0;
  const sending: Sending = {
    ...{ response, answer, fault },
    id: `chatcmpl-double-${question.number}`,
    model: body.model,
    fingerprint: options.endpoint?.fingerprint ?? 'test-double',
    usage: isUsageWanted(body, options) ? usage : undefined,
    onSent: (piece) => {
      entry.sent += piece;
      sentBytes += Buffer.byteLength(piece);
      // What goes beyond the limit (absurd-length) is nobody's to pay.
      entry.completionTokens = Math.min(Math.ceil(sentBytes / 4), maxTokensOf(body));
      log.changed();
    },
  };
  entry.finishReason = answer.finishReason;
  const isSent = await (body.stream === true ? sendStream(sending) : sendWhole(sending));
  // A stream that ends with an error is no answer.
  entry.isDelivered = isSent && fault?.name !== 'error-in-stream';
  log.changed();
}

/** Undefined where the client has gone meanwhile. */
async function waitForAnswer(
  question: Question,
  body: CompletionBody,
  response: ServerResponse,
  options: ModelServerOptions,
  fault: Fault | undefined,
): Promise<Answer | undefined> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const beat = body.stream === true ? setInterval(() => sendHeartbeat(response), 10_000) : undefined;
  try {
    const answer = await makeAnswer(
      question,
      withProbes(options.replies),
      fault,
      maxTokensOf(body),
      gone.signal,
    );
    return gone.signal.aborted ? undefined : answer;
  } catch (error) {
    if (gone.signal.aborted) return undefined;
    throw error;
  } finally {
    clearInterval(beat);
  }
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
  return (question, signal) => {
    if (question.role !== null) return replies(question, signal);
    return question.schema === undefined
      ? { kind: 'text', text: 'OK' }
      : { kind: 'json', value: smallestValue(question.schema) };
  };
}
