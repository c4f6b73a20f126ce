import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigInput, EngineContract, GateContext } from '../gate-context.ts';
import { findShimFolder } from '../shim-folder.ts';
import { ownModel, smallModel } from './unit-models.ts';

/** What the unit gate needs of a gate's context: no binary, no checkpoint, no oracle. */
export type UnitContext = Pick<
  GateContext,
  'engine' | 'runSeed' | 'scratchFolder' | 'toolchain' | 'renderConfigHeader' | 'effort'
>;

/** A set of constants and the folder whose config.h holds them. */
export interface UnitModel {
  readonly name: string;
  readonly isOwn: boolean;
  readonly config: ConfigInput;
  readonly folder: string;
}

export interface UnitJob {
  readonly contract: EngineContract;
  readonly model: UnitModel;
}

/** The contract and everything it needs, each once. */
export function closureOf(
  contracts: readonly EngineContract[],
  id: string,
  seen = new Set<string>(),
): EngineContract[] {
  const contract = contracts.find((candidate) => candidate.id === id);
  if (contract === undefined || seen.has(id)) return [];
  seen.add(id);
  return [...contract.requires.flatMap((required) => closureOf(contracts, required, seen)), contract];
}

/** The engine's sources, the shims and a config.h in one folder; own constants are the engine's config.h as it is. */
function writeModelFolder(
  context: UnitContext,
  name: string,
  config: ConfigInput,
  isOwn: boolean,
): UnitModel {
  const { engine } = context;
  const folder = join(context.scratchFolder, 'unit', name.replace(/[^\w.-]+/g, '_').slice(0, 80));
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(engine.folder).filter((entry) => /\.(?:h|cpp|cu)$/.test(entry))) {
    copyFileSync(join(engine.folder, file), join(folder, file));
  }
  const shims = findShimFolder();
  for (const file of ['shim.h', 'shim-memory.h', 'shim-main.cpp'])
    copyFileSync(join(shims, file), join(folder, file));
  for (const contract of engine.contracts) {
    if (contract.shim !== null) writeFileSync(join(folder, shimFile(contract)), contract.shim);
  }
  if (!isOwn) {
    const wanted = new Set(engine.contracts.flatMap((contract) => contract.config));
    writeFileSync(join(folder, 'config.h'), context.renderConfigHeader(config, wanted));
  }
  return { name, isOwn, config, folder };
}

export function shimFile(contract: EngineContract): string {
  return `shim_${contract.header.replace(/\.h$/, '.cpp')}`;
}

/**
 * One job per contract and set of constants; contracts that share a set share its folder and its objects.
 * `only`: the contract that is judged; default all that have a gate.
 */
export function planJobs(context: UnitContext, only?: string): UnitJob[] {
  const { engine } = context;
  const models = new Map<string, UnitModel>([
    ['own', writeModelFolder(context, 'own', ownModel(engine), true)],
  ]);
  const jobs: UnitJob[] = [];
  for (const contract of engine.contracts) {
    if (only !== undefined && contract.id !== only) continue;
    if (contract.gate === null || contract.shim === null || contract.reference === null) continue;
    jobs.push({ contract, model: models.get('own')! });
    for (const overrides of context.effort.variants ? contract.gate.configs : []) {
      const name = nameModel(overrides);
      if (!models.has(name))
        models.set(name, writeModelFolder(context, name, smallModel(engine, overrides), false));
      jobs.push({ contract, model: models.get(name)! });
    }
  }
  return jobs;
}

function nameModel(overrides: Parameters<typeof smallModel>[1]): string {
  const entries = Object.entries(overrides).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return 'small';
  return `small ${entries.map(([key, value]) => `${key}=${value}`).join(' ')}`;
}
