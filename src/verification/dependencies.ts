import type { Selection } from '../model/catalog.ts';

/** What needs what in one engine. */
export interface Dependencies {
  /** Everything that the contract needs, itself left out. */
  closureOf(contract: string): ReadonlySet<string>;
  /** What is needed comes first. */
  inOrder(contracts: readonly string[]): string[];
  hasUnitGate(contract: string): boolean;
}

export function dependencyMap({ contracts }: Selection): Dependencies {
  const byId = new Map(contracts.map((entry) => [entry.contract.frontMatter.id, entry]));
  const order = [...byId.keys()];
  const closures = new Map<string, ReadonlySet<string>>();
  const closureOf = (id: string): ReadonlySet<string> => {
    const known = closures.get(id);
    if (known !== undefined) return known;
    const found = new Set<string>();
    const open = [...(byId.get(id)?.requires ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === id || found.has(next)) continue;
      found.add(next);
      open.push(...(byId.get(next)?.requires ?? []));
    }
    closures.set(id, found);
    return found;
  };
  return {
    closureOf,
    inOrder: (ids) => [...ids].sort((a, b) => order.indexOf(a) - order.indexOf(b)),
    hasUnitGate: (id) => {
      const contract = byId.get(id)?.contract;
      return contract?.gate !== undefined && contract.shim !== undefined && contract.hasReference;
    },
  };
}
