import type { BegunCall, FinishedCall } from '../../model/completion-ledger.ts';
import type { ModelRequest } from '../../model/language-model.ts';
import type { PartOutcome } from './complete-part.ts';
import { type ComposedPrompt, toBody } from './compose-prompt.ts';
import { type CallFault, classifyFault } from './endpoint-faults.ts';
import type { Completion } from './read-completion.ts';
import { redactSecret } from './redact.ts';
import { settingsOf } from './request-key.ts';
import { sendCompletion } from './send-completion.ts';
import { noteFingerprint, type Session, traitsOf } from './session.ts';
import { costOf } from './spend-guard.ts';

export interface FailedCall {
  readonly kind: 'failed';
  readonly fault: CallFault;
  /** In tokens, as they were asked for. */
  readonly asked: { readonly prompt: number; readonly answer: number };
}

const withoutAnswer = { isUsageDoubtful: false, fingerprint: null };
const nothingUsed = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

/** One call: reserved and recorded, made, and its outcome recorded. @throws what aborts the signal */
export async function makeCall(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  key: string,
  signal: AbortSignal,
): Promise<PartOutcome | FailedCall> {
  const price = session.settings.prices[settingsOf(session.settings, request.role).model];
  const startedAt = session.now();
  const { promptTokens, longestAnswer } = prompt;
  const call = describeCall(session, request, prompt, key, startedAt);
  const reserved = await session.guard.reserve(call, { promptTokens, longestAnswer, price });
  if (!reserved.isGranted) return { kind: 'refused', reason: 'budget', message: reserved.message };
  const finish = async (
    outcome: Pick<FinishedCall, 'text' | 'finishReason' | 'usage' | 'failure' | 'fingerprint'>,
  ) => {
    const seconds = (session.now() - startedAt) / 1000;
    const usd = outcome.usage === null ? null : costOf(outcome.usage, price);
    await session.ledger.finish(key, { ...outcome, usd, seconds });
    return seconds;
  };
  try {
    const completion = await exchange(session, request, prompt, reserved.longestAnswer, signal);
    const { usage } = completion;
    const [text, finishReason, fingerprint] = [
      completion.text,
      completion.finishReason,
      completion.fingerprint ?? '',
    ].map((said) => redactSecret(said, session.apiKey)) as [string, string, string];
    const seconds = await finish({
      text,
      finishReason,
      usage,
      failure: null,
      fingerprint: fingerprint || null,
    });
    return {
      kind: 'answered',
      key,
      text,
      finishReason,
      usage,
      seconds,
      leftOut: prompt.leftOut,
      isRepeated: false,
    };
  } catch (error) {
    if (!(error instanceof CallBroken)) throw error;
    const { fault } = error;
    const usage = fault === undefined || hasCost(fault) ? null : nothingUsed;
    const failure = fault === undefined ? 'stopped from outside' : session.redact(fault.message);
    await finish({ text: '', finishReason: 'none', usage, failure });
    if (fault === undefined) throw signal.reason;
    return { kind: 'failed', fault, asked: { prompt: promptTokens, answer: reserved.longestAnswer } };
  }
}

function describeCall(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  key: string,
  startedAt: number,
): Omit<BegunCall, 'reservedTokens' | 'reservedUsd'> {
  const { role, contract, phase } = request;
  const messages = prompt.messages.map((message) => ({
    role: message.role,
    content: redactSecret(message.content, session.apiKey),
  }));
  const { model } = settingsOf(session.settings, role);
  return { key, role, contract, phase, model, messages, startedAt: new Date(startedAt).toISOString() };
}

/** Where a reservation must be taken for spent. Nothing is paid for a request that was refused. */
function hasCost(fault: CallFault): boolean {
  return fault.kind === 'retry' && fault.mayHaveCost;
}

/** A call without a completion: a fault of the endpoint, or undefined where it was stopped from outside. */
class CallBroken extends Error {
  readonly fault: CallFault | undefined;

  constructor(fault: CallFault | undefined) {
    super(fault?.message ?? 'stopped');
    this.fault = fault;
  }
}

/** @throws CallBroken */
async function exchange(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  longestAnswer: number,
  signal: AbortSignal,
): Promise<Completion> {
  const { settings, memory } = session;
  const { model } = settingsOf(settings, request.role);
  try {
    const completion = await sendCompletion(
      session.client,
      toBody(session, request, prompt, longestAnswer),
      { longestText: longestTextOf(request, longestAnswer), maxTokens: longestAnswer },
      { timeoutSeconds: settings.timeout_seconds, stallSeconds: settings.stall_seconds },
      signal,
      reporterOf(session, request),
    );
    memory.hasAnswered = true;
    noteFingerprint(session, completion.fingerprint);
    if (completion.isUsageDoubtful)
      session.onNote(
        `${model}: reports usage that cannot be right: such a call counts as what was reserved for it`,
      );
    return checkPromptCount(session, model, prompt, completion);
  } catch (error) {
    if (signal.aborted) throw new CallBroken(undefined);
    const fault = faultOf(session, model, error);
    // These are answers, if not useful ones: asked once more, the same would come.
    if (fault.kind === 'declined') {
      return { ...withoutAnswer, text: fault.message, finishReason: 'refusal', usage: nothingUsed };
    }
    if (fault.kind === 'too-long') {
      return { ...withoutAnswer, text: fault.message, finishReason: 'too-long', usage: null };
    }
    throw new CallBroken(fault);
  }
}

/** Learns from the tokens that the endpoint counted, where it can have read the whole prompt. */
function checkPromptCount(
  session: Session,
  model: string,
  { texts }: ComposedPrompt,
  completion: Completion,
): Completion {
  const { estimator } = traitsOf(session, model);
  const promptTokens = completion.usage?.promptTokens;
  if (promptTokens === undefined) return completion;
  const judgement = estimator.judge(texts, promptTokens);
  if (judgement === 'cut') return { ...completion, finishReason: 'prompt-cut' };
  if (judgement === 'partial') return { ...completion, usage: null };
  estimator.learn(texts, promptTokens);
  return completion;
}

function faultOf(session: Session, model: string, error: unknown): CallFault {
  const { settings, apiKey, memory, redact, now } = session;
  const fault = classifyFault(error, {
    ...{ baseUrl: settings.base_url, model, keyVariable: settings.api_key_env },
    ...{ hasKey: apiKey !== undefined, hasAnswered: memory.hasAnswered, redact, now },
  });
  if (fault.kind !== 'fatal') memory.hasAnswered = true;
  return fault;
}

/** Characters after which nobody would use the answer; in JSON each may be written as several. */
function longestTextOf({ expects }: ModelRequest, longestAnswer: number): number {
  if (expects.kind === 'files') return expects.paths.length * expects.maxBytes * 2 + 65_536;
  return longestAnswer * 16;
}

/** Tells how far the answer has come, four times a second at most. */
function reporterOf(session: Session, { role, contract }: ModelRequest): (characters: number) => void {
  const startedAt = session.now();
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (characters) => {
    const at = session.now();
    if (at - reportedAt < 250) return;
    reportedAt = at;
    session.onProgress({ role, contract, characters, seconds: (at - startedAt) / 1000 });
  };
}
