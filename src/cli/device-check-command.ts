import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readDeviceReport, whyNoEvidence } from '../local/device-check/check-report.ts';
import { deviceCheckEngines, packBundle } from '../local/device-check/pack-bundle.ts';
import { renderDeviceReport } from '../local/device-check/render-report.ts';
import { runDeviceCheck } from '../local/device-check/run-check.ts';
import { AppError } from '../model/errors.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { queryDevices } from '../verification/cuda-devices.ts';
import {
  type Command,
  type CommandContext,
  type CommandInput,
  type CommandResult,
  optionText,
} from './command.ts';

const defaultFolder = 'device-check';
const defaultOut = '.metainfer/device-check';
/** A lent machine gives ten minutes to a command, and writes and copies count. */
const defaultBudget = 540;
const defaultSeed = 20_261_130;
const oracleTokens = 256;

function numberOption(input: CommandInput, name: string, otherwise: number, least: number): number {
  const written = optionText(input, name);
  if (written === undefined) return otherwise;
  const value = Number(written);
  if (!Number.isInteger(value) || value < least)
    throw new AppError(
      'USAGE',
      `--${name} is ${written.slice(0, 40)}; expected a whole number from ${least} on.`,
    );
  return value;
}

export const deviceCheckCommand: Command = {
  name: 'device-check',
  summary:
    'Check and time CUDA engines on a GPU in ten minutes, or pack all that it takes for a machine that has one',
  positionals: ['[folder]'],
  options: {
    pack: { type: 'boolean', help: `only pack the bundle (default folder: ${defaultFolder}/)` },
    fake: {
      type: 'boolean',
      help: 'without a GPU: the same steps over host emulation; says nothing about a device',
    },
    check: {
      type: 'string',
      value: 'FILE',
      help: 'say whether a report.json holds together and is evidence',
    },
    out: {
      type: 'string',
      short: 'o',
      value: 'DIR',
      help: `for report.json and logs (default ${defaultOut}/)`,
    },
    'budget-seconds': {
      type: 'string',
      value: 'N',
      help: `the run ends itself by then (default ${defaultBudget})`,
    },
    only: {
      type: 'string',
      value: 'STEPS',
      help: 'of environment,build,gates,ceilings,speed,units,sanitizer,torch',
    },
    seed: { type: 'string', value: 'N', help: 'inputs of the bundle are drawn from it' },
  },
  examples: [
    'npm run device-check',
    'npm run device-check -- --pack',
    'npm run device-check -- --check report.json',
  ],
  async run(input, context): Promise<CommandResult> {
    const path = optionText(input, 'check');
    if (path !== undefined) return checkReport(path);
    const bundle = resolve(input.positionals[0] ?? defaultFolder);
    if (input.options.pack === true) return pack(bundle, input, context);
    const isFake = input.options.fake === true;
    if (!isFake) await requireDevice();
    await pack(bundle, input, context);
    return run(bundle, isFake, input, context);
  },
};

async function requireDevice(): Promise<void> {
  const devices = await queryDevices();
  if (devices !== undefined && devices.length > 0) return;
  throw new AppError(
    'TOOL_MISSING',
    [
      'There is no NVIDIA GPU here: nvidia-smi does not answer.',
      'With a machine that has one: `npm run device-check -- --pack`, copy device-check/ there, and run',
      '  python3 device-check/device/device_check.py --out OUT',
      'which needs nvcc, g++ and Python, and no network. OUT/report.json is what it found.',
      '`npm run device-check -- --fake` runs the same steps here over host emulation, which shows arithmetic only.',
    ].join('\n'),
  );
}

async function checkReport(path: string): Promise<CommandResult> {
  const text = await readFile(resolve(path), 'utf8').catch((error: Error) => {
    throw new AppError('USAGE', `${path} cannot be read: ${error.message}`);
  });
  const report = readDeviceReport(text);
  const reason = whyNoEvidence(report);
  const verdict =
    reason === undefined
      ? 'It holds together and is evidence.'
      : `It holds together, but is no evidence: ${reason}.`;
  return {
    exitCode: reason === undefined ? 0 : 1,
    data: { isEvidence: reason === undefined, reason: reason ?? null },
    text: `${renderDeviceReport(report)}\n\n${verdict}`,
  };
}

async function pack(bundle: string, input: CommandInput, context: CommandContext): Promise<CommandResult> {
  context.progress.start('pack');
  const manifest = await packBundle(bundle, {
    catalog: await openKnowledge(context.config.cacheFolder),
    engines: deviceCheckEngines(),
    seed: numberOption(input, 'seed', defaultSeed, 0),
    oracleTokens,
    onDetail: context.progress.detail,
  });
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  context.progress.end(`${manifest.files.length} files, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
  const data = { folder: bundle, files: manifest.files.length, bytes };
  return { exitCode: 0, data, text: `python3 ${join(bundle, 'device/device_check.py')} --out OUT` };
}

async function run(
  bundle: string,
  isFake: boolean,
  input: CommandInput,
  context: CommandContext,
): Promise<CommandResult> {
  const only = optionText(input, 'only')?.split(',');
  context.progress.start(isFake ? 'device check over host emulation' : 'device check');
  const { report, reportPath, exitCode } = await runDeviceCheck({
    ...{ bundle, isFake, signal: context.signal },
    ...(only === undefined ? {} : { only }),
    out: resolve(optionText(input, 'out') ?? defaultOut),
    budgetSeconds: numberOption(input, 'budget-seconds', defaultBudget, 1),
    // On a device everything is compiled anew: the time that takes is part of what is checked.
    ...(isFake ? { cacheFolder: join(context.config.cacheFolder, 'device-check-objects') } : {}),
    onLine: context.progress.note,
  });
  context.progress.end(exitCode === 0 ? 'done' : 'something failed');
  const failed = exitCode === 0 ? (isFake ? 5 : 0) : 1;
  return {
    exitCode: failed,
    data: { report: reportPath, isFake, requirements: report.requirements },
    text: `${renderDeviceReport(report)}\n\n${reportPath}`,
  };
}
