import { createHash } from 'node:crypto';
import { composeEngine, renderListedConfig } from '../generation/compose-engine.ts';
import { selectRealizations } from '../knowledge/select-realizations.ts';
import { explainGap } from '../knowledge/views/explain-gap.ts';
import type { AgentFile } from '../model/agent-work.ts';
import type { Catalog, Platform, Selection } from '../model/catalog.ts';
import type { EngineSources } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import type { KnowledgeGap } from '../model/knowledge-gap.ts';
import type { DeviceRates, Plan } from '../model/plan.ts';
import { type Target, toTarget } from '../model/target.ts';
import type { CostSettings } from '../plan/estimate-cost.ts';
import { makePlan } from '../plan/make-plan.ts';
import type { Request } from './read-request.ts';

/** What follows from a request and the knowledge, without touching the disk. */
export interface PreparedEngine {
  readonly request: Request;
  readonly platform: Platform;
  readonly selection: Selection;
  readonly plan: Plan;
  /** Of the plan's JSON. */
  readonly planSha256: string;
}

export interface PrepareOptions {
  readonly device?: DeviceRates | undefined;
  readonly agents?:
    | {
        /** Whether a language model may be asked. */
        readonly hasModel: boolean;
        /** Contracts that an agent wrote, whatever knowledge holds for them. */
        readonly rewritten?: ReadonlySet<string>;
      }
    | undefined;
  /** Models, prices and limits: for the plan's cost and nothing else. */
  readonly llm?: CostSettings | undefined;
}

export function prepareEngine(
  request: Request,
  catalog: Catalog,
  options: PrepareOptions = {},
): PreparedEngine {
  const { constraints, model } = request;
  const { mode } = constraints.generation;
  const target = toTarget(constraints, model.facts, model.tokenizer);
  const selection = selectRealizations(catalog, target, { mode, ...(options.agents ?? { hasModel: false }) });
  const platform = catalog.platforms.find((candidate) => candidate.id === constraints.hardware.platform);
  const plan = makePlan({
    constraints,
    constraintsSha256: request.sha256,
    facts: model.facts,
    tokenizer: model.tokenizer,
    selection,
    catalogSha256: catalog.sha256,
    gap: selection.missing.length === 0 ? undefined : gapOf(catalog, target),
    device: options.device,
    gpu: platform?.gpu,
    llm: options.llm,
  });
  if (platform === undefined) {
    throw new AppError(
      'NOT_COVERED',
      `knowledge/platforms has no file for ${constraints.hardware.platform}.`,
    );
  }
  // The device's rates are a measurement, prices and limits are the operator's: they may differ between two runs of the same plan.
  const bytes = JSON.stringify({ ...plan, limit: undefined, cost: undefined });
  return { request, platform, selection, plan, planSha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Where agents alone are missing knowledge lacks nothing. */
function gapOf(catalog: Catalog, target: Target): KnowledgeGap | undefined {
  const gap = explainGap(catalog, target);
  return gap.missing.length === 0 ? undefined : gap;
}

export interface AgentSources {
  /** By contract: the newest file of each contract that agents wrote. */
  readonly agentFiles?: ReadonlyMap<string, AgentFile>;
  /** Leaves out what agents have not written yet, instead of refusing. */
  readonly isPartial?: boolean;
}

export function composePrepared(prepared: PreparedEngine, agents: AgentSources = {}): EngineSources {
  const { constraints, text, model } = prepared.request;
  return composeEngine({
    constraints,
    constraintsText: text,
    facts: model.facts,
    modelConfig: model.config,
    tokenizer: model.tokenizer,
    selection: prepared.selection,
    platform: prepared.platform,
    ...agents,
  });
}

/** config.h with every constant that a contract of this engine lists: what an agent may use of it. */
export function configForAgents(prepared: PreparedEngine): string {
  const { constraints, model } = prepared.request;
  return renderListedConfig({
    constraints,
    facts: model.facts,
    modelConfig: model.config,
    selection: prepared.selection,
    platform: prepared.platform,
  });
}
