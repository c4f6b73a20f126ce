/** Refusals and failures in place of an answer. */
const insteadOfAnswer = [
  'rate-limited',
  'quota-exhausted',
  'server-error',
  'html-error-page',
  'time-out',
  'disconnect-before-answer',
  'key-refused',
  'no-such-model',
  'unknown-parameter',
  'context-overflow',
] as const;
/** The answer is as it should be, its way to the client isn't. */
const onTheWay = [
  'stall',
  'disconnect',
  'slow',
  'invalid-utf8',
  'error-in-stream',
  'garbled-stream',
  'no-end-mark',
] as const;
/** The model's own faults. */
const inTheAnswer = [
  'truncated',
  'refusal',
  'content-filter',
  'empty',
  'prose-around',
  'prose-only',
  'wrong-path',
  'several-versions',
  'absurd-length',
] as const;

export const faultNames = [...insteadOfAnswer, ...onTheWay, ...inTheAnswer] as const;
export type FaultName = (typeof faultNames)[number];
export type StatusFault = (typeof insteadOfAnswer)[number];
export type AnswerFault = (typeof inTheAnswer)[number];

export interface Fault {
  readonly name: FaultName;
  /** rate-limited and server-error: in seconds; fractions go out as `retry-after-ms`. Default: 1; null: no such header. */
  readonly retryAfter?: number | null;
  /** server-error. Default: 503. */
  readonly status?: number;
  /** stall, disconnect, error-in-stream, truncated, invalid-utf8: how much arrives before. Default: half of the answer. */
  readonly afterCharacters?: number;
  /** slow: between two pieces. Default: 50. */
  readonly pauseMs?: number;
  /** unknown-parameter: its name. Default: the first of reasoning_effort, seed, temperature, stream_options that the request has. */
  readonly parameter?: string;
}

export function isStatusFault(name: FaultName): name is StatusFault {
  return insteadOfAnswer.some((known) => known === name);
}

export function isAnswerFault(name: FaultName): name is AnswerFault {
  return inTheAnswer.some((known) => known === name);
}
