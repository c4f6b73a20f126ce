import { resolve } from 'node:path';
import { coverKnowledge } from '../../knowledge/views/cover-knowledge.ts';
import { renderCoverageMarkdown, renderCoverageText } from '../../knowledge/views/render-coverage.ts';
import { openKnowledgeView } from '../../preparation/open-knowledge-view.ts';
import type { Command } from '../command.ts';

export const coverageCommand: Command = {
  name: 'knowledge coverage',
  summary: 'Say which models are covered on which platform and in which format, and what proves it',
  positionals: ['[folder]'],
  options: { markdown: { type: 'boolean', help: 'print the matrix as Markdown' } },
  examples: [
    'npx metainfer knowledge coverage',
    'npx metainfer knowledge coverage --markdown',
    'npx metainfer knowledge coverage ./my-knowledge --json',
  ],
  async run(input, context) {
    const [folder] = input.positionals;
    const root = folder === undefined ? undefined : resolve(folder);
    const matrix = coverKnowledge(await openKnowledgeView(context.config.cacheFolder, root));
    const render = input.options.markdown === true ? renderCoverageMarkdown : renderCoverageText;
    return { exitCode: 0, data: matrix, text: render(matrix).trimEnd() };
  },
};
