import type { ContractGraph, NodeState } from '../../model/contract-graph.ts';
import { nodeStates } from '../../model/contract-graph.ts';
import { escapeHtml } from '../../model/html.ts';
import { box, layoutGraph, type PlacedEdge, type PlacedNode } from './layout-graph.ts';

const looks: Readonly<
  Record<NodeState, { readonly fill: string; readonly edge: string; readonly says: string }>
> = {
  verified: {
    fill: '#dafbe1',
    edge: '#1a7f37',
    says: 'every realization is verified on each of its platforms',
  },
  partly: { fill: '#fff8c5', edge: '#9a6700', says: 'some are' },
  unproven: { fill: '#ddf4ff', edge: '#0969da', says: 'none is' },
  'no realization': { fill: '#ffebe9', edge: '#cf222e', says: 'no realization: agents write it' },
  'header only': { fill: '#f6f8fa', edge: '#8c959f', says: 'header only' },
};
const text = '#1f2328';
const faint = '#59636e';
const footHeight = 30;

/** The graph as an SVG document: who needs stands above what is needed. Dashed: needed by some realizations only. */
export function drawGraph(graph: ContractGraph): string {
  const layout = layoutGraph(graph);
  const width = Math.ceil(Math.max(layout.width, 880));
  const height = Math.ceil(layout.height + footHeight);
  const title = `Contracts and what they need${graph.platform === null ? '' : ` on ${graph.platform}`}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" role="img">`,
    `<title>${escapeHtml(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...layout.edges.map(drawEdge),
    ...layout.nodes.map(drawNode),
    ...drawLegend(graph, height),
    '</svg>',
    '',
  ].join('\n');
}

function drawEdge({ from, to, by, points }: PlacedEdge): string {
  const [start, ...rest] = points;
  let last = start ?? [0, 0];
  const path = rest.map(([x, y]) => {
    const [fromX, fromY] = last;
    last = [x, y];
    if (fromX === x) return `V${round(y)}`;
    const middle = round((fromY + y) / 2);
    return `C${round(fromX)} ${middle} ${round(x)} ${middle} ${round(x)} ${round(y)}`;
  });
  const dash = by === 'contract' ? '' : ' stroke-dasharray="5 4"';
  const why = by === 'contract' ? '' : ` (${by.join(', ')})`;
  return `<path d="M${round(start?.[0] ?? 0)} ${round(start?.[1] ?? 0)}${path.join('')}" fill="none" stroke="#8c959f" stroke-width="1.2"${dash}><title>${escapeHtml(`${from} needs ${to}${why}`)}</title></path>`;
}

function drawNode({ id, version, summary, state, uses, proven, x, y }: PlacedNode): string {
  const { fill, edge } = looks[state];
  const count =
    state === 'header only' ? 'header only' : uses === 0 ? 'no realization' : `${proven} of ${uses} verified`;
  return [
    `<g><title>${escapeHtml(`${id} ${version}: ${summary}`)}</title>`,
    `<rect x="${round(x - box.width / 2)}" y="${round(y)}" width="${box.width}" height="${box.height}" rx="5" fill="${fill}" stroke="${edge}"/>`,
    line(x, y + 19, id, 12, text, ' font-weight="600"'),
    line(x, y + 35, count, 11, faint, ''),
    '</g>',
  ].join('');
}

function line(x: number, y: number, words: string, size: number, colour: string, more: string): string {
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${colour}" text-anchor="middle"${more}>${escapeHtml(words)}</text>`;
}

/** The states that the picture has. */
function drawLegend({ nodes }: ContractGraph, height: number): string[] {
  let x = 20;
  return nodeStates
    .filter((state) => nodes.some((node) => node.state === state))
    .map((state) => {
      const { fill, edge, says } = looks[state];
      const at = x;
      x += 32 + says.length * 6.2;
      const y = height - 24;
      return `<rect x="${round(at)}" y="${y}" width="12" height="12" rx="2" fill="${fill}" stroke="${edge}"/><text x="${round(at + 18)}" y="${y + 10}" font-size="11" fill="${faint}">${escapeHtml(says)}</text>`;
    });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
