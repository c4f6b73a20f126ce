import { setTimeout as pause } from 'node:timers/promises';
import type { CompletionLedger } from '../../model/completion-ledger.ts';
import type { LanguageModel } from '../../model/language-model.ts';
import type { LlmSettings } from '../../model/llm-settings.ts';
import type { SpendingLimits } from '../../model/spending.ts';
import { askModel } from './ask-model.ts';
import { createEndpointClient } from './endpoint-client.ts';
import { placesAt } from './limit-concurrency.ts';
import { redactorOf } from './redact.ts';
import { settingsOf } from './request-key.ts';
import { type ModelProgress, recallEndpoint, type Session } from './session.ts';
import { createSpendGuard } from './spend-guard.ts';

export interface LanguageModelOptions {
  /** Undefined for an endpoint that wants none. */
  readonly apiKey: string | undefined;
  readonly ledger: CompletionLedger;
  readonly limits: SpendingLimits;
  readonly onProgress?: (progress: ModelProgress) => void;
  /** What people should know: what is done differently for this endpoint, and what is waited for. */
  readonly onNote?: (message: string) => void;
  /** Ends every question. */
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The language model of one run. It keeps the run's limits and its record, so there is one of these for each run. */
export function openLanguageModel(settings: LlmSettings, options: LanguageModelOptions): LanguageModel {
  const session = openSession(settings, options);
  const runLimited = placesAt(settings.base_url, settings.concurrency);
  return {
    endpoint: new URL(settings.base_url).host,
    modelOf: (role) => settingsOf(settings, role).model,
    isReal: () => settings.real_model && !session.seen.isTestDouble,
    ask: (request, signal) => {
      const either = options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]);
      return runLimited(either, () => askModel(session, request, either));
    },
  };
}

function openSession(settings: LlmSettings, options: LanguageModelOptions): Session {
  const { apiKey, ledger, limits } = options;
  const notes = new Set<string>();
  return {
    ...{ settings, apiKey, ledger },
    client: createEndpointClient(settings.base_url, apiKey, settings.timeout_seconds),
    guard: createSpendGuard(ledger, limits),
    memory: recallEndpoint(settings),
    redact: redactorOf([apiKey]),
    onProgress: options.onProgress ?? (() => undefined),
    onNote: (message) => {
      if (!notes.has(message)) options.onNote?.(message);
      notes.add(message);
    },
    now: options.now ?? Date.now,
    wait: options.wait ?? waitFor,
    seen: { isTestDouble: false },
  };
}

async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
