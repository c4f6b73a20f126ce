import { createHash } from 'node:crypto';
import { composeEngine } from '../generation/compose-engine.ts';
import { selectRealizations } from '../knowledge/select-realizations.ts';
import type { Catalog, Platform, Selection } from '../model/catalog.ts';
import type { EngineSources } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import type { DeviceRates, Plan } from '../model/plan.ts';
import { toTarget } from '../model/target.ts';
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

const unknownDevice: DeviceRates = { bytesPerSecond: null, flopsPerSecond: null, source: 'unknown' };

export function prepareEngine(
  request: Request,
  catalog: Catalog,
  device: DeviceRates = unknownDevice,
): PreparedEngine {
  const { constraints, model } = request;
  const selection = selectRealizations(catalog, toTarget(constraints, model.facts, model.tokenizer));
  const plan = makePlan({
    constraints,
    constraintsSha256: request.sha256,
    facts: model.facts,
    tokenizer: model.tokenizer,
    selection,
    catalogSha256: catalog.sha256,
    device,
  });
  const platform = catalog.platforms.find((candidate) => candidate.id === constraints.hardware.platform);
  if (platform === undefined) {
    throw new AppError(
      'NOT_COVERED',
      `knowledge/platforms has no file for ${constraints.hardware.platform}.`,
    );
  }
  // The device's rates are a measurement: they may differ between two runs of the same plan.
  const bytes = JSON.stringify({ ...plan, limit: undefined });
  return { request, platform, selection, plan, planSha256: createHash('sha256').update(bytes).digest('hex') };
}

export function composePrepared(prepared: PreparedEngine): EngineSources {
  const { constraints, text, model } = prepared.request;
  return composeEngine({
    constraints,
    constraintsText: text,
    facts: model.facts,
    modelConfig: model.config,
    tokenizer: model.tokenizer,
    selection: prepared.selection,
    platform: prepared.platform,
  });
}
