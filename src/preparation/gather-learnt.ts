import { parse } from 'yaml';
import { chooseRealization } from '../knowledge/choose-realization.ts';
import type { AgentFile, AgentPapers } from '../model/agent-work.ts';
import type { Catalog } from '../model/catalog.ts';
import type { FileProvenance } from '../model/engine.ts';
import { AppError } from '../model/errors.ts';
import type { Learnt, SabotageTarget } from '../model/lesson.ts';
import type { Report } from '../model/report.ts';
import { SabotageFile } from '../model/sabotage.ts';
import { type Target, toTarget } from '../model/target.ts';
import type { PreparedEngine } from './prepare-engine.ts';
import { readRequest } from './read-request.ts';
import { sabotageRequest } from './sabotage-request.ts';

/** A finished run as `distil` takes it: what it left behind beside the knowledge that lessons would change. */
export async function gatherLearnt(found: {
  readonly runId: string;
  readonly prepared: PreparedEngine;
  readonly files: ReadonlyMap<string, AgentFile>;
  readonly provenance: readonly FileProvenance[];
  readonly papers: AgentPapers;
  readonly report: Report | null;
  readonly catalog: Catalog;
  /** Path below knowledge/ → text: the catalog's files, sabotage.yaml and the names under reports/. */
  readonly knowledge: ReadonlyMap<string, string>;
  /** Further targets on which every gate was green with these files. */
  readonly confirmed?: readonly Target[];
}): Promise<Learnt> {
  const { runId, prepared, catalog, confirmed = [], ...rest } = found;
  const { constraints, model } = prepared.request;
  const { target, contracts } = prepared.selection;
  return {
    ...rest,
    ...{ catalog, constraints, target, facts: model.facts, modelConfig: model.config },
    run: { id: runId, engine: `engines/${constraints.name}` },
    confirmed: [target, ...confirmed],
    selection: contracts,
    checkpoints: await sabotageTargets(catalog, found.knowledge.get('sabotage.yaml')),
    choose: (contract, wanted) => chooseRealization(contract, wanted).realization?.file,
  };
}

/** What each small model of sabotage.yaml asks for; those whose folder is not here are left out. */
async function sabotageTargets(catalog: Catalog, text: string | undefined): Promise<SabotageTarget[]> {
  const file = text === undefined ? undefined : SabotageFile.safeParse(parse(text)).data;
  const targets: SabotageTarget[] = [];
  for (const [checkpoint, spec] of Object.entries(file?.checkpoints ?? {})) {
    for (const weights of ['bf16', 'f32'] as const) {
      const target = await targetOf(sabotageRequest(checkpoint, spec, weights, 'cpu-x86_64'), catalog);
      if (target !== undefined) targets.push({ checkpoint, weights, target });
    }
  }
  return targets;
}

async function targetOf(text: string, catalog: Catalog): Promise<Target | undefined> {
  try {
    const { constraints, model } = await readRequest(text, {
      ...{ fileName: 'sabotage.yaml', origin: 'command-line', weightsRoot: undefined, catalog },
    });
    return toTarget(constraints, model.facts, model.tokenizer);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
