import type { BegunCall, FinishedCall, RecordedCall } from '../../model/completion-ledger.ts';
import { AppError } from '../../model/errors.ts';
import type { ModelRequest, RefusalReason } from '../../model/language-model.ts';
import type { TokenUsage } from '../../model/spending.ts';
import { type ComposedPrompt, composePrompt, toBody } from './compose-prompt.ts';
import { adaptDialect } from './dialect.ts';
import { type CallFault, classifyFault } from './endpoint-faults.ts';
import { findLeftOut } from './fit-prompt.ts';
import type { Completion } from './read-completion.ts';
import { redactSecret } from './redact.ts';
import { keyOfCall, settingsOf } from './request-key.ts';
import { createRetryPlan, type RetryPlan } from './retry-plan.ts';
import { sendCompletion } from './send-completion.ts';
import type { Session } from './session.ts';
import { costOf } from './spend-guard.ts';

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

const mostAdaptions = 10;
const mostTrims = 4;

interface Efforts {
  adaptions: number;
  trims: number;
  readonly retries: RetryPlan;
}

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
  const efforts: Efforts = { adaptions: 0, trims: 0, retries: createRetryPlan(session) };
  let failures = 0;
  for (;;) {
    const key = keyOfCall(session.settings, request, { part, failures });
    const recorded = await session.ledger.find(key);
    const finished = recorded?.finished ?? null;
    if (finished !== null) {
      if (finished.failure === null) return repeat(session, request, recorded!, finished);
      failures += 1;
      continue;
    }
    const prompt = composePrompt(session, request, written);
    if ('tooLong' in prompt) return { kind: 'refused', reason: 'context-overflow', message: prompt.tooLong };
    const call = await makeCall(session, request, prompt, key, signal);
    if (call.kind !== 'failed') return call;
    const refusal = await recover(session, request, prompt, call, efforts, signal);
    if (refusal !== undefined) return refusal;
    failures += 1;
  }
}

function repeat(
  session: Session,
  request: ModelRequest,
  recorded: RecordedCall,
  finished: FinishedCall,
): PartOutcome {
  if (finished.fingerprint?.startsWith('test-double')) session.seen.isTestDouble = true;
  const sent = recorded.messages.map(({ content }) => content).join('\n');
  return {
    kind: 'answered',
    key: recorded.key,
    text: finished.text,
    finishReason: finished.finishReason,
    usage: finished.usage,
    seconds: finished.seconds,
    leftOut: findLeftOut(request.sections, sent),
    isRepeated: true,
  };
}

interface FailedCall {
  readonly kind: 'failed';
  readonly fault: CallFault;
  /** Prompt and longest answer, as they were asked for. */
  readonly askedTokens: number;
}

async function makeCall(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  key: string,
  signal: AbortSignal,
): Promise<PartOutcome | FailedCall> {
  const { settings, now, guard } = session;
  const { model } = settingsOf(settings, request.role);
  const price = settings.prices[model];
  const startedAt = now();
  const begun: Omit<BegunCall, 'reservedTokens' | 'reservedUsd'> = {
    ...{ key, model, role: request.role, contract: request.contract, phase: request.phase },
    messages: prompt.messages.map(({ role, content }) => ({
      role,
      content: redactSecret(content, session.apiKey),
    })),
    startedAt: new Date(startedAt).toISOString(),
  };
  const { promptTokens } = prompt;
  const reserved = await guard.reserve(begun, { promptTokens, longestAnswer: prompt.longestAnswer, price });
  if (!reserved.isGranted) return { kind: 'refused', reason: 'budget', message: reserved.message };
  const call = await exchange(session, request, prompt, reserved.longestAnswer, signal);
  const seconds = (now() - startedAt) / 1000;
  const { completion, fault } = call;
  if (completion === undefined) {
    const usage =
      fault === undefined || hasCost(fault)
        ? null
        : { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
    const failure = fault === undefined ? 'stopped from outside' : session.redact(fault.message);
    await session.ledger.finish(key, {
      ...{ text: '', finishReason: 'none', usage, usd: usage === null ? null : 0, seconds, failure },
    });
    if (fault === undefined) throw call.abortReason;
    return { kind: 'failed', fault, askedTokens: promptTokens + reserved.longestAnswer };
  }
  const { usage, finishReason, fingerprint } = completion;
  const text = redactSecret(completion.text, session.apiKey);
  const usd = usage === null ? null : costOf(usage, price);
  await session.ledger.finish(key, { text, finishReason, usage, usd, seconds, failure: null, fingerprint });
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
}

/** Where a reservation must be taken for spent. Nothing is paid for a request that was refused. */
function hasCost(fault: CallFault): boolean {
  return fault.kind === 'retry' && fault.mayHaveCost;
}

type Exchange =
  | { readonly completion: Completion; readonly fault?: undefined }
  | { readonly completion?: undefined; readonly fault: CallFault }
  | { readonly completion?: undefined; readonly fault?: undefined; readonly abortReason: unknown };

async function exchange(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  longestAnswer: number,
  signal: AbortSignal,
): Promise<Exchange & { readonly abortReason?: unknown }> {
  const { settings, seen, now, redact } = session;
  const { model } = settingsOf(settings, request.role);
  const { estimator } = session.traitsOf(model);
  const patience = { timeoutSeconds: settings.timeout_seconds, stallSeconds: settings.stall_seconds };
  const limits = { longestText: longestTextOf(request, longestAnswer), maxTokens: longestAnswer };
  const body = toBody(session, request, prompt, longestAnswer);
  try {
    const completion = await sendCompletion(
      session.client,
      body,
      limits,
      patience,
      signal,
      reporterOf(session, request),
    );
    seen.hasAnswered = true;
    if (completion.fingerprint?.startsWith('test-double')) seen.isTestDouble = true;
    const { usage } = completion;
    if (usage === null) return { completion };
    if (estimator.isImplausible(prompt.texts, usage.promptTokens)) {
      return { completion: { ...completion, finishReason: 'prompt-cut' } };
    }
    estimator.learn(prompt.texts, usage.promptTokens);
    return { completion };
  } catch (error) {
    if (signal.aborted) return { abortReason: signal.reason };
    const keyVariable = settings.api_key_env;
    const hasKey = session.apiKey !== undefined;
    const place = { baseUrl: settings.base_url, model, keyVariable, hasKey };
    const fault = classifyFault(error, { ...place, hasAnswered: seen.hasAnswered, redact, now });
    if (fault.kind !== 'fatal') seen.hasAnswered = true;
    // Both are answers, if not useful ones: asked once more, the same would come.
    if (fault.kind === 'declined') return { completion: emptyAnswer(fault.message, 'refusal', true) };
    if (fault.kind === 'too-long') return { completion: emptyAnswer(fault.message, 'too-long', false) };
    return { fault };
  }
}

function emptyAnswer(text: string, finishReason: string, isFree: boolean): Completion {
  const usage = isFree ? { promptTokens: 0, cachedTokens: 0, completionTokens: 0 } : null;
  return { text, finishReason, usage, fingerprint: null };
}

/** Characters after which nobody would use the answer; in JSON each may be written as several. */
function longestTextOf({ expects }: ModelRequest, longestAnswer: number): number {
  if (expects.kind === 'files') return expects.paths.length * expects.maxBytes * 2 + 65_536;
  return longestAnswer * 16;
}

function reporterOf(session: Session, request: ModelRequest): (characters: number) => void {
  const startedAt = session.now();
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (characters) => {
    const at = session.now();
    if (at - reportedAt < 250) return;
    reportedAt = at;
    const { role, contract } = request;
    session.onProgress({ role, contract, characters, seconds: (at - startedAt) / 1000 });
  };
}

/** Prepares the next try. @returns a refusal where there can be none */
async function recover(
  session: Session,
  request: ModelRequest,
  prompt: ComposedPrompt,
  { fault, askedTokens }: FailedCall,
  efforts: Efforts,
  signal: AbortSignal,
): Promise<PartOutcome | undefined> {
  const { dialect, estimator } = session.traitsOf(settingsOf(session.settings, request.role).model);
  switch (fault.kind) {
    case 'retry':
      await efforts.retries.waitAfter(fault, signal);
      return undefined;
    case 'overflow': {
      efforts.trims += 1;
      if (efforts.trims > mostTrims) {
        const message = `The prompt does not fit the context of the model, even with everything left out that may be: ${fault.message}`;
        return { kind: 'refused', reason: 'context-overflow', message };
      }
      if (fault.promptTokens !== undefined) estimator.learn(prompt.texts, fault.promptTokens);
      const isNews = fault.limit !== undefined && fault.limit < dialect.contextTokens;
      dialect.contextTokens = isNews
        ? fault.limit!
        : Math.floor(Math.min(dialect.contextTokens, askedTokens) * 0.75);
      session.onNote(`the context of the model holds ${dialect.contextTokens} tokens`);
      return undefined;
    }
    case 'bad-request': {
      efforts.adaptions += 1;
      const isAuto = session.settings.structured_output === 'auto';
      const refusal = { parameter: fault.parameter, message: fault.message.toLowerCase() };
      const change = efforts.adaptions > mostAdaptions ? undefined : adaptDialect(dialect, refusal, isAuto);
      if (change === undefined) throw unavailable(session, `refused the request: ${fault.message}`);
      session.onNote(change);
      return undefined;
    }
    default:
      throw new AppError('MODEL_UNAVAILABLE', session.redact(fault.message));
  }
}

function unavailable(session: Session, what: string): AppError {
  const host = new URL(session.settings.base_url).host;
  return new AppError(
    'MODEL_UNAVAILABLE',
    `${host} ${session.redact(what)}\n\`metainfer doctor --llm …\` shows what the endpoint accepts; settings that it does not know can be left out.`,
  );
}
