import { resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import { nearestName } from '../model/nearest-name.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { writeSyntheticCheckpoint } from '../verification/synthetic-weights.ts';
import { type Command, type CommandInput, optionText } from './command.ts';

const dtypes = ['bf16', 'f16', 'f32'] as const;

function wholeNumber(input: CommandInput, name: string, fallback: number, most: number): number {
  const written = optionText(input, name);
  if (written === undefined) return fallback;
  const value = Number(written);
  if (/^\d+$/.test(written) && value <= most) return value;
  throw new AppError('USAGE', `--${name} is "${written}"; expected a whole number from 0 to ${most}.`);
}

export const weightsSynthCommand: Command = {
  name: 'weights synth',
  summary: 'Write a seeded random checkpoint at the real shapes of a known model',
  positionals: ['<model>'],
  options: {
    output: { type: 'string', short: 'o', value: 'DIR', help: 'folder to write; must not exist' },
    seed: { type: 'string', value: 'N', help: 'default 0; same seed, same bytes' },
    dtype: { type: 'string', value: 'FORMAT', help: `${dtypes.join(', ')}; default bf16` },
    shards: { type: 'string', value: 'N', help: 'number of safetensors files; default 1' },
  },
  examples: ['npx metainfer weights synth Qwen/Qwen3-0.6B -o /models/synthetic-qwen3 --seed 7'],
  async run(input, context) {
    const id = input.positionals[0]!;
    const { models } = await openKnowledge(context.config.cacheFolder);
    const known = models.find((model) => model.id === id);
    if (known === undefined) {
      const ids = models.map((model) => model.id);
      const near = nearestName(id, ids);
      const hint = near === undefined ? `Known: ${ids.join(', ')}.` : `Did you mean ${near}?`;
      throw new AppError('MODEL_UNKNOWN', `No file of knowledge/models lists "${id}". ${hint}`);
    }
    const dtype = dtypes.find((name) => name === (optionText(input, 'dtype') ?? 'bf16'));
    if (dtype === undefined) throw new AppError('USAGE', `--dtype may be ${dtypes.join(', ')}.`);
    const output = optionText(input, 'output');
    if (output === undefined) throw new AppError('USAGE', 'Missing -o DIR.');
    const shards = wholeNumber(input, 'shards', 1, 1000);
    context.progress.start(`synthetic weights of ${id}`);
    await writeSyntheticCheckpoint(resolve(output), known.config, {
      seed: wholeNumber(input, 'seed', 0, 4_294_967_295),
      dtype,
      shards: Math.max(1, shards),
      generationConfig: known.generationConfig,
      signal: context.signal,
      onProgress: (done, total) =>
        context.progress.detail(`${Math.round((100 * done) / total)} % of ${(total / 1e9).toFixed(2)} GB`),
    });
    context.progress.end('written');
    return { exitCode: 0, data: { folder: resolve(output) }, text: resolve(output) };
  },
};
