import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import { readFolder } from '../preparation/locate-model.ts';
import { openOracle } from '../verification/oracle.ts';
import { type Command, optionText } from './command.ts';

async function readIds(path: string, vocabSize: number): Promise<number[]> {
  let ids: unknown;
  try {
    ids = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new AppError('USAGE', `${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(ids) || ids.length === 0)
    throw new AppError('USAGE', `${path} must hold a JSON list of token ids.`);
  const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabSize);
  if (wrong !== undefined)
    throw new AppError('USAGE', `${path}: ${JSON.stringify(wrong)} is no token id below ${vocabSize}.`);
  return ids as number[];
}

export const oracleCommand: Command = {
  name: 'oracle',
  summary: 'Write the float64 reference logits of a checkpoint',
  positionals: ['<checkpoint>'],
  options: {
    ids: { type: 'string', value: 'FILE', help: 'JSON list of token ids' },
    output: { type: 'string', short: 'o', value: 'FILE', help: 'float64 logits [ids, vocab], little-endian' },
    weights: { type: 'string', value: 'FORMAT', help: 'f32 (default), bf16 or f16: round the weights first' },
  },
  examples: ['npx metainfer oracle /models/my-checkpoint --ids ids.json -o logits.f64'],
  async run(input, context) {
    const folder = resolve(input.positionals[0]!);
    const { facts } = await readFolder(folder);
    const idsPath = optionText(input, 'ids');
    const output = optionText(input, 'output');
    if (idsPath === undefined || output === undefined)
      throw new AppError('USAGE', 'Both --ids FILE and -o FILE are needed.');
    const format = optionText(input, 'weights') ?? 'f32';
    if (format !== 'f32' && format !== 'bf16' && format !== 'f16')
      throw new AppError('USAGE', '--weights may be f32, bf16 or f16.');
    const ids = await readIds(idsPath, facts.vocabSize);
    context.progress.start(`oracle, ${ids.length} tokens`);
    const oracle = openOracle(folder, { facts, weightFormat: format });
    try {
      const { logits } = await oracle.run(ids);
      const rows = logits.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength));
      await writeFile(resolve(output), Buffer.concat(rows));
    } finally {
      await oracle.close();
    }
    context.progress.end('written');
    const shape = [ids.length, facts.vocabSize];
    return {
      exitCode: 0,
      data: { output: resolve(output), shape },
      text: `${resolve(output)}: [${shape.join(', ')}] float64`,
    };
  },
};
