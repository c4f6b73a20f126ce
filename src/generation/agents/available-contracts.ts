import type { SelectedContract, Selection } from '../../model/catalog.ts';
import { findIncludes } from '../../model/cpp-tokens.ts';
import { firstMismatch } from '../../model/target.ts';
import { briefContract, type ContractBrief } from './contract-brief.ts';

/**
 * The contracts whose headers a source may include: those that it requires, and those whose headers these include.
 * Some contracts need different parts for different targets (a tokenizer's kind decides); which ones is stated beside
 * the realizations for that target, and of that statement only the names are used.
 */
export function availableContracts(
  selection: Selection,
  contractId: string,
): { readonly brief: ContractBrief; readonly isDirect: boolean }[] {
  const byId = new Map(selection.contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  const own = byId.get(contractId);
  if (own === undefined) return [];
  const direct = new Set(requirementsOf(own, selection));
  const reached = new Set<string>();
  const open = [...direct, ...includedBy(own, byId)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const entry = byId.get(id);
    if (entry === undefined || id === contractId || reached.has(id)) continue;
    reached.add(id);
    open.push(...includedBy(entry, byId));
  }
  return selection.contracts
    .filter(({ contract }) => reached.has(contract.frontMatter.id))
    .map(({ contract }) => ({
      brief: briefContract(contract),
      isDirect: direct.has(contract.frontMatter.id),
    }));
}

function requirementsOf({ contract }: SelectedContract, { target }: Selection): string[] {
  const fitting = contract.realizations.filter(({ applies }) => firstMismatch(applies, target) === undefined);
  const stated = fitting.length > 0 ? fitting : contract.realizations;
  return [...contract.frontMatter.requires, ...stated.flatMap(({ requires }) => requires)];
}

function includedBy(entry: SelectedContract, byId: ReadonlyMap<string, SelectedContract>): string[] {
  const names = new Set(findIncludes(entry.contract.header.text).map(({ written }) => written.slice(1, -1)));
  return [...byId].filter(([, other]) => names.has(other.contract.header.name)).map(([id]) => id);
}
