import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { coverKnowledge } from '../../knowledge/views/cover-knowledge.ts';
import { drawGraph } from '../../knowledge/views/draw-graph.ts';
import { graphContracts } from '../../knowledge/views/graph-contracts.ts';
import { AppError } from '../../model/errors.ts';
import { nearestName } from '../../model/nearest-name.ts';
import { openKnowledgeView } from '../../preparation/open-knowledge-view.ts';
import { type Command, optionText } from '../command.ts';

export const graphCommand: Command = {
  name: 'knowledge graph',
  summary: 'Draw which contracts need which, and which of them are verified, as SVG',
  positionals: [],
  options: {
    platform: { type: 'string', value: 'ID', help: 'only what an engine for this platform may have' },
    out: { type: 'string', short: 'o', value: 'FILE', help: 'write the picture here; default: to stdout' },
  },
  examples: [
    'npx metainfer knowledge graph --out contracts.svg',
    'npx metainfer knowledge graph --platform cuda --out cuda.svg',
    'npx metainfer knowledge graph --json',
  ],
  async run(input, context) {
    const view = await openKnowledgeView(context.config.cacheFolder);
    const platform = optionText(input, 'platform');
    const known = view.catalog.platforms.map(({ id }) => id);
    if (platform !== undefined && !known.includes(platform)) {
      const near = nearestName(platform, known);
      const hint = near === undefined ? `There is ${known.join(', ')}.` : `Did you mean ${near}?`;
      throw new AppError(
        'USAGE',
        `--platform is "${platform}", which knowledge/platforms does not have. ${hint}`,
      );
    }
    const graph = graphContracts(view, coverKnowledge(view), platform);
    const out = optionText(input, 'out');
    if (out === undefined) return { exitCode: 0, data: graph, text: drawGraph(graph).trimEnd() };
    await writePicture(resolve(out), drawGraph(graph));
    return {
      exitCode: 0,
      data: { ...graph, file: resolve(out) },
      text: `${out}: ${graph.nodes.length} contracts`,
    };
  },
};

/** @throws AppError USAGE where it cannot be written */
export async function writePicture(path: string, svg: string): Promise<void> {
  await writeFile(path, svg).catch((cause: NodeJS.ErrnoException) => {
    throw new AppError(
      'USAGE',
      `${path} cannot be written (${cause.code}). Name a file in a folder that exists.`,
      {
        cause,
      },
    );
  });
}
