import { copyFile, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openEngineFolder } from '../local/engine-folder.ts';
import { provideWeights } from '../local/local-weights.ts';
import { buildBinary, openToolchain, requireDevice } from '../local/toolchain.ts';
import { AppError } from '../model/errors.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { checkpointPaths } from '../verification/open-engine.ts';
import { startSandboxed } from '../verification/sandboxed-process.ts';
import { makeScratch, sweepScratch } from '../verification/scratch-folder.ts';
import { type Command, type CommandContext, type CommandInput, optionText } from './command.ts';

const passedOn = [
  'max-tokens',
  'temperature',
  'top-k',
  'top-p',
  'min-p',
  'repetition-penalty',
  'seed',
] as const;

/** Options of the engine's own command line, from ours. */
async function engineArguments(input: CommandInput, scratch: string): Promise<string[]> {
  const prompt = optionText(input, 'prompt');
  const ids = optionText(input, 'ids') ?? (await readIds(optionText(input, 'ids-file')));
  if ((prompt === undefined) === (ids === undefined)) {
    throw new AppError('USAGE', 'Give either --prompt TEXT, or --ids 1,2,3 or --ids-file FILE.');
  }
  const list = prompt === undefined ? ['--ids', ids!] : ['--prompt', prompt];
  for (const name of passedOn) {
    const value = optionText(input, name);
    if (value !== undefined) list.push(`--${name}`, value);
  }
  const stops = input.options.stop;
  for (const stop of Array.isArray(stops) ? stops : []) list.push('--stop', String(stop));
  if (input.options['ignore-eos'] === true) list.push('--ignore-eos');
  if (optionText(input, 'logits') !== undefined) list.push('--logits', join(scratch, 'logits.f32'));
  return list;
}

async function readIds(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  let ids: unknown;
  try {
    ids = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new AppError('USAGE', `${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(ids) || ids.some((id) => !Number.isInteger(id))) {
    throw new AppError('USAGE', `${path} must hold a JSON list of token ids.`);
  }
  return ids.join(',');
}

/** Linux passes at most 128 KiB in one argument. */
const longestArgument = 120_000;

/** What would fail late, said before anything is compiled. */
async function checkInput(
  list: readonly string[],
  logits: string | undefined,
  maxContext: number,
): Promise<void> {
  const ids = list[0] === '--ids' ? list[1]!.split(',').length : 0;
  if (ids > maxContext)
    throw new AppError('USAGE', `${ids} token ids; expected 1 to ${maxContext} (serving.max_context).`);
  const long = list.find((word) => Buffer.byteLength(word) > longestArgument);
  if (long !== undefined)
    throw new AppError(
      'USAGE',
      `The prompt has ${Buffer.byteLength(long)} bytes; expected at most ${longestArgument}.`,
    );
  if (list.some((word) => word.includes('\0')))
    throw new AppError('USAGE', 'The prompt holds a NUL character.');
  if (logits === undefined) return;
  const parent = dirname(resolve(logits));
  const isFolder = await stat(parent).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new AppError('USAGE', `--logits: the folder ${parent} does not exist.`);
}

async function run(input: CommandInput, context: CommandContext, scratch: string) {
  const { config, progress, signal } = context;
  const folder = resolve(input.positionals[0]!);
  const list = await engineArguments(input, scratch);
  const prepared = await openEngineFolder(folder, {
    catalog: await openKnowledge(context.config.cacheFolder),
    weightsRoot: config.weightsRoot,
    weightsFolder: optionText(input, 'weights'),
    cacheFolder: config.cacheFolder,
  });
  const { max_context } = prepared.request.constraints.serving;
  await checkInput(list, optionText(input, 'logits'), max_context);
  progress.start('build');
  const toolchain = await openToolchain(prepared, folder, {
    cacheFolder: config.cacheFolder,
    sandbox: config.sandbox,
    signal,
  });
  requireDevice(toolchain);
  const binary = await buildBinary(folder, toolchain);
  const weights = await provideWeights(prepared.request, {
    cacheFolder: config.cacheFolder,
    signal,
    onProgress: progress.detail,
  });
  progress.end('done');
  const isJson = input.options.json === true;
  const end = await startSandboxed({
    sandbox: toolchain.sandbox,
    command: [binary, weights, ...list],
    readOnlyPaths: [binary, ...checkpointPaths(weights)],
    ...(toolchain.cuda === undefined ? {} : { devices: toolchain.cuda.deviceFiles }),
    scratch,
    signal,
    limits: {
      wallSeconds: 24 * 3600,
      cpuSeconds: 24 * 3600 * 64,
      memoryBytes: Number.MAX_SAFE_INTEGER,
      outputBytes: 64 * 2 ** 20,
      fileBytes: 2 ** 36,
      scratchBytes: 2 ** 36,
    },
    ...(isJson ? {} : { onStdout: (chunk: Buffer) => process.stdout.write(chunk) }),
  }).ended;
  return { end, text: end.stdout.toString('utf8') };
}

async function moveLogits(scratch: string, target: string | undefined): Promise<void> {
  if (target === undefined) return;
  const source = join(scratch, 'logits.f32');
  await rename(source, resolve(target)).catch(() => copyFile(source, resolve(target)));
}

export const runCommand: Command = {
  name: 'run',
  summary: 'Run an engine on a prompt, in the sandbox',
  positionals: ['<engine>'],
  options: {
    prompt: { type: 'string', value: 'TEXT', help: 'text to continue' },
    ids: { type: 'string', value: 'LIST', help: 'token ids instead of text: 1,2,3' },
    'ids-file': { type: 'string', value: 'FILE', help: 'the same as a JSON list' },
    'max-tokens': { type: 'string', value: 'N', help: 'tokens to generate' },
    temperature: { type: 'string', value: 'T', help: '0 = greedy (default)' },
    'top-k': { type: 'string', value: 'K', help: 'keep the K likeliest tokens' },
    'top-p': { type: 'string', value: 'P', help: 'keep the likeliest tokens of this total probability' },
    'min-p': { type: 'string', value: 'P', help: 'drop tokens below P times the likeliest' },
    'repetition-penalty': { type: 'string', value: 'R', help: 'above 1: repeat less' },
    seed: { type: 'string', value: 'N', help: 'same seed, same text' },
    stop: { type: 'string', value: 'TEXT', multiple: true, help: 'end before this text (repeatable)' },
    'ignore-eos': { type: 'boolean', help: 'go on after end-of-text' },
    logits: {
      type: 'string',
      value: 'FILE',
      help: 'write the logits of every prompt token (float32, row-major)',
    },
    weights: {
      type: 'string',
      value: 'DIR',
      help: 'checkpoint folder, where it is not where the constraint file says',
    },
  },
  examples: [
    'npx metainfer run engines/tiny-qwen3 --prompt "The fs module" --max-tokens 64',
    'npx metainfer run engines/tiny-qwen3 --ids-file ids.json --max-tokens 0 --logits logits.f32',
  ],
  async run(input, context) {
    sweepScratch(tmpdir(), ['metainfer-run']);
    const scratch = makeScratch(tmpdir(), 'metainfer-run', 'TMPDIR');
    try {
      const { end, text } = await run(input, context, scratch);
      if (end.reason !== 'exit' || end.exitCode !== 0) {
        if (context.signal.aborted) return { exitCode: 1, data: null, text: '' };
        const why = end.stderr.toString('utf8').trim().slice(-2000);
        const code = end.exitCode === 2 ? 'USAGE' : end.exitCode === 1 ? 'ENGINE_INVALID' : 'ENGINE_CRASHED';
        throw new AppError(
          code,
          why === '' ? `The engine ended early (${end.reason}, ${end.exitCode ?? end.signal}).` : why,
        );
      }
      await moveLogits(scratch, optionText(input, 'logits'));
      return {
        exitCode: 0,
        data: { text, seconds: end.wallSeconds, peakRssBytes: end.peakRssBytes },
        text: '',
      };
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  },
};
