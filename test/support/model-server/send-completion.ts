import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import type { Fault } from './faults.ts';

export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface Sending {
  readonly response: ServerResponse;
  readonly id: string;
  readonly model: string;
  readonly fingerprint: string;
  readonly answer: Answer;
  /** Undefined where the endpoint doesn't report any, or the client didn't ask. */
  readonly usage: Usage | undefined;
  readonly fault: Fault | undefined;
  /** Called with every piece as it goes out. */
  readonly onSent: (piece: string) => void;
}

const pieceLength = 48;

/** Everything in one body. @returns whether the client got it in full */
export async function sendWhole(sending: Sending): Promise<boolean> {
  const { response, answer, fault, onSent } = sending;
  const message = { role: 'assistant', content: answer.text, refusal: answer.refusal };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: answer.finishReason }];
  const usage = sending.usage === undefined ? {} : { usage: renderUsage(sending.usage) };
  const body = JSON.stringify({ ...head(sending, 'chat.completion'), choices, ...usage });
  onSent(answer.text);
  response.writeHead(200, { 'content-type': 'application/json' });
  const isPartial = fault?.name === 'stall' || fault?.name === 'disconnect';
  response.write(spoil(isPartial ? body.slice(0, body.length / 2) : body, fault));
  if (fault?.name === 'stall') return await hold(response);
  if (fault?.name === 'disconnect') return breakOff(response);
  return await finish(response);
}

/** A comment, so that nobody on the way takes a long silence for the end. */
export function sendHeartbeat(response: ServerResponse): void {
  openStream(response);
  response.write(': waiting for the answer\n\n');
}

function openStream(response: ServerResponse): void {
  if (response.headersSent) return;
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
}

/** Server-sent events, one piece each. @returns whether the client got it in full */
export async function sendStream(sending: Sending): Promise<boolean> {
  const { response, answer, fault } = sending;
  openStream(response);
  write(sending, { delta: { role: 'assistant', content: '' } });
  if (answer.refusal !== null) write(sending, { delta: { refusal: answer.refusal } });
  const breakAt = isBreaking(fault)
    ? (fault?.afterCharacters ?? Math.ceil(answer.text.length / 2))
    : Infinity;
  const sent = await sendPieces(sending, breakAt);
  if (!sent) return false;
  if (answer.text.length >= breakAt || (isBreaking(fault) && answer.text.length === 0)) {
    if (fault?.name === 'stall') return await hold(response);
    if (fault?.name === 'disconnect') return breakOff(response);
    const error = { message: 'CUDA error: out of memory', type: 'server_error', code: 500 };
    response.write(`data: ${JSON.stringify({ error })}\n\n`);
    return await finish(response);
  }
  write(sending, { delta: {}, finishReason: answer.finishReason });
  if (sending.usage !== undefined) {
    const usage = renderUsage(sending.usage);
    response.write(
      `data: ${JSON.stringify({ ...head(sending, 'chat.completion.chunk'), choices: [], usage })}\n\n`,
    );
  }
  if (fault?.name !== 'no-end-mark') response.write('data: [DONE]\n\n');
  return await finish(response);
}

/** Up to `end` characters. @returns false where the client went away */
async function sendPieces(sending: Sending, end: number): Promise<boolean> {
  const { response, answer, fault, onSent } = sending;
  const characters = [...answer.text.slice(0, Math.min(end, answer.text.length))];
  // Long answers in long pieces: a thousand events are enough to see how streams are read.
  const length = Math.max(pieceLength, Math.ceil(characters.length / 1000));
  for (let start = 0; start < characters.length; start += length) {
    if (response.destroyed) return false;
    const piece = characters.slice(start, start + length).join('');
    onSent(piece);
    const isMiddle = start <= characters.length / 2 && start + length > characters.length / 2;
    write(sending, { delta: { content: piece }, ...(isMiddle && fault !== undefined ? { fault } : {}) });
    if (fault?.name === 'slow') await pause(fault.pauseMs ?? 50);
    else if (response.writableNeedDrain) await drained(response);
  }
  return !response.destroyed;
}

interface Piece {
  readonly delta: Readonly<Record<string, string>>;
  readonly finishReason?: string;
  readonly fault?: Fault;
}

function write(sending: Sending, { delta, finishReason, fault }: Piece): void {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason ?? null }];
  const event = JSON.stringify({ ...head(sending, 'chat.completion.chunk'), choices });
  if (fault?.name === 'garbled-stream') sending.response.write(`data: ${event.slice(0, -9)}\n\n`);
  sending.response.write(spoil(`data: ${event}\n\n`, fault));
}

/** Two bytes that are no UTF-8 before the last quotation mark of the content. */
function spoil(text: string, fault: Fault | undefined): Buffer {
  if (fault?.name !== 'invalid-utf8') return Buffer.from(text);
  const place = text.indexOf('"content":"') + '"content":"'.length;
  return Buffer.concat([
    Buffer.from(text.slice(0, place)),
    Buffer.from([0xc3, 0x28]),
    Buffer.from(text.slice(place)),
  ]);
}

function isBreaking(fault: Fault | undefined): boolean {
  return fault?.name === 'stall' || fault?.name === 'disconnect' || fault?.name === 'error-in-stream';
}

function head(sending: Sending, object: string): Record<string, unknown> {
  const { id, model, fingerprint } = sending;
  return { id, object, created: Math.floor(Date.now() / 1000), model, system_fingerprint: fingerprint };
}

function renderUsage(usage: Usage): Record<string, unknown> {
  const { promptTokens, cachedTokens, completionTokens } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

function breakOff(response: ServerResponse): false {
  // What was written goes out first: a connection that is reset at once would lose it.
  response.socket?.end(() => response.destroy());
  return false;
}

/** Says nothing more until the client gives up or the server is closed. */
export async function hold(response: ServerResponse): Promise<false> {
  await new Promise((resolve) => response.once('close', resolve));
  return false;
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

async function finish(response: ServerResponse): Promise<boolean> {
  return await new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(response.writableFinished));
    response.end();
  });
}
