import { coverKnowledge } from '../knowledge/views/cover-knowledge.ts';
import { drawGraph } from '../knowledge/views/draw-graph.ts';
import { explainContract } from '../knowledge/views/explain-contract.ts';
import { graphContracts } from '../knowledge/views/graph-contracts.ts';
import type { KnowledgeView } from '../knowledge/views/knowledge-view.ts';
import type { Catalog } from '../model/catalog.ts';
import type { ContractAccount } from '../model/contract-account.ts';
import type { ContractGraph } from '../model/contract-graph.ts';
import type { CoverageMatrix } from '../model/coverage.ts';
import { knowledgeRoot } from './knowledge-base.ts';
import { viewKnowledge } from './open-knowledge-view.ts';

/** What pages show of the knowledge in use. The matrix takes a second: it is made when first asked for, and kept. */
export function createKnowledgePages(catalog: () => Catalog, root = knowledgeRoot()) {
  let made: { sha256: string; known: Promise<Known> } | undefined;
  const open = (): Promise<Known> => {
    const now = catalog();
    if (made?.sha256 === now.sha256) return made.known;
    const known = know(now, root);
    made = { sha256: now.sha256, known };
    // The next visitor tries again.
    known.catch(() => {
      made = undefined;
    });
    return known;
  };
  return {
    coverage: async (): Promise<CoverageMatrix> => (await open()).matrix,
    graph: async (): Promise<ContractGraph> => (await open()).graph,
    drawGraph: async (): Promise<string> => drawGraph((await open()).graph),
    explain: async (id: string): Promise<ContractAccount | undefined> => {
      const { view, matrix } = await open();
      return explainContract(view, matrix, id);
    },
  };
}

interface Known {
  readonly view: KnowledgeView;
  readonly matrix: CoverageMatrix;
  readonly graph: ContractGraph;
}

async function know(catalog: Catalog, root: string): Promise<Known> {
  const view = await viewKnowledge(catalog, root);
  const matrix = coverKnowledge(view);
  return { view, matrix, graph: graphContracts(view, matrix) };
}
