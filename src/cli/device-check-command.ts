import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readDeviceReport } from '../local/device-check/check-report.ts';
import { readKnownBundle } from '../local/device-check/known-bundle.ts';
import { deviceCheckEngines, packBundle } from '../local/device-check/pack-bundle.ts';
import { renderDeviceReport } from '../local/device-check/render-report.ts';
import { runDeviceCheck } from '../local/device-check/run-check.ts';
import { terminalText } from '../local/device-check/terminal-text.ts';
import { whyNoEvidence } from '../local/device-check/why-no-evidence.ts';
import { deviceSteps } from '../model/device-report.ts';
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
      `--${name} is ${terminalText(written.slice(0, 40))}; expected a whole number from ${least} on.`,
    );
  return value;
}

/** The summary is always made. */
const choices: readonly string[] = deviceSteps.filter((step) => step !== 'summary');

/** @throws AppError USAGE before anything is packed */
function readSettings(input: CommandInput) {
  const only = optionText(input, 'only')?.split(',');
  const unknown = only?.find((step) => !choices.includes(step));
  if (unknown !== undefined)
    throw new AppError(
      'USAGE',
      `--only has "${terminalText(unknown.slice(0, 40))}"; steps are ${choices.join(', ')}.`,
    );
  return {
    only,
    budgetSeconds: numberOption(input, 'budget-seconds', defaultBudget, 1),
    seed: numberOption(input, 'seed', defaultSeed, 0),
  };
}
type Settings = ReturnType<typeof readSettings>;

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
      help: 'say whether a report.json holds together and is evidence; of the bundle in [folder], if it is given',
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
      help: `of ${choices.join(',')}`,
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
    if (path !== undefined) return checkReport(path, input.positionals[0], context);
    const settings = readSettings(input);
    const bundle = resolve(input.positionals[0] ?? defaultFolder);
    if (input.options.pack === true) return pack(bundle, settings, context);
    const isFake = input.options.fake === true;
    if (!isFake) await requireDevice();
    await pack(bundle, settings, context);
    return run(bundle, isFake, { ...settings, out: optionText(input, 'out') ?? defaultOut }, context);
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

async function checkReport(
  path: string,
  folder: string | undefined,
  context: CommandContext,
): Promise<CommandResult> {
  const text = await readFile(resolve(path), 'utf8').catch((error: Error) => {
    throw new AppError('USAGE', `${path} cannot be read: ${error.message}`);
  });
  const catalog = await openKnowledge(context.config.cacheFolder);
  const report = readDeviceReport(text, {
    devices: catalog.platforms.flatMap(({ gpu }) => gpu?.devices ?? []),
    ...(folder === undefined ? {} : { bundle: readKnownBundle(resolve(folder)) }),
  });
  const reason = whyNoEvidence(report);
  const verdict =
    reason === undefined
      ? 'It holds together and is evidence.'
      : `It holds together, but is no evidence: ${terminalText(reason)}.`;
  return {
    exitCode: reason === undefined ? 0 : 1,
    data: { isEvidence: reason === undefined, reason: reason ?? null },
    text: `${renderDeviceReport(report)}\n\n${verdict}`,
  };
}

async function pack(bundle: string, { seed }: Settings, context: CommandContext): Promise<CommandResult> {
  context.progress.start('pack');
  const manifest = await packBundle(bundle, {
    catalog: await openKnowledge(context.config.cacheFolder),
    engines: deviceCheckEngines(),
    seed,
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
  { only, budgetSeconds, out }: Settings & { readonly out: string },
  context: CommandContext,
): Promise<CommandResult> {
  context.progress.start(isFake ? 'device check over host emulation' : 'device check');
  const { report, reportPath, exitCode } = await runDeviceCheck({
    ...{ bundle, isFake, signal: context.signal },
    ...(only === undefined ? {} : { only }),
    out: resolve(out),
    budgetSeconds,
    // On a device everything is compiled anew: the time that takes is part of what is checked.
    ...(isFake ? { cacheFolder: join(context.config.cacheFolder, 'device-check-objects') } : {}),
    onLine: (line) => context.progress.note(terminalText(line)),
  });
  context.progress.end(exitCode === 0 ? 'done' : 'something failed');
  const failed = exitCode === 0 ? (isFake ? 5 : 0) : 1;
  return {
    exitCode: failed,
    data: { report: reportPath, isFake, requirements: report.requirements },
    text: `${renderDeviceReport(report)}\n\n${reportPath}`,
  };
}
