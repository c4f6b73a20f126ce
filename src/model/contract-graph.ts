/** verified: each realization has evidence that repeats, on each of its platforms · partly: some · unproven: none. */
export const nodeStates = ['verified', 'partly', 'unproven', 'no realization', 'header only'] as const;
export type NodeState = (typeof nodeStates)[number];

export interface GraphNode {
  readonly id: string;
  readonly version: string;
  readonly summary: string;
  readonly state: NodeState;
  /** Realizations, each counted once for every platform that it is for. */
  readonly uses: number;
  /** Of them, those with evidence that repeats. */
  readonly proven: number;
}

/** `from` needs `to`. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** What needs it: every implementation, or the realizations named. */
  readonly by: 'contract' | readonly string[];
}

/** Contracts and what they need; of one platform, or of all. */
export interface ContractGraph {
  readonly platform: string | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}
