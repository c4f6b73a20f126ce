import type { AgentWork } from '../model/agent-work.ts';
import type { Constraints } from '../model/constraints.ts';
import type { LlmSettings } from '../model/llm-settings.ts';
import type { Plan } from '../model/plan.ts';
import { nothingSpent, type SpendingLimits } from '../model/spending.ts';

const softShare = 0.8;

/**
 * What agents have to do for a plan, with nothing done yet; undefined where they have nothing to write and nothing to
 * make faster.
 */
export function startAgentWork(
  plan: Plan,
  settings: LlmSettings,
  constraints: Constraints,
): AgentWork | undefined {
  const { contracts } = plan.cost;
  if (contracts.length === 0 && settings.optimizations === 0) return undefined;
  return {
    contracts: contracts.map(({ contract, phase }) => ({
      contract,
      phase,
      status: 'open',
      attempts: 0,
      totalAttempts: 0,
      findings: [],
      objections: [],
      fileSha256: null,
    })),
    publishedPhases: [],
    round: 1,
    limits: workLimits(settings, constraints),
    spent: nothingSpent,
    optimizations: 0,
    stop: null,
  };
}

/** What a run may do and spend under these settings. */
export function workLimits(settings: LlmSettings, constraints: Constraints): AgentWork['limits'] {
  return {
    attemptsPerContract: settings.limits.attempts_per_contract,
    rounds: settings.limits.rounds,
    optimizations: settings.optimizations,
    spending: spendingLimits(settings, constraints),
  };
}

/** The operator's limits, lowered by the budget of the constraint file. A soft limit is never above its hard one. */
export function spendingLimits(
  { limits }: Pick<LlmSettings, 'limits'>,
  { generation }: Pick<Constraints, 'generation'>,
): SpendingLimits {
  const hardTokens = Math.min(limits.hard_tokens, generation.budget.tokens ?? limits.hard_tokens);
  const hardUsd = least(limits.hard_usd, generation.budget.usd);
  const softUsd = limits.soft_usd ?? (hardUsd === null ? null : softShare * hardUsd);
  return {
    hardTokens,
    softTokens: Math.min(hardTokens, limits.soft_tokens ?? Math.floor(softShare * hardTokens)),
    hardUsd,
    softUsd: least(softUsd ?? undefined, hardUsd ?? undefined),
  };
}

function least(left: number | undefined, right: number | undefined): number | null {
  if (left === undefined) return right ?? null;
  return right === undefined ? left : Math.min(left, right);
}
