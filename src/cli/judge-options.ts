import type { JudgeOptions } from '../local/judge-engine.ts';
import { AppError } from '../model/errors.ts';
import { type CommandContext, type CommandInput, optionText } from './command.ts';

export function judgeOptions(context: CommandContext): JudgeOptions {
  const { config, progress, signal } = context;
  return {
    cacheFolder: config.cacheFolder,
    sandbox: config.sandbox,
    signal,
    onDetail: progress.detail,
    onNote: progress.note,
  };
}

/** The seed of prompts and ids, where the person gave one. @throws AppError USAGE */
export function seedOption(input: CommandInput): number | undefined {
  const written = optionText(input, 'seed');
  if (written === undefined) return undefined;
  if (/^\d{1,10}$/.test(written) && Number(written) < 2 ** 31) return Number(written);
  throw new AppError('USAGE', `--seed is "${written}"; expected a whole number below 2147483648.`);
}

/** @throws AppError USAGE for a baseline that isn't known */
export function wantsBaseline(input: CommandInput): boolean {
  const written = optionText(input, 'baseline') ?? 'llama.cpp';
  if (written === 'llama.cpp' || written === 'none') return written === 'llama.cpp';
  throw new AppError('USAGE', `--baseline is "${written}"; it may be llama.cpp or none.`);
}
