import { resolve } from 'node:path';
import { writeEngine } from '../generation/write-engine.ts';
import { rememberWeights } from '../local/engine-folder.ts';
import { AppError } from '../model/errors.ts';
import { describeGap } from '../model/knowledge-gap.ts';
import { composePrepared, prepareEngine } from '../preparation/prepare-engine.ts';
import { type Command, optionText } from './command.ts';
import { openRequest } from './open-request.ts';

export const generateCommand: Command = {
  name: 'generate',
  summary: 'Write the engine for a constraint file',
  positionals: ['<file>'],
  options: {
    output: { type: 'string', short: 'o', value: 'DIR', help: 'engine folder; default engines/<name>' },
  },
  examples: ['npx metainfer generate knowledge/examples/qwen3-0.6b.yaml -o engines/qwen3-0.6b'],
  async run(input, context) {
    const started = performance.now();
    const { request, catalog } = await openRequest(input.positionals[0]!, context);
    const prepared = prepareEngine(request, catalog);
    const { missing, gap } = prepared.plan;
    if (missing.length > 0) {
      const lines = [...missing, ...(gap === undefined ? [] : describeGap(gap))].map((line) => `- ${line}`);
      throw new AppError('NOT_COVERED', `Knowledge does not cover this engine yet:\n${lines.join('\n')}`);
    }
    const folder = resolve(optionText(input, 'output') ?? `engines/${request.constraints.name}`);
    const sources = composePrepared(prepared);
    await writeEngine(sources, folder);
    await rememberWeights(context.config.cacheFolder, folder, request);
    const seconds = (performance.now() - started) / 1000;
    const data = {
      folder,
      lineCount: sources.lineCount,
      files: sources.files.map((file) => file.path),
      seconds,
    };
    return {
      exitCode: 0,
      data,
      text: `${folder}: ${sources.files.length} files, ${sources.lineCount} lines of C++, in ${seconds.toFixed(2)} s`,
    };
  },
};
