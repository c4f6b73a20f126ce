import type { SelectedContract } from '../model/catalog.ts';

/** Groups of contracts that agents write one after the other, most basic first; each is published as one commit. */
export const agentPhases = ['foundations', 'text', 'operations', 'model', 'interfaces'] as const;
export type AgentPhase = (typeof agentPhases)[number];

/** By id, else by what stands before the first dot; everything else is an operation. */
const phaseOfName: Readonly<Record<string, AgentPhase>> = {
  runtime: 'foundations',
  cuda: 'foundations',
  format: 'foundations',
  checkpoint: 'foundations',
  text: 'text',
  sampling: 'text',
  'text.generation': 'interfaces',
  'attention.block': 'model',
  'attention.sandwich': 'model',
  mlp: 'model',
  head: 'model',
  decoder: 'model',
  harness: 'interfaces',
  interface: 'interfaces',
};

/** The phase that a contract belongs to by its name alone. */
export function phaseOf(contractId: string): AgentPhase {
  return phaseOfName[contractId] ?? phaseOfName[contractId.split('.')[0]!] ?? 'operations';
}

/**
 * The contracts that agents write, in the order of writing: phase by phase, and what is required always first. A
 * contract that needs one of a later phase is written in that later phase.
 */
export function orderForAgents(
  contracts: readonly SelectedContract[],
): { readonly entry: SelectedContract; readonly phase: AgentPhase }[] {
  const ranks = new Map<string, number>();
  const ranked = contracts.map((entry) => {
    const { id } = entry.contract.frontMatter;
    const own = agentPhases.indexOf(phaseOf(id));
    // Only what agents write has to wait for its phase.
    const rank = Math.max(
      entry.status === 'agent' ? own : 0,
      ...entry.requires.map((required) => ranks.get(required) ?? 0),
    );
    ranks.set(id, rank);
    return { entry, rank };
  });
  return ranked
    .filter(({ entry }) => entry.status === 'agent')
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry, rank }) => ({ entry, phase: agentPhases[rank]! }));
}
