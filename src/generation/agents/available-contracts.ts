import type { SelectedContract, Selection } from '../../model/catalog.ts';
import { findIncludes } from '../../model/cpp-tokens.ts';
import { briefContract, type ContractBrief } from './contract-brief.ts';

/**
 * The contracts whose headers a source may include, in dependency order: those that it requires for this target, and
 * those whose headers these include.
 */
export function availableContracts(
  selection: Selection,
  contractId: string,
): { readonly brief: ContractBrief; readonly isDirect: boolean }[] {
  const byId = new Map(selection.contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  const own = byId.get(contractId);
  if (own === undefined) return [];
  const direct = new Set(own.requires);
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

function includedBy(entry: SelectedContract, byId: ReadonlyMap<string, SelectedContract>): string[] {
  const names = new Set(findIncludes(entry.contract.header.text).map(({ written }) => written.slice(1, -1)));
  return [...byId].filter(([, other]) => names.has(other.contract.header.name)).map(([id]) => id);
}
