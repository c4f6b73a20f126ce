import type { Fault, FaultName } from './faults.ts';
import type { Question } from './question.ts';
import type { Replies } from './reply.ts';

/** What an endpoint can and can't do. Absent: it can, as OpenAI's. */
export interface EndpointTraits {
  /** Default: `test-double`. */
  readonly models?: readonly string[];
  /** The only key that is let in; absent: any, and none. */
  readonly key?: string;
  readonly structuredOutput?: boolean;
  readonly streaming?: boolean;
  /** False: never reports usage, asked or not. */
  readonly usage?: boolean;
  /** Parameters that it refuses, as an older or smaller server does. */
  readonly refusedParameters?: readonly string[];
  /** Prompt and longest answer together. */
  readonly contextTokens?: number;
  /** Prompt tokens above it are dropped without a word, as Ollama does; only the usage tells. */
  readonly cutsPromptsAt?: number;
  /** `max_tokens` above it is refused. */
  readonly longestAnswer?: number;
  /** True: refuses `max_tokens` and wants `max_completion_tokens`, as OpenAI's reasoning models do. */
  readonly wantsCompletionTokens?: boolean;
  /** Default: `test-double`, by which the program knows that no figure is a model's. */
  readonly fingerprint?: string;
}

/** What goes wrong with a request. A list is used up in the order of arrival; `answer` is a request that goes well. */
export type Script =
  | readonly (FaultName | Fault | 'answer')[]
  | ((question: Question) => FaultName | Fault | undefined);

export interface ModelServerOptions {
  readonly replies: Replies;
  readonly script?: Script;
  readonly endpoint?: EndpointTraits;
  /** Default: any free one. */
  readonly port?: number;
}

export function modelsOf({ endpoint }: Pick<ModelServerOptions, 'endpoint'>): readonly string[] {
  return endpoint?.models ?? ['test-double'];
}
