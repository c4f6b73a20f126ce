import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildTarget } from '../compile-recipe.ts';
import type { ConfigInput, EngineContract, GateContext } from '../gate-context.ts';
import { codePlace } from '../gate-place.ts';
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
  /** Sources of the contract and of all that it needs. */
  readonly sources: readonly string[];
  readonly target: BuildTarget;
  /** Its program also runs under the device's memory checker. */
  readonly isMemoryChecked: boolean;
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

/** What the sources are built for: those of a host part are C++, on every platform. */
function targetFor({ engine, toolchain }: UnitContext, sources: readonly string[]): BuildTarget {
  if (!sources.some((source) => source.endsWith('.cu'))) return 'host';
  return codePlace(engine, toolchain) === 'device' ? 'device' : 'emulation';
}

type Overrides = Parameters<typeof smallModel>[1];

/** Sets of constants of one contract; `own` is the engine's. In emulation own shapes only where the engine is small. */
function chooseModels(
  { effort }: UnitContext,
  contract: EngineContract,
  target: BuildTarget,
): readonly ('own' | Overrides)[] {
  const { configs } = contract.gate!;
  if (target !== 'emulation' || effort.emulate === true) return ['own', ...(effort.variants ? configs : [])];
  return configs.length === 0 ? [{}] : configs;
}

/**
 * One job per contract and set of constants; contracts that share a set share its folder and its objects.
 * `only`: the contract that is judged; default all that have a gate.
 */
export function planJobs(context: UnitContext, only?: string): UnitJob[] {
  const { engine } = context;
  const models = new Map<string, UnitModel>();
  const modelOf = (choice: 'own' | Overrides): UnitModel => {
    const name = choice === 'own' ? choice : nameModel(choice);
    const config = choice === 'own' ? ownModel(engine) : smallModel(engine, choice);
    const model = models.get(name) ?? writeModelFolder(context, name, config, choice === 'own');
    models.set(name, model);
    return model;
  };
  const judged = engine.contracts.filter(
    ({ id, gate, shim, reference }) =>
      (only === undefined || id === only) && gate !== null && shim !== null && reference !== null,
  );
  return judged.flatMap((contract) => {
    const sources = closureOf(engine.contracts, contract.id).flatMap(({ source }) => source ?? []);
    const target = targetFor(context, sources);
    const chosen = chooseModels(context, contract, target);
    // Checked memory costs tens of times: one program of each contract, at small shapes where there are any.
    const checked = chosen.length > 1 ? 1 : 0;
    return chosen.map((choice, index) => {
      const isMemoryChecked = target === 'device' && index === checked;
      return { contract, model: modelOf(choice), sources, target, isMemoryChecked };
    });
  });
}

function nameModel(overrides: Overrides): string {
  const entries = Object.entries(overrides).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return 'small';
  return `small ${entries.map(([key, value]) => `${key}=${value}`).join(' ')}`;
}
