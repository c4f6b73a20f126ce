import { resolve } from 'node:path';
import { distil } from '../evolution/distil.ts';
import { renderLessons } from '../evolution/render-lessons.ts';
import { toCommits } from '../evolution/to-commits.ts';
import { checkLessons, readKnowledgeFolder, writeCommits } from '../local/evolution/knowledge-folder.ts';
import { readRun } from '../local/evolution/read-run.ts';
import { knowledgeRoot } from '../preparation/knowledge-base.ts';
import { type Command, optionText } from './command.ts';

export const learnCommand: Command = {
  name: 'knowledge learn',
  summary: 'What a finished run taught, as changes of a knowledge folder',
  positionals: ['<run>'],
  options: {
    into: { type: 'string', value: 'DIR', help: 'knowledge folder; default that of this program' },
    write: { type: 'boolean', help: 'write the changes into the folder; without it they are only shown' },
    weights: {
      type: 'string',
      value: 'DIR',
      help: 'checkpoint folder, where it is not where the constraint file says',
    },
  },
  examples: [
    'npx metainfer knowledge learn run.json',
    'npx metainfer knowledge learn engines/tiny-qwen3 --into ./my-knowledge --write',
  ],
  async run(input, { config }) {
    const root = resolve(optionText(input, 'into') ?? knowledgeRoot());
    const knowledge = await readKnowledgeFolder(root);
    const learnt = await readRun(input.positionals[0]!, {
      ...{ knowledge, cacheFolder: config.cacheFolder, weightsRoot: config.weightsRoot },
      weightsFolder: optionText(input, 'weights'),
    });
    const { lessons, notes, reasonIfNone } = distil(learnt);
    if (reasonIfNone !== null)
      return { exitCode: 0, data: { lessons, notes, reasonIfNone, commits: [] }, text: reasonIfNone };
    checkLessons(lessons, knowledge, root);
    const commits = toCommits(lessons, knowledge.texts);
    const isWritten = input.options.write === true;
    const paths = isWritten ? await writeCommits(commits, root) : [];
    const end = isWritten
      ? `Written into ${root}: ${paths.length} files.`
      : `Nothing is written yet: add --write to put this into ${root}.`;
    return {
      exitCode: 0,
      data: {
        ...{ lessons, notes, reasonIfNone, written: paths },
        commits: commits.map(({ message, writes }) => ({ message, writes })),
      },
      text: `${renderLessons({ lessons, notes }, knowledge.texts)}\n\n${end}`,
    };
  },
};
