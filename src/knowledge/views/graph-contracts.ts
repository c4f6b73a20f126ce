import type { Contract, Realization } from '../../model/contract.ts';
import type { ContractGraph, GraphEdge, GraphNode, NodeState } from '../../model/contract-graph.ts';
import type { CoverageMatrix } from '../../model/coverage.ts';
import { allowedValues, canOverlap } from '../../model/target.ts';
import { compareBytes } from '../read-tree.ts';
import type { KnowledgeView } from './knowledge-view.ts';

/** Contracts by id and what each needs. Of a platform: the contracts and realizations that an engine for it may have. Pure. */
export function graphContracts(
  { catalog }: KnowledgeView,
  matrix: CoverageMatrix,
  platform?: string,
): ContractGraph {
  const isOn = (predicate: Realization['applies']) =>
    platform === undefined || canOverlap(predicate, { 'hardware.platform': platform });
  const shown = catalog.contracts.filter(({ frontMatter }) => isOn(frontMatter.applies_when));
  const ids = new Set(shown.map(({ frontMatter }) => frontMatter.id));
  const nodes = shown.map((contract) =>
    toNode(
      contract,
      contract.realizations.filter(({ applies }) => isOn(applies)),
      matrix,
      platform,
    ),
  );
  const edges = shown.flatMap((contract) =>
    edgesOf(
      contract,
      contract.realizations.filter(({ applies }) => isOn(applies)),
    ).filter(({ to }) => ids.has(to)),
  );
  return { platform: platform ?? null, nodes, edges };
}

function toNode(
  { frontMatter }: Contract,
  realizations: readonly Realization[],
  { parts }: CoverageMatrix,
  platform: string | undefined,
): GraphNode {
  const { id, version, summary, provides } = frontMatter;
  const shown = realizations.flatMap((realization) => shownOn(realization, platform, parts, id));
  const proven = shown.filter((isProven) => isProven).length;
  const state: NodeState =
    provides.header_only === true
      ? 'header only'
      : realizations.length === 0
        ? 'no realization'
        : proven === shown.length
          ? 'verified'
          : proven > 0
            ? 'partly'
            : 'unproven';
  return { id, version, summary, state, uses: shown.length, proven };
}

/** For each platform that the realization is for and that the graph is about: whether it is verified there. */
function shownOn(
  { file, applies }: Realization,
  platform: string | undefined,
  parts: CoverageMatrix['parts'],
  contract: string,
): boolean[] {
  const own = Object.values(parts).filter((part) => part.contract === contract && part.realization === file);
  const named = allowedValues(applies, 'hardware.platform')?.map(String);
  const wanted =
    platform === undefined ? (named ?? [...new Set(own.map((part) => part.platform))]) : [platform];
  // A realization that no cell selects has shown nothing.
  if (wanted.length === 0) return [false];
  return wanted.map((name) => own.some((part) => part.platform === name && part.state === 'repeatable'));
}

function edgesOf(contract: Contract, realizations: readonly Realization[]): GraphEdge[] {
  const { id, requires } = contract.frontMatter;
  const own = requires.map((to): GraphEdge => ({ from: id, to, by: 'contract' }));
  const others = new Map<string, string[]>();
  for (const realization of realizations) {
    for (const to of realization.requires.filter((required) => !requires.includes(required)))
      others.set(to, [...(others.get(to) ?? []), realization.file]);
  }
  const byRealization = [...others].map(([to, by]): GraphEdge => ({ from: id, to, by }));
  return [...own, ...byRealization].sort((a, b) => compareBytes(a.to, b.to));
}
