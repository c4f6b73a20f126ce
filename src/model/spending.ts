import { z } from 'zod';

const count = z.int().min(0);

/** As the endpoint reports it; `cachedTokens` are part of `promptTokens`. */
export const TokenUsage = z.strictObject({
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
});
export type TokenUsage = z.infer<typeof TokenUsage>;

/** What was paid, or must be taken for paid. */
export const Spending = z.strictObject({
  /** Requests that reached the endpoint. */
  calls: count,
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  /** Reserved for calls whose usage was never reported (broken off, or an endpoint that doesn't say): counts as spent. */
  unreportedTokens: count,
  /** Null where the model has no price. */
  usd: z.number().min(0).nullable(),
});
export type Spending = z.infer<typeof Spending>;

export const nothingSpent: Spending = {
  calls: 0,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  unreportedTokens: 0,
  usd: 0,
};

/** Everything that counts against a limit. */
export function tokensOf(spending: Spending): number {
  return spending.promptTokens + spending.completionTokens + spending.unreportedTokens;
}

export function addSpending(left: Spending, right: Spending): Spending {
  return {
    calls: left.calls + right.calls,
    promptTokens: left.promptTokens + right.promptTokens,
    cachedTokens: left.cachedTokens + right.cachedTokens,
    completionTokens: left.completionTokens + right.completionTokens,
    unreportedTokens: left.unreportedTokens + right.unreportedTokens,
    usd: left.usd === null || right.usd === null ? null : left.usd + right.usd,
  };
}

/** Tokens and money that a run may use. */
export const SpendingLimits = z.strictObject({
  /** Above it a phase is finished and no new work begins. */
  softTokens: count,
  /** Never passed: before each call the prompt and the longest answer are reserved against it. */
  hardTokens: count,
  softUsd: z.number().min(0).nullable(),
  hardUsd: z.number().min(0).nullable(),
});
export type SpendingLimits = z.infer<typeof SpendingLimits>;

/** Whether new work may begin. */
export function isWithinSoftLimit(spending: Spending, limits: SpendingLimits): boolean {
  const isMoneyLeft = limits.softUsd === null || spending.usd === null || spending.usd < limits.softUsd;
  return tokensOf(spending) < limits.softTokens && isMoneyLeft;
}
