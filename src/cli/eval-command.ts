import { mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { lockFolder } from '../adapters/store/folder-lock.ts';
import type { AblationCell, AblationResult } from '../local/ablation/ablation-plan.ts';
import type { AblationReport } from '../local/ablation/ablation-report.ts';
import { type Mode, modes } from '../local/ablation/mode-text.ts';
import { performRun } from '../local/ablation/perform-run.ts';
import { planAblation, settingsOfRepeat } from '../local/ablation/plan-ablation.ts';
import { type AblationPorts, runAblation } from '../local/ablation/run-ablation.ts';
import { writeAblationReport } from '../local/ablation/write-report.ts';
import { AppError } from '../model/errors.ts';
import { grouped } from '../model/show-number.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { type Command, type CommandContext, type CommandInput, optionText } from './command.ts';
import { judgeOptions } from './judge-options.ts';
import { llmOptions, openLlm, openLocalAgents } from './open-agents.ts';

function modesOption(input: CommandInput): readonly Mode[] {
  const written = optionText(input, 'modes');
  if (written === undefined) return modes;
  const names = written.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !modes.some((mode) => mode === name));
  if (unknown !== undefined)
    throw new AppError('USAGE', `--modes names "${unknown}"; a mode is ${modes.join(', ')}.`);
  if (new Set(names).size < names.length) throw new AppError('USAGE', '--modes names a mode twice.');
  return modes.filter((mode) => names.includes(mode));
}

function repeatsOption(input: CommandInput): number {
  const written = optionText(input, 'repeats') ?? '4';
  const count = Number(written);
  if (/^\d{1,3}$/.test(written) && count >= 1 && count <= 100) return count;
  throw new AppError('USAGE', `--repeats is "${written}"; expected a whole number from 1 to 100.`);
}

function sourcesOption(input: CommandInput): readonly string[] {
  const written = input.options.source;
  return Array.isArray(written) ? written.map(String) : [];
}

async function requireLlm(input: CommandInput, context: CommandContext) {
  const opened = await openLlm(input, context);
  if (opened !== undefined) return opened;
  throw new AppError(
    'USAGE',
    'An ablation measures a language model: name one with --llm URL (and --model NAME), or set METAINFER_LLM.',
  );
}

/** @throws AppError USAGE where another process is at work in the folder */
async function takeFolder(folder: string): Promise<() => Promise<void>> {
  const made = await mkdir(folder, { recursive: true }).then(
    () => realpath(folder),
    (cause) => {
      throw new AppError('USAGE', `${folder} cannot be made a folder for the results.`, { cause });
    },
  );
  return lockFolder(made).catch((cause) => {
    throw new AppError(
      'USAGE',
      `Another process works on the ablation in ${folder}. Wait for it, or name another folder with -o.`,
      { cause },
    );
  });
}

async function evaluate(
  input: CommandInput,
  context: CommandContext,
  folder: string,
): Promise<AblationReport> {
  const { config, progress, signal } = context;
  const { settings, apiKey } = await requireLlm(input, context);
  const request = {
    paths: input.positionals,
    modes: modesOption(input),
    repeats: repeatsOption(input),
    sources: sourcesOption(input),
  };
  const catalog = await openKnowledge(config.cacheFolder);
  const { weightsRoot } = config;
  const { plan, tokens } = await planAblation(request, settings, { catalog, weightsRoot });
  const most = plan.files.length * plan.modes.length * plan.repeats * settings.limits.hard_tokens;
  progress.note(
    `${tokens === null ? 'Unknown' : `About ${grouped(Math.round(tokens))}`} tokens expected for all runs, at most ${grouped(most)}.`,
  );
  const release = await takeFolder(folder);
  const machine = {
    ...judgeOptions(context),
    ...{ catalog, weightsRoot },
    onStep: (step: string) => progress.detail(step),
    onStepEnd: () => undefined,
  };
  const ports: AblationPorts = {
    signal,
    onRun: (cell, number, total) => progress.start(`run ${number} of ${total} (${nameOf(cell)})`),
    onRunEnd: ({ end }) => progress.end(end),
    onResults: async (results: readonly AblationResult[]) =>
      void (await writeAblationReport(folder, plan, results)),
    perform: (task) => {
      const opened = { apiKey, settings: settingsOfRepeat(settings, task.repeat) };
      return performRun(task, openLocalAgents(opened, task.folder, context), machine);
    },
  };
  try {
    return await writeAblationReport(folder, plan, await runAblation(folder, plan, ports));
  } finally {
    await release();
  }
}

function nameOf({ file, mode, repeat }: AblationCell): string {
  return `${file.name}, ${mode}, repeat ${repeat}`;
}

function summarise(report: AblationReport, folder: string): string {
  const lines = report.cells.map(
    ({ file, mode, passed, finished, figures }) =>
      `${file}, ${mode}: ${passed} of ${finished} runs passed, ${figures.calls?.median ?? 0} model calls (median)`,
  );
  return [
    ...(report.notice === null ? [] : [report.notice]),
    ...lines,
    `Report: ${join(folder, 'report.md')} (figures: report.json, pictures: *.svg)`,
  ].join('\n');
}

export const evalAblationCommand: Command = {
  name: 'eval ablation',
  summary: 'Run constraint files in every mode of generation and compare what a language model needed',
  positionals: ['<file...>'],
  options: {
    ...llmOptions,
    modes: { type: 'string', value: 'LIST', help: `some of ${modes.join(',')}; default all` },
    repeats: {
      type: 'string',
      value: 'N',
      help: 'runs of each file in each mode; default 4, the fewest with a 95 % interval',
    },
    source: {
      type: 'string',
      value: 'PATH',
      multiple: true,
      help: 'file that source-reference shows to the agents (repeatable); default: those that the constraint file names',
    },
    output: {
      type: 'string',
      short: 'o',
      value: 'DIR',
      help: 'folder of the runs and the report; default ablation',
    },
  },
  examples: [
    'npx metainfer eval ablation my.yaml --llm http://localhost:8000/v1 --modes zero-reference,knowledge-first',
    'npx metainfer eval ablation a.yaml b.yaml --llm llm.yaml --source reference/model.cpp --repeats 6 -o study',
  ],
  async run(input, context) {
    const folder = resolve(optionText(input, 'output') ?? 'ablation');
    const report = await evaluate(input, context, folder);
    return { exitCode: 0, data: report, text: summarise(report, folder) };
  },
};
