import type OpenAI from 'openai';
import { BrokenCompletion } from './endpoint-faults.ts';
import { type Completion, type OnArrival, type ReadLimits, readCompletion } from './read-completion.ts';

export type CompletionBody = OpenAI.ChatCompletionCreateParams;

export interface Patience {
  /** For the whole call. */
  readonly timeoutSeconds: number;
  /** Between two pieces of an answer; before the first, a long prompt may need longer. */
  readonly stallSeconds: number;
}

/**
 * One request and its answer.
 * @throws what aborts the signal, BrokenCompletion, or an error of the client; `classifyFault` tells them apart
 */
export async function sendCompletion(
  client: OpenAI,
  body: CompletionBody,
  limits: ReadLimits,
  patience: Patience,
  signal: AbortSignal,
  onArrival: OnArrival,
): Promise<Completion> {
  const watch = watchCall(patience, signal);
  try {
    const request = client.chat.completions.create(body, { signal: watch.controller.signal });
    const response = await request.asResponse();
    const onPiece: OnArrival = (characters) => {
      watch.touch();
      onArrival(characters);
    };
    const completion = await readCompletion(client, response, watch.controller, limits, onPiece);
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

interface CallWatch {
  readonly controller: AbortController;
  /** Something of the answer arrived. */
  touch(): void;
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
  return {
    controller,
    touch() {
      clearTimeout(stall);
      stall = setTimeout(
        () => breakOff(`nothing arrived for ${stallSeconds} s in the middle of an answer (stall_seconds)`),
        stallSeconds * 1000,
      );
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
