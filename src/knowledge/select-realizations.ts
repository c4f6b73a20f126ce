import type { Catalog, SelectedContract, Selection } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import type { Contract, Realization } from '../model/contract.ts';
import { findIncludes } from '../model/cpp-tokens.ts';
import { allowedValues, firstMismatch, type Target } from '../model/target.ts';
import { chooseRealization } from './choose-realization.ts';
import { compareBytes } from './read-tree.ts';

/** Every engine is what these two need: a process that the harness can drive, and one that a person can run. */
const rootIds = ['harness.protocol', 'interface.cli'] as const;

/** Who fills what knowledge leaves open, or what the mode takes from it. */
export interface Filling {
  readonly mode: Constraints['generation']['mode'];
  /** Whether a language model may be asked. */
  readonly hasModel: boolean;
  /** Contracts that an agent wrote, whatever knowledge holds for them. */
  readonly rewritten?: ReadonlySet<string>;
}

interface Choice {
  readonly realization?: Realization;
  readonly status: SelectedContract['status'];
  readonly reason: string;
  /** Contracts beyond those of the contract, for this target. */
  readonly requires: readonly string[];
  /** Nothing is missing but a model that would write it. */
  readonly wantsModel?: true;
}

const howToConfigure = '`metainfer build --llm` on the command line, METAINFER_LLM for the app';

/**
 * Which contracts the target needs, in dependency order, and what fills each. The choice is by applicability, then
 * by evidence on the target's platform, then by file name: the same inputs always give the same answer. Agents fill
 * what no realization fills, or everything where the mode says so.
 */
export function selectRealizations(catalog: Catalog, target: Target, fill?: Filling): Selection {
  const byId = new Map(catalog.contracts.map((contract) => [contract.frontMatter.id, contract]));
  const taken = fill === undefined ? new Set<string>() : takenByAgents(catalog, fill);
  const replacedBy = findReplacements(byId, target, taken);
  const chosen = new Map<string, SelectedContract>();
  const next = new Map<string, readonly string[]>();
  const missing: string[] = [];
  const unwritten: string[] = [];
  const open: { readonly id: string; readonly from: string }[] = rootIds.map((id) => ({
    id,
    from: 'every engine',
  }));
  for (let entry = open.shift(); entry !== undefined; entry = open.shift()) {
    const { id, from } = entry;
    if (next.has(id)) continue;
    next.set(id, []);
    const contract = byId.get(id);
    if (contract === undefined) {
      missing.push(`${id}: there is no such contract; ${from} needs it`);
      continue;
    }
    const choice = choose(contract, target, {
      ...{ replacedBy: replacedBy.get(id), taken, fill },
      vectors: byId.has(vectors) ? [vectors] : [],
      canStand: (required) =>
        firstMismatch(byId.get(required)?.frontMatter.applies_when ?? {}, target) === undefined,
    });
    if (choice.wantsModel === true) unwritten.push(id);
    if (choice.status === 'missing' && !(choice.wantsModel && taken.has(id))) missing.push(choice.reason);
    const required = requirementsOf(contract, choice, byId);
    const { status, reason, realization } = choice;
    chosen.set(id, { contract, realization, status, reason, requires: required });
    next.set(id, required);
    open.push(...required.map((requiredId) => ({ id: requiredId, from: id })));
  }
  const contracts = orderByDependency(next).flatMap((id) => chosen.get(id) ?? []);
  return { target, contracts, missing: [...missing, ...askForModel(unwritten, fill)] };
}

/** One sentence for all of them: a zero-reference request without a model would else repeat it for every contract. */
function askForModel(unwritten: readonly string[], fill: Filling | undefined): string[] {
  if (fill === undefined || unwritten.length === 0) return [];
  const subject = unwritten.length === 1 ? `${unwritten[0]} is` : `${unwritten.length} contracts are`;
  return [
    `${subject} for agents to write (generation.mode: ${fill.mode}), and no language model is configured: ${howToConfigure}`,
  ];
}

/** Contracts that agents write although knowledge may hold them. */
function takenByAgents(catalog: Catalog, fill: Filling): ReadonlySet<string> {
  const all = catalog.contracts.map((contract) => contract.frontMatter.id);
  return fill.mode === 'knowledge-first' ? (fill.rewritten ?? new Set()) : new Set(all);
}

/** The contract of the vector type of processors. */
const vectors = 'runtime.vectors';

/** What an agent's code may be divided into. */
interface Parts {
  readonly vectors: readonly string[];
  /** Whether a contract may be part of an engine for this target. */
  readonly canStand: (id: string) => boolean;
}

function choose(
  contract: Contract,
  target: Target,
  by: {
    readonly replacedBy: string | undefined;
    readonly taken: ReadonlySet<string>;
    readonly fill: Filling | undefined;
  } & Parts,
): Choice {
  const { id, applies_when: appliesWhen, provides } = contract.frontMatter;
  const mismatch = firstMismatch(appliesWhen, target);
  if (mismatch !== undefined) {
    const covered = allowedValues(appliesWhen, mismatch)?.join(', ');
    const reason = `${id}: does not cover ${mismatch} = ${target[mismatch]}; it covers ${covered}`;
    return { status: 'missing', reason, requires: [] };
  }
  if (provides.header_only === true)
    return { status: 'header-only', reason: 'The header is the whole contract.', requires: [] };
  if (by.taken.has(id) && target['hardware.platform'] === 'cuda') return refuseAgent(id);
  if (by.taken.has(id)) return leaveToAgent(contract, target, by.fill!, by);
  if (by.replacedBy !== undefined)
    return { status: 'replaced', reason: `Filled by the realization of ${by.replacedBy}.`, requires: [] };
  const { realization, reason } = chooseRealization(contract, target, by.taken);
  if (realization !== undefined)
    return { status: 'realization', realization, reason, requires: realization.requires };
  if (by.fill === undefined) return { status: 'missing', reason, requires: [] };
  if (target['hardware.platform'] === 'cuda') return refuseAgent(id);
  const requires = sharedRequirements(contract, target, by);
  return by.fill.hasModel
    ? { status: 'agent', reason: `${reason}. An agent writes it from the contract.`, requires }
    : { status: 'missing', reason, requires, wantsModel: true };
}

/** What agents are told and what checks their code knows processors only. */
function refuseAgent(id: string): Choice {
  return { status: 'missing', reason: `${id}: agents write no parts for cuda yet`, requires: [] };
}

/** What every realization of a contract for this platform needs: one for another target of it will need it too. */
function sharedRequirements(
  contract: Contract,
  target: Target,
  { vectors, canStand }: Parts,
): readonly string[] {
  const platform = target['hardware.platform'];
  const own = contract.realizations.filter(
    ({ applies }) => allowedValues(applies, 'hardware.platform')?.includes(platform) ?? true,
  );
  // No example to go by: what computes on a processor's threads may use its vectors.
  if (contract.realizations.length === 0)
    return contract.frontMatter.requires.includes('runtime.threading') ? vectors : [];
  const [first, ...others] = own.length > 0 ? own : contract.realizations;
  // Realizations for other platforms alone may need parts that this one has no use for.
  return (first?.requires ?? []).filter(
    (id) => canStand(id) && others.every(({ requires }) => requires.includes(id)),
  );
}

/**
 * What knowledge holds stays out of sight, but for how the engine is divided: where a contract leaves that to the target
 * (a tokenizer needs other parts for each kind), the applicable realization's list of parts stands.
 */
function leaveToAgent(contract: Contract, target: Target, fill: Filling, parts: Parts): Choice {
  const { id } = contract.frontMatter;
  const requires =
    chooseRealization(contract, target).realization?.requires ?? sharedRequirements(contract, target, parts);
  if (fill.rewritten?.has(id) === true)
    return { status: 'agent', reason: 'An agent wrote it from the contract.', requires };
  return fill.hasModel
    ? { status: 'agent', reason: `${fill.mode}: an agent writes it from the contract.`, requires }
    : {
        status: 'missing',
        reason: `${id}: ${fill.mode} leaves it to an agent, and no language model is configured`,
        requires,
        wantsModel: true,
      };
}

/** Contract id → the contract whose chosen realization also fills it. */
function findReplacements(
  byId: ReadonlyMap<string, Contract>,
  target: Target,
  taken: ReadonlySet<string>,
): Map<string, string> {
  const replacedBy = new Map<string, string>();
  for (const [id, contract] of byId) {
    const isOut = replacedBy.has(id) || taken.has(id);
    if (isOut || firstMismatch(contract.frontMatter.applies_when, target) !== undefined) continue;
    for (const replaced of chooseRealization(contract, target, taken).realization?.replaces ?? [])
      replacedBy.set(replaced, id);
  }
  return replacedBy;
}

function requirementsOf(contract: Contract, choice: Choice, byId: ReadonlyMap<string, Contract>): string[] {
  const { requires } = contract.frontMatter;
  if (choice.status !== 'replaced') return sorted([...requires, ...choice.requires]);
  // Only the header of a replaced contract stays in the engine, so only what that header includes is needed.
  const included = new Set(findIncludes(contract.header.text).map((include) => include.written.slice(1, -1)));
  return sorted(requires.filter((id) => included.has(byId.get(id)?.header.name ?? '')));
}

function sorted(ids: readonly string[]): string[] {
  return [...new Set(ids)].sort(compareBytes);
}

/** What is required comes first; among those that are ready, the smallest id. */
function orderByDependency(next: ReadonlyMap<string, readonly string[]>): string[] {
  const order: string[] = [];
  const waiting = new Set(sorted([...next.keys()]));
  while (waiting.size > 0) {
    const ready = [...waiting].find((id) => (next.get(id) ?? []).every((required) => !waiting.has(required)));
    // The loader refuses cycles; a catalog made by hand still ends.
    const id = ready ?? [...waiting][0];
    if (id === undefined) break;
    waiting.delete(id);
    order.push(id);
  }
  return order;
}
