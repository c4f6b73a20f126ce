import type { FinishedCall, RecordedCall } from '../../model/completion-ledger.ts';
import type { ModelRequest, RefusalReason } from '../../model/language-model.ts';
import type { TokenUsage } from '../../model/spending.ts';
import { composePrompt } from './compose-prompt.ts';
import { findLeftOut } from './fit-prompt.ts';
import { makeCall } from './make-call.ts';
import { createRecovery } from './recover-call.ts';
import { redactSecret } from './redact.ts';
import { keyOfCall } from './request-key.ts';
import { noteFingerprint, type Session } from './session.ts';

/** One part of an answer: what one call brought, now or in an earlier process. */
export type PartOutcome =
  | {
      readonly kind: 'answered';
      readonly key: string;
      readonly text: string;
      readonly finishReason: string;
      readonly usage: TokenUsage | null;
      readonly seconds: number;
      readonly leftOut: readonly string[];
      readonly isRepeated: boolean;
    }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly message: string };

/**
 * Asks until there is an answer or nothing more can be done. Every call stands in the record before it is made and
 * its outcome before it is used; a call that an earlier process finished is not made again.
 * @throws AppError MODEL_UNAVAILABLE
 */
export async function completePart(
  session: Session,
  request: ModelRequest,
  part: number,
  written: string,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const recovery = createRecovery(session, request);
  for (let failures = 0; ; failures++) {
    const key = keyOfCall(session.settings, request, { part, failures });
    const recorded = await session.ledger.find(key);
    const finished = recorded?.finished ?? null;
    if (finished !== null) {
      if (finished.failure === null) return repeat(session, request, recorded!, finished);
      continue;
    }
    signal.throwIfAborted();
    const prompt = composePrompt(session, request, written);
    if ('tooLong' in prompt) return { kind: 'refused', reason: 'context-overflow', message: prompt.tooLong };
    const call = await makeCall(session, request, prompt, key, signal);
    if (call.kind !== 'failed') return call;
    const refusal = await recovery.prepareNext(prompt, call, signal);
    if (refusal !== undefined) return refusal;
  }
}

function repeat(
  session: Session,
  request: ModelRequest,
  { key, messages }: RecordedCall,
  { text, finishReason, usage, seconds, fingerprint }: FinishedCall,
): PartOutcome {
  noteFingerprint(session, fingerprint);
  const sent = messages.map(({ content }) => content).join('\n');
  const sections = request.sections.map((section) => ({
    ...section,
    text: redactSecret(section.text, session.apiKey),
  }));
  const leftOut = findLeftOut(sections, sent);
  return { kind: 'answered', key, text, finishReason, usage, seconds, leftOut, isRepeated: true };
}
