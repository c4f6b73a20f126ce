import { computeArithmetic } from '../model/arithmetic.ts';
import type { GpuPlatform, Selection } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import type { KnowledgeGap } from '../model/knowledge-gap.ts';
import type { ModelFacts, TokenizerFacts } from '../model/model-facts.ts';
import type { DeviceRates, Plan, PlanRequest } from '../model/plan.ts';
import { sourceNameOf } from '../model/source-name.ts';
import { spendingLimits } from './agent-work.ts';
import { type CostSettings, expectCosts, priceOf } from './estimate-cost.ts';
import { planGpu, statedRates } from './gpu-device.ts';
import { boundSpeed } from './roofline.ts';
import { findUnreachable } from './unreachable-goals.ts';

export interface PlanInput {
  readonly constraints: Constraints;
  readonly constraintsSha256: string;
  readonly facts: ModelFacts;
  readonly tokenizer: TokenizerFacts;
  readonly selection: Selection;
  readonly catalogSha256: string;
  /** Where something is missing that knowledge could hold. */
  readonly gap?: KnowledgeGap | undefined;
  /** Measured, or stated by the person; else what the platform's table says of a named device. */
  readonly device?: DeviceRates | undefined;
  /** The platform's, where it has devices. */
  readonly gpu?: GpuPlatform | undefined;
  /** Which models agents ask, at which price and within which limits; nothing but the cost depends on it. */
  readonly llm?: CostSettings | undefined;
}

/** Constraints + selection → plan. Pure: the same inputs give the same bytes of JSON. */
export function makePlan(input: PlanInput): Plan {
  const { constraints, facts, selection, gpu } = input;
  const arithmetic = computeArithmetic(facts, constraints);
  const named = gpu?.devices.find(({ id }) => id === constraints.hardware.device);
  const device = input.device ?? statedRates(named);
  const bounds = boundSpeed(facts, constraints, arithmetic, { rates: device, l2Bytes: named?.l2Bytes ?? 0 });
  return {
    name: constraints.name,
    request: toRequest(constraints, facts),
    constraintsSha256: input.constraintsSha256,
    catalogSha256: input.catalogSha256,
    target: selection.target,
    facts,
    tokenizer: input.tokenizer,
    ...(gpu === undefined ? {} : { gpu: planGpu(constraints, gpu, named) }),
    coverage: selection.contracts.map(({ contract, realization, status, reason }) => ({
      contract: contract.frontMatter.id,
      version: contract.frontMatter.version,
      status,
      realization: realization?.file ?? null,
      reason,
    })),
    missing: selection.missing,
    ...(input.gap === undefined ? {} : { gap: input.gap }),
    files: listFiles(selection),
    arithmetic,
    limit: { ...bounds, unreachable: findUnreachable(constraints.goals.require, bounds, arithmetic) },
    cost: planCost(input),
  };
}

function planCost({ constraints, selection, llm }: PlanInput): Plan['cost'] {
  const limitTokens =
    llm === undefined
      ? (constraints.generation.budget.tokens ?? null)
      : spendingLimits(llm, constraints).hardTokens;
  if (selection.missing.length > 0) return { modelTokens: null, usd: null, limitTokens, contracts: [] };
  const { platform } = constraints.hardware;
  const expected = expectCosts(selection.contracts, platform, llm === undefined || llm.review);
  const contracts = expected.map(({ cost }) => cost);
  const modelTokens = contracts.reduce((sum, cost) => sum + cost.promptTokens + cost.outputTokens, 0);
  return { modelTokens, usd: priceOf(expected, llm), limitTokens, contracts };
}

function toRequest(constraints: Constraints, facts: ModelFacts): PlanRequest {
  const { model, hardware, serving, workload } = constraints;
  const name = 'id' in model ? model.id : 'path' in model ? model.path : `inline ${facts.family} config.json`;
  return {
    model: name,
    memoryBytes: hardware.memory * hardware.devices,
    threads: hardware.threads,
    maxContext: serving.max_context,
    maxBatch: serving.max_batch,
    promptTokens: workload.prompt_tokens,
    outputTokens: workload.output_tokens,
    concurrency: workload.concurrency,
  };
}

/** The files of the engine in the order in which the composer writes them: its own, then the code by name. */
function listFiles(selection: Selection): string[] {
  const code = selection.contracts.flatMap((entry) => {
    const header = entry.contract.header.name;
    const hasSource = entry.status === 'realization' || entry.status === 'agent';
    return hasSource ? [header, sourceNameOf(entry)] : [header];
  });
  const sorted = [...code].sort((a, b) => (a < b ? -1 : 1));
  return [
    'CMakeLists.txt',
    'LICENSE',
    'README.md',
    'constraints.yaml',
    'config.h',
    ...sorted,
    'provenance.yaml',
  ];
}
