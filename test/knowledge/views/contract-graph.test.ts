import { beforeAll, describe, expect, it } from 'vitest';
import { coverKnowledge } from '../../../src/knowledge/views/cover-knowledge.ts';
import { drawGraph } from '../../../src/knowledge/views/draw-graph.ts';
import { graphContracts } from '../../../src/knowledge/views/graph-contracts.ts';
import type { KnowledgeView } from '../../../src/knowledge/views/knowledge-view.ts';
import { box, layoutGraph } from '../../../src/knowledge/views/layout-graph.ts';
import type { ContractGraph, GraphEdge } from '../../../src/model/contract-graph.ts';
import type { CoverageMatrix } from '../../../src/model/coverage.ts';
import { openRealKnowledge } from './real-knowledge.ts';

let view: KnowledgeView;
let matrix: CoverageMatrix;
let whole: ContractGraph;

beforeAll(async () => {
  ({ view } = await openRealKnowledge());
  matrix = coverKnowledge(view);
  whole = graphContracts(view, matrix);
});

function reachable(edges: readonly GraphEdge[], from: string): Set<string> {
  const seen = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const { to } of edges.filter((edge) => edge.from === id && !seen.has(edge.to))) {
      seen.add(to);
      open.push(to);
    }
  }
  return seen;
}

describe('the graph of contracts', () => {
  it('has every contract and everything that it requires', () => {
    expect(whole.nodes.map(({ id }) => id)).toEqual(
      view.catalog.contracts.map(({ frontMatter }) => frontMatter.id),
    );
    for (const { frontMatter } of view.catalog.contracts) {
      const needed = whole.edges.filter(({ from, by }) => from === frontMatter.id && by === 'contract');
      expect(needed.map(({ to }) => to)).toEqual([...frontMatter.requires].sort());
    }
  });

  it('names the realizations that alone need a contract', () => {
    expect(
      whole.edges.find(({ from, to }) => from === 'attention.core' && to === 'runtime.vectors')?.by,
    ).toEqual(['cpu-x86_64.cpp']);
  });

  it('of a platform leaves out what no engine for it may have', () => {
    const cpu = graphContracts(view, matrix, 'cpu-x86_64');
    const ids = cpu.nodes.map(({ id }) => id);
    expect(ids).not.toContain('cuda.instructions');
    expect(ids).toContain('runtime.vectors');
    expect(cpu.edges.every(({ from, to }) => ids.includes(from) && ids.includes(to))).toBe(true);
  });

  it('calls verified only what has evidence on each of its platforms', () => {
    const state = (graph: ContractGraph, id: string) => graph.nodes.find((node) => node.id === id)?.state;
    expect(state(graphContracts(view, matrix, 'cpu-x86_64'), 'norm.rms')).toBe('verified');
    expect(state(graphContracts(view, matrix, 'cuda'), 'norm.rms')).toBe('unproven');
    expect(state(whole, 'norm.rms')).toBe('partly');
    expect(state(whole, 'interface.cli')).toBe('partly');
    expect(state(whole, 'runtime.context')).toBe('header only');
  });
});

describe('its picture', () => {
  it('sets no box on another and every contract above what it needs', () => {
    const { nodes, edges, width, height } = layoutGraph(whole);
    for (const [index, a] of nodes.entries()) {
      expect(a.x - box.width / 2).toBeGreaterThanOrEqual(0);
      expect([a.x + box.width / 2 <= width, a.y + box.height <= height]).toEqual([true, true]);
      for (const b of nodes.slice(index + 1)) {
        const apart = Math.abs(a.x - b.x) >= box.width || Math.abs(a.y - b.y) >= box.height;
        expect(apart, `${a.id} lies on ${b.id}`).toBe(true);
      }
    }
    const y = new Map(nodes.map((node) => [node.id, node.y]));
    for (const { from, to } of edges) expect(y.get(from)!).toBeLessThan(y.get(to)!);
  });

  it('leads no line through a box', () => {
    const { nodes, edges } = layoutGraph(whole);
    const crossed = edges.flatMap(({ from, to, points }) =>
      points
        .slice(1, -1)
        .flatMap(([x, y]) =>
          nodes
            .filter((node) => Math.abs(node.x - x) < box.width / 2 && y > node.y && y < node.y + box.height)
            .map(({ id }) => `${from} to ${to} crosses ${id}`),
        ),
    );
    expect(edges.some(({ points }) => points.length > 4)).toBe(true);
    expect(crossed).toEqual([]);
  });

  it('leaves out needs that follow from others, and loses none', () => {
    const { edges } = layoutGraph(whole);
    expect(edges.length).toBeLessThan(whole.edges.length);
    for (const { id } of whole.nodes) expect(reachable(edges, id)).toEqual(reachable(whole.edges, id));
  });

  it('is the same each time, names every contract and loads nothing', () => {
    const svg = drawGraph(whole);
    expect(drawGraph(whole)).toBe(svg);
    for (const { id } of whole.nodes) expect(svg).toContain(`>${id}</text>`);
    expect(svg).not.toMatch(/href|url\(|<script|<style|font-face/);
  });

  it('ends for a cycle, which only a graph made by hand has', () => {
    const node = { version: '1.0.0', summary: '', state: 'unproven', uses: 0, proven: 0 } as const;
    const edge = (from: string, to: string): GraphEdge => ({ from, to, by: 'contract' });
    const graph: ContractGraph = {
      platform: null,
      nodes: ['a', 'b', 'c'].map((id) => ({ ...node, id })),
      edges: [edge('a', 'b'), edge('b', 'c'), edge('c', 'b')],
    };
    expect(layoutGraph(graph).nodes).toHaveLength(3);
  });
});
