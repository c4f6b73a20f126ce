import { resolve } from 'node:path';
import { openEngineFolder } from '../local/engine-folder.ts';
import { recordEvidence } from '../local/record-evidence.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { type Command, optionText } from './command.ts';

export const evidenceCommand: Command = {
  name: 'knowledge evidence',
  summary: 'Record the passed report of an engine as evidence of its realizations',
  positionals: ['<engine>'],
  options: {
    weights: {
      type: 'string',
      value: 'DIR',
      help: 'checkpoint folder, where it is not where the constraint file says',
    },
  },
  examples: ['npx metainfer knowledge evidence engines/tiny-qwen3'],
  async run(input, context) {
    const { cacheFolder, weightsRoot } = context.config;
    const folder = resolve(input.positionals[0]!);
    const catalog = await openKnowledge(cacheFolder);
    const prepared = await openEngineFolder(folder, {
      catalog,
      weightsRoot,
      cacheFolder,
      weightsFolder: optionText(input, 'weights'),
    });
    const data = await recordEvidence(prepared, folder);
    return { exitCode: 0, data, text: `evidence for ${data.contracts} contracts, report ${data.report}` };
  },
};
