import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { openEngineFolder } from '../local/engine-folder.ts';
import { measureEngine, verifyFolder } from '../local/judge-engine.ts';
import { readReport, saveReport } from '../local/local-runner.ts';
import { verdictExitCode, verdictWords } from '../model/show-verdict.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import type { PreparedEngine } from '../preparation/prepare-engine.ts';
import { type Command, type CommandContext, type CommandInput, optionText } from './command.ts';
import { judgeOptions, seedOption, wantsBaseline } from './judge-options.ts';
import { verdictText } from './verdict-text.ts';

const weightsOption = {
  type: 'string',
  value: 'DIR',
  help: 'checkpoint folder, where it is not where the constraint file says',
} as const;

async function openFolder(
  input: CommandInput,
  context: CommandContext,
): Promise<{ folder: string; prepared: PreparedEngine }> {
  const folder = resolve(input.positionals[0]!);
  const prepared = await openEngineFolder(folder, {
    catalog: await openKnowledge(context.config.cacheFolder),
    weightsRoot: context.config.weightsRoot,
    weightsFolder: optionText(input, 'weights'),
    cacheFolder: context.config.cacheFolder,
  });
  return { folder, prepared };
}

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Build an engine and run every gate but the timed ones',
  positionals: ['<engine>'],
  options: {
    seed: { type: 'string', value: 'N', help: 'repeat a run: the seed that its report names' },
    weights: weightsOption,
  },
  examples: [
    'npx metainfer verify engines/tiny-qwen3',
    'npx metainfer verify engines/tiny-qwen3 --seed 12345 --json',
  ],
  async run(input, context) {
    const { folder, prepared } = await openFolder(input, context);
    context.progress.start('verify');
    const report = await verifyFolder(prepared, folder, {
      ...judgeOptions(context),
      runSeed: seedOption(input) ?? randomInt(2 ** 31),
    });
    await saveReport(folder, report);
    context.progress.end(verdictWords[report.verdict]);
    return { exitCode: verdictExitCode(report.verdict), data: report, text: verdictText(report) };
  },
};

export const benchCommand: Command = {
  name: 'bench',
  summary: 'Time a verified engine beside a baseline and judge its goals',
  positionals: ['<engine>'],
  options: {
    baseline: { type: 'string', value: 'NAME', help: 'llama.cpp (default) or none' },
    weights: weightsOption,
  },
  examples: ['npx metainfer bench engines/qwen3-0.6b --baseline llama.cpp'],
  async run(input, context) {
    const baseline = wantsBaseline(input);
    const { folder, prepared } = await openFolder(input, context);
    const verified = await readReport(folder);
    context.progress.start('bench');
    const report = await measureEngine(prepared, folder, verified, { ...judgeOptions(context), baseline });
    await saveReport(folder, report);
    context.progress.end(verdictWords[report.verdict]);
    return { exitCode: verdictExitCode(report.verdict), data: report, text: verdictText(report) };
  },
};
