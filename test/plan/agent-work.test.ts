import { describe, expect, it } from 'vitest';
import { AgentWork } from '../../src/model/agent-work.ts';
import { LlmSettings } from '../../src/model/llm-settings.ts';
import type { ContractCost, Plan } from '../../src/model/plan.ts';
import { spendingLimits, startAgentWork } from '../../src/plan/agent-work.ts';
import { read, validText } from '../constraints/read-case.ts';

const settings = (more: object = {}) =>
  LlmSettings.parse({ base_url: 'http://127.0.0.1:1/v1', model: 'm', ...more });
const constraints = (budget = '{}') =>
  read(`${validText}generation: {mode: zero-reference, budget: ${budget}}\n`).constraints!;
const cost = (contract: string, phase: string): ContractCost => ({
  ...{ contract, phase, promptTokens: 1, outputTokens: 1, basis: '' },
});
const planOf = (contracts: readonly ContractCost[]) => ({ cost: { contracts } }) as unknown as Plan;

describe('the work of agents at its beginning', () => {
  it('holds every contract that they write, open, in the order of writing', () => {
    const work = startAgentWork(
      planOf([cost('format.json', 'foundations'), cost('norm.rms', 'operations')]),
      settings({ limits: { attempts_per_contract: 5, rounds: 4 }, optimizations: 2 }),
      constraints(),
    );
    expect(AgentWork.parse(work)).toEqual(work);
    expect(work?.contracts.map(({ contract, phase, status }) => [contract, phase, status])).toEqual([
      ['format.json', 'foundations', 'open'],
      ['norm.rms', 'operations', 'open'],
    ]);
    expect(work).toMatchObject({ round: 1, optimizations: 0, stop: null, publishedPhases: [] });
    expect(work?.limits).toMatchObject({ attemptsPerContract: 5, rounds: 4, optimizations: 2 });
    expect(work?.spent.calls).toBe(0);
  });

  it('is none where knowledge fills everything, but for making it faster', () => {
    expect(startAgentWork(planOf([]), settings(), constraints())).toBeUndefined();
    expect(startAgentWork(planOf([]), settings({ optimizations: 1 }), constraints())).toMatchObject({
      contracts: [],
      limits: { optimizations: 1 },
    });
  });
});

describe('the limits of a run', () => {
  it.each([
    ['are the operator’s', {}, '{}', [2_000_000, 1_600_000, null, null]],
    ['are lowered by the file’s budget', {}, '{tokens: 1000, usd: 2}', [1000, 800, 2, 1.6]],
    ['are not raised by it', { hard_tokens: 500, hard_usd: 1 }, '{tokens: 1000, usd: 2}', [500, 400, 1, 0.8]],
    ['keep a soft limit', { soft_tokens: 300, soft_usd: 0.5, hard_usd: 3 }, '{}', [2_000_000, 300, 3, 0.5]],
    [
      'have no soft limit above the hard one',
      { soft_tokens: 900, soft_usd: 9 },
      '{tokens: 70, usd: 1}',
      [70, 70, 1, 1],
    ],
    ['may be nothing at all', {}, '{tokens: 0}', [0, 0, null, null]],
  ])('%s', (_, limits, budget, [hardTokens, softTokens, hardUsd, softUsd]) => {
    expect(spendingLimits(settings({ limits }), constraints(budget))).toEqual({
      ...{ hardTokens, softTokens, hardUsd, softUsd },
    });
  });
});
