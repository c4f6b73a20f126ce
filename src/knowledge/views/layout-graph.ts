import type { ContractGraph, GraphEdge, GraphNode } from '../../model/contract-graph.ts';
import { compareBytes } from '../read-tree.ts';

export const box = { width: 176, height: 46 } as const;
const gap = { x: 16, y: 54 } as const;
/** A line between two levels takes this much room of the levels that it crosses. */
const laneWidth = 10;
const margin = 20;
/** Sweeps after which no picture of this size changes. */
const sweeps = 24;

interface Place {
  readonly level: number;
  readonly width: number;
  readonly node: GraphNode | undefined;
  x: number;
}

export interface PlacedNode extends GraphNode {
  /** Middle of the box. */
  readonly x: number;
  /** Upper edge. */
  readonly y: number;
}

export interface PlacedEdge extends GraphEdge {
  /** From the lower edge of the box that needs to the upper edge of what it needs; one point for each level between. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

/**
 * Places for a layered picture: what needs nothing at the bottom, whoever needs it above. Needs that follow from
 * others are left out. The same graph always gives the same picture.
 */
export function layoutGraph(graph: ContractGraph): GraphLayout {
  const edges = dropImplied(graph.edges);
  const levels = findLevels(graph.nodes, edges);
  const top = Math.max(0, ...levels.values());
  const places = new Map<string, Place>();
  for (const node of graph.nodes)
    places.set(node.id, { level: levels.get(node.id) ?? 0, width: box.width, node, x: 0 });
  const chains = edges.map((edge) => addLanes(edge, places));
  const neighbours = findNeighbours(chains);
  const rows = Array.from({ length: top + 1 }, (_, level) =>
    [...places.keys()].filter((id) => places.get(id)?.level === level).sort(compareBytes),
  );
  orderRows(rows, places, neighbours);
  moveToNeighbours(rows, places, neighbours);
  return measure(graph.nodes, edges, chains, places, top);
}

/** Without `a needs c` where a needs b and b needs c. */
function dropImplied(edges: readonly GraphEdge[]): GraphEdge[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (next.get(from) ?? []).some((id) => {
      if (id === to) return true;
      if (seen.has(id)) return false;
      seen.add(id);
      return reaches(id, to, seen);
    });
  return edges.filter(
    ({ from, to }) => !(next.get(from) ?? []).some((id) => id !== to && reaches(id, to, new Set([from]))),
  );
}

/** Length of the longest way down. The loader refuses cycles; one made by hand still ends. */
function findLevels(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, number> {
  const levels = new Map<string, number>();
  const visit = (id: string, path: ReadonlySet<string>): number => {
    const known = levels.get(id);
    if (known !== undefined) return known;
    const below = edges.filter(({ from, to }) => from === id && !path.has(to));
    const level = Math.max(-1, ...below.map(({ to }) => visit(to, new Set([...path, id])))) + 1;
    levels.set(id, level);
    return level;
  };
  for (const { id } of nodes) visit(id, new Set());
  return levels;
}

/** Gives the edge a lane on every level that it crosses; returns all stations from top to bottom. */
function addLanes({ from, to }: GraphEdge, places: Map<string, Place>): string[] {
  const upper = places.get(from)?.level ?? 0;
  const lower = places.get(to)?.level ?? 0;
  const lanes = Array.from({ length: Math.max(0, upper - lower - 1) }, (_, index) => {
    // Lines that end at the same box share their way.
    const id = `~${to}~${upper - 1 - index}`;
    if (!places.has(id))
      places.set(id, { level: upper - 1 - index, width: laneWidth, node: undefined, x: 0 });
    return id;
  });
  return [from, ...lanes, to];
}

type Neighbours = ReadonlyMap<string, readonly string[]>;

function findNeighbours(chains: readonly (readonly string[])[]): Neighbours {
  const neighbours = new Map<string, string[]>();
  const add = (a: string, b: string) => neighbours.set(a, [...(neighbours.get(a) ?? []), b]);
  for (const chain of chains) {
    for (let index = 1; index < chain.length; index++) {
      add(chain[index - 1]!, chain[index]!);
      add(chain[index]!, chain[index - 1]!);
    }
  }
  return neighbours;
}

/** Puts each station near the middle of those above and below it, level by level, up and down. */
function orderRows(rows: string[][], places: Map<string, Place>, neighbours: Neighbours): void {
  const pack = (row: readonly string[]) => {
    let x = 0;
    for (const id of row) {
      const place = places.get(id)!;
      place.x = x + place.width / 2;
      x += place.width + gap.x;
    }
    const shift = x / 2;
    for (const id of row) places.get(id)!.x -= shift;
  };
  for (const row of rows) pack(row);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const order = sweep % 2 === 0 ? rows : [...rows].reverse();
    for (const row of order) {
      const wish = new Map(row.map((id) => [id, wishOf(id, places, neighbours)]));
      row.sort((a, b) => wish.get(a)! - wish.get(b)! || compareBytes(a, b));
      pack(row);
    }
  }
}

function wishOf(id: string, places: ReadonlyMap<string, Place>, neighbours: Neighbours): number {
  const near = neighbours.get(id) ?? [];
  if (near.length === 0) return places.get(id)!.x;
  return near.reduce((sum, other) => sum + places.get(other)!.x, 0) / near.length;
}

/** Within the order, as near to the neighbours as the boxes beside it let it. */
function moveToNeighbours(
  rows: readonly (readonly string[])[],
  places: Map<string, Place>,
  neighbours: Neighbours,
): void {
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const row of sweep % 2 === 0 ? rows : [...rows].reverse()) {
      const wishes = row.map((id) => wishOf(id, places, neighbours));
      const apart = (index: number) =>
        (places.get(row[index - 1]!)!.width + places.get(row[index]!)!.width) / 2 + gap.x;
      const fromLeft = [...wishes];
      for (let i = 1; i < row.length; i++) fromLeft[i] = Math.max(wishes[i]!, fromLeft[i - 1]! + apart(i));
      const fromRight = [...wishes];
      for (let i = row.length - 2; i >= 0; i--)
        fromRight[i] = Math.min(wishes[i]!, fromRight[i + 1]! - apart(i + 1));
      row.forEach((id, i) => {
        places.get(id)!.x = (fromLeft[i]! + fromRight[i]!) / 2;
      });
    }
  }
}

function measure(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  chains: readonly (readonly string[])[],
  places: ReadonlyMap<string, Place>,
  top: number,
): GraphLayout {
  const all = [...places.values()];
  const left = Math.min(0, ...all.map(({ x, width }) => x - width / 2)) - margin;
  const right = Math.max(0, ...all.map(({ x, width }) => x + width / 2)) + margin;
  const y = (level: number) => margin + (top - level) * (box.height + gap.y);
  const at = (id: string) => ({ x: places.get(id)!.x - left, y: y(places.get(id)!.level) });
  return {
    width: right - left,
    height: y(0) + box.height + margin,
    nodes: nodes.map((node) => ({ ...node, ...at(node.id) })),
    edges: edges.map((edge, index) => ({ ...edge, points: toPoints(chains[index] ?? [], at) })),
  };
}

/** A lane is a straight piece past the boxes of its level. */
function toPoints(
  chain: readonly string[],
  at: (id: string) => { x: number; y: number },
): readonly (readonly [number, number])[] {
  return chain.flatMap((id, index): (readonly [number, number])[] => {
    const { x, y } = at(id);
    if (index === 0) return [[x, y + box.height]];
    if (index === chain.length - 1) return [[x, y]];
    return [
      [x, y],
      [x, y + box.height],
    ];
  });
}
