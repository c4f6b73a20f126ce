import type OpenAI from 'openai';
import { BrokenCompletion } from './endpoint-faults.ts';
import {
  type Completion,
  isStream,
  type OnArrival,
  type ReadLimits,
  readCompletion,
} from './read-completion.ts';

/** Who sends more than this before the first piece of an answer is not reading a long prompt. */
const longestPreamble = 64 * 1024;

export type CompletionBody = OpenAI.ChatCompletionCreateParams;

export interface Patience {
  /** For the whole call. */
  readonly timeoutSeconds: number;
  /** Between two pieces of an answer, whatever else is sent; before the first, a long prompt may need longer. */
  readonly stallSeconds: number;
}

/**
 * One request and its answer.
 * @throws what aborts the signal, BrokenCompletion, or an error of the client; `classifyFault` tells them apart
 */
export async function sendCompletion(
  client: OpenAI,
  body: CompletionBody,
  limits: Omit<ReadLimits, 'promptBytes'>,
  patience: Patience,
  signal: AbortSignal,
  onArrival: OnArrival,
): Promise<Completion> {
  const watch = watchCall(patience, signal);
  try {
    const request = client.chat.completions.create(body, { signal: watch.controller.signal });
    const response = tapStream(await request.asResponse(), watch.takeBytes);
    const promptBytes = Buffer.byteLength(JSON.stringify(body));
    const onPiece: OnArrival = (characters) => {
      watch.touch();
      onArrival(characters);
    };
    const all = { ...limits, promptBytes };
    const completion = await readCompletion(client, response, watch.controller, all, onPiece);
    watch.throwIfBroken();
    return completion;
  } catch (error) {
    // What was aborted here reports itself in several ways; the reason is known.
    watch.throwIfBroken();
    throw error;
  } finally {
    watch.end();
  }
}

function tapStream(response: Response, onBytes: (count: number) => void): Response {
  if (response.body === null || !isStream(response)) return response;
  const tap = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(tap), { headers: response.headers });
}

interface CallWatch {
  readonly controller: AbortController;
  /** Something of the answer arrived. */
  touch(): void;
  /** Something arrived, of the answer or not. */
  takeBytes(count: number): void;
  throwIfBroken(): void;
  end(): void;
}

function watchCall({ timeoutSeconds, stallSeconds }: Patience, signal: AbortSignal): CallWatch {
  const controller = new AbortController();
  let broken: BrokenCompletion | undefined;
  const breakOff = (message: string) => {
    broken ??= new BrokenCompletion({ kind: 'retry', message, waitMs: undefined, mayHaveCost: true });
    controller.abort();
  };
  const abort = () => controller.abort();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const total = setTimeout(
    () => breakOff(`no whole answer within ${timeoutSeconds} s (timeout_seconds)`),
    timeoutSeconds * 1000,
  );
  let stall: NodeJS.Timeout | undefined;
  let preamble = 0;
  const touch = () => {
    clearTimeout(stall);
    const message = `nothing of the answer arrived for ${stallSeconds} s in the middle of a stream (stall_seconds)`;
    stall = setTimeout(() => breakOff(message), stallSeconds * 1000);
  };
  return {
    controller,
    touch,
    takeBytes(count) {
      if (stall !== undefined) return;
      preamble += count;
      if (preamble > longestPreamble) touch();
    },
    throwIfBroken() {
      signal.throwIfAborted();
      if (broken !== undefined) throw broken;
    },
    end() {
      clearTimeout(total);
      clearTimeout(stall);
      signal.removeEventListener('abort', abort);
    },
  };
}
