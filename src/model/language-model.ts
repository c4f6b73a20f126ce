import type { TokenUsage } from './spending.ts';

export const agentRoles = ['implementer', 'reviewer', 'diagnoser', 'optimizer'] as const;
export type AgentRole = (typeof agentRoles)[number];

/** One titled part of a prompt. */
export interface PromptSection {
  readonly title: string;
  readonly text: string;
  /** 0 is never left out; where the context is too small, the highest number goes first, and the prompt says so. */
  readonly priority: number;
}

/** Files by name, or one JSON value that a schema describes. */
export type ExpectedAnswer =
  | { readonly kind: 'files'; readonly paths: readonly string[]; readonly maxBytes: number }
  | { readonly kind: 'json'; readonly name: string; readonly schema: Readonly<Record<string, unknown>> };

export interface ModelRequest {
  readonly role: AgentRole;
  /** What it is about, for the accounts; null for a whole engine. */
  readonly contract: string | null;
  readonly phase: string;
  /** Part of the request's hash: the same question with the same number is answered from the record. */
  readonly attempt: number;
  readonly system: string;
  readonly sections: readonly PromptSection[];
  readonly expects: ExpectedAnswer;
}

/** Why there is no usable answer. None of these is a fault of this program or of the network. */
export const refusalReasons = [
  /** The model declined, or a content filter did. */
  'declined',
  'empty',
  /** Prose, or JSON that does not fit the schema. */
  'unreadable',
  'wrong-path',
  /** Several different versions of one file. */
  'contradictory',
  'too-long',
  /** Cut off at the token limit, and continuing did not complete it. */
  'truncated',
  'invalid-text',
  /** Even without everything that may be left out the prompt does not fit the context. */
  'context-overflow',
  /** The hard limit, or the repository's limit of the day, leaves no room for this call. */
  'budget',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Where an answer came from: enough to find it in the record and to name it in provenance. */
export interface AnswerOrigin {
  readonly model: string;
  /** Of role, model, settings and the prompt as it was sent. */
  readonly requestSha256: string;
  /** Titles of the sections that did not fit. */
  readonly leftOut: readonly string[];
  readonly usage: TokenUsage;
  readonly seconds: number;
  /** Taken from the record: nothing was paid. */
  readonly isRepeated: boolean;
}

export type ModelAnswer =
  | {
      readonly kind: 'files';
      readonly files: readonly { readonly path: string; readonly text: string }[];
      readonly origin: AnswerOrigin;
    }
  | { readonly kind: 'json'; readonly value: unknown; readonly origin: AnswerOrigin }
  | {
      readonly kind: 'refusal';
      readonly reason: RefusalReason;
      /** One or two sentences for the model's next attempt and for a person. */
      readonly message: string;
      /** Null where nothing was asked. */
      readonly origin: AnswerOrigin | null;
    };

/** A language model behind any OpenAI-compatible endpoint. */
export interface LanguageModel {
  /**
   * One question, asked until there is an answer or a typed refusal.
   * @throws AppError MODEL_UNAVAILABLE where the endpoint does not answer as it should
   * @throws what aborts the signal
   */
  ask(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
  /** Name of the model that plays the role. */
  modelOf(role: AgentRole): string;
  /** Host and port of the endpoint. */
  readonly endpoint: string;
  /** False once an answer's `system_fingerprint` began with `test-double`, or where the settings say so. */
  isReal(): boolean;
}
