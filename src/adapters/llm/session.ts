import type OpenAI from 'openai';
import type { CompletionLedger } from '../../model/completion-ledger.ts';
import type { AgentRole } from '../../model/language-model.ts';
import type { LlmSettings } from '../../model/llm-settings.ts';
import { createDialect, type Dialect } from './dialect.ts';
import { createTokenEstimator, type TokenEstimator } from './estimate-tokens.ts';
import type { SpendGuard } from './spend-guard.ts';

/** How far an answer has come. */
export interface ModelProgress {
  readonly role: AgentRole;
  readonly contract: string | null;
  /** Of this call, reasoning included. */
  readonly characters: number;
  readonly seconds: number;
}

/** What is known of one model at the endpoint. */
export interface ModelTraits {
  readonly dialect: Dialect;
  readonly estimator: TokenEstimator;
}

/** Everything that the calls to one endpoint share. */
export interface Session {
  readonly settings: LlmSettings;
  readonly apiKey: string | undefined;
  readonly client: OpenAI;
  readonly ledger: CompletionLedger;
  readonly guard: SpendGuard;
  readonly redact: (text: string) => string;
  readonly onProgress: (progress: ModelProgress) => void;
  /** Something that people should know, once each: what is done differently for this endpoint, and waits. */
  readonly onNote: (message: string) => void;
  readonly now: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly memory: EndpointMemory;
  /** Whether an answer of this run came from a test double. */
  readonly seen: { isTestDouble: boolean };
}

/** What has been learned about an endpoint. */
export interface EndpointMemory {
  hasAnswered: boolean;
  readonly models: Map<string, ModelTraits>;
}

/** All runs with the same settings share it: the app opens a model for every step, and nothing is to be refused twice. */
const memories = new WeakMap<LlmSettings, EndpointMemory>();

export function recallEndpoint(settings: LlmSettings): EndpointMemory {
  const memory = memories.get(settings) ?? { hasAnswered: false, models: new Map() };
  memories.set(settings, memory);
  return memory;
}

export function traitsOf(
  { settings, memory }: Pick<Session, 'settings' | 'memory'>,
  model: string,
): ModelTraits {
  const known = memory.models.get(model);
  if (known !== undefined) return known;
  const traits = { dialect: createDialect(settings), estimator: createTokenEstimator() };
  memory.models.set(model, traits);
  return traits;
}

/** A test double says so of itself. */
export function noteFingerprint({ seen }: Session, fingerprint: string | null | undefined): void {
  if (fingerprint?.startsWith('test-double')) seen.isTestDouble = true;
}
