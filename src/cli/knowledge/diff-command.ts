import { diffKnowledge } from '../../knowledge/views/diff-knowledge.ts';
import { renderDiff } from '../../knowledge/views/render-diff.ts';
import { openKnowledgeAt } from '../../preparation/open-knowledge-at.ts';
import { openKnowledgeView } from '../../preparation/open-knowledge-view.ts';
import type { Command } from '../command.ts';

export const diffCommand: Command = {
  name: 'knowledge diff',
  summary: 'Say what changed between two knowledge bases, and what users will notice',
  positionals: ['<ref-or-folder>', '[ref-or-folder]'],
  options: {},
  examples: [
    'npx metainfer knowledge diff HEAD~3',
    'npx metainfer knowledge diff v1.0 main --json',
    'npx metainfer knowledge diff ../theirs/knowledge',
  ],
  async run(input, context) {
    const { cacheFolder } = context.config;
    const [old, fresh] = input.positionals;
    const before = await openKnowledgeAt(old!, cacheFolder);
    const after =
      fresh === undefined ? await openKnowledgeView(cacheFolder) : await openKnowledgeAt(fresh, cacheFolder);
    const diff = diffKnowledge(before, after);
    return { exitCode: 0, data: diff, text: renderDiff(diff) };
  },
};
