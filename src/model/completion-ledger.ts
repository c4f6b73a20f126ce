import type { AgentRole } from './language-model.ts';
import { addSpending, nothingSpent, type Spending, type TokenUsage } from './spending.ts';

/** One request to the endpoint before it is sent. */
export interface BegunCall {
  /** Of everything that decides the answer, and the number of the try: SHA-256 in hex. */
  readonly key: string;
  readonly role: AgentRole;
  readonly contract: string | null;
  readonly phase: string;
  readonly model: string;
  /** As sent, without keys. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** Prompt tokens and the longest answer; taken for spent until usage is reported. */
  readonly reservedTokens: number;
  readonly reservedUsd: number | null;
  readonly startedAt: string;
}

export interface FinishedCall {
  readonly text: string;
  readonly finishReason: string;
  /** What the endpoint reported; null where it didn't. */
  readonly usage: TokenUsage | null;
  readonly usd: number | null;
  readonly seconds: number;
  /** Why it broke off; null where it is whole. */
  readonly failure: string | null;
  /** `system_fingerprint` as the endpoint reported it; that of a test double begins with `test-double`. */
  readonly fingerprint?: string | null;
}

export interface RecordedCall extends BegunCall {
  /** Null for a call that was begun and never came back: a crash, or one under way. */
  readonly finished: FinishedCall | null;
}

/** The record of every call of one run: what makes a restart pay for nothing twice, and a limit hold. */
export interface CompletionLedger {
  find(key: string): Promise<RecordedCall | undefined>;
  /** Before the request is sent, on disk before this resolves. A key that was begun before is begun again. */
  begin(call: BegunCall): Promise<void>;
  /** Before the answer is used. */
  finish(key: string, outcome: FinishedCall): Promise<void>;
  /** Of this run: finished calls as reported, the others as reserved. */
  spent(): Promise<Spending>;
  /** Tokens that the repository may still use today; null where there is no such limit. */
  leftToday(): Promise<number | null>;
  /** In the order in which they began. */
  list(): Promise<readonly RecordedCall[]>;
}

/** Finished calls as reported; those that never said count as what was reserved for them. */
export function spendingOf(calls: readonly RecordedCall[]): Spending {
  return calls.reduce((sum, call) => addSpending(sum, costOf(call)), nothingSpent);
}

function costOf({ finished, reservedTokens, reservedUsd }: RecordedCall): Spending {
  const usage = finished?.usage ?? null;
  if (usage === null)
    return { ...nothingSpent, calls: 1, unreportedTokens: reservedTokens, usd: reservedUsd };
  return { calls: 1, ...usage, unreportedTokens: 0, usd: finished!.usd };
}

/** Whether a stand-in for a model answered one of the calls: then no figure about models may be derived from them. */
export function isFromTestDouble(calls: readonly RecordedCall[]): boolean {
  return calls.some(({ finished }) => finished?.fingerprint?.startsWith('test-double') === true);
}
