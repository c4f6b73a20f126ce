import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { LocalAgents } from '../local/agents/local-agents.ts';
import { driveRun, readReport } from '../local/local-runner.ts';
import { AppError, errorCodes } from '../model/errors.ts';
import type { Report } from '../model/report.ts';
import { localSteps, type RunState, type RunStep } from '../model/run.ts';
import { exitCodeOf } from '../pipeline/exit-code.ts';
import { parseRunState, startRun, step } from '../pipeline.ts';
import { workLimits } from '../plan/agent-work.ts';
import { openKnowledge } from '../preparation/knowledge-base.ts';
import { readConstraintFile } from '../preparation/read-request.ts';
import {
  type Command,
  type CommandContext,
  type CommandInput,
  type CommandResult,
  optionText,
} from './command.ts';
import { holdRun } from './hold-run.ts';
import { judgeOptions, seedOption, wantsBaseline } from './judge-options.ts';
import { agentOptions, openAgents } from './open-agents.ts';
import { verdictText } from './verdict-text.ts';

function stopAfterOption(input: CommandInput): RunStep | undefined {
  const written = optionText(input, 'stop-after');
  if (written === undefined) return undefined;
  const found = localSteps.find((name) => name === written);
  if (found !== undefined) return found;
  throw new AppError('USAGE', `--stop-after is "${written}"; it may be ${localSteps.join(', ')}.`);
}

/** A saved run, or a new one for the constraint file. */
async function openState(
  input: CommandInput,
  context: CommandContext,
): Promise<{ state: RunState; path: string }> {
  const resume = optionText(input, 'resume');
  const file = input.positionals[0];
  if ((resume === undefined) === (file === undefined)) {
    throw new AppError('USAGE', 'Give either a constraint file or --resume FILE.');
  }
  if (resume !== undefined) {
    const text = await readFile(resume, 'utf8').catch(() => undefined);
    if (text === undefined) throw new AppError('RUN_STATE_INVALID', `${resume} cannot be read.`);
    return { state: parseRunState(text), path: resolve(resume) };
  }
  const text = await readConstraintFile(file!);
  const id = `run-${randomBytes(6).toString('hex')}`;
  const path = optionText(input, 'state') ?? join(context.config.cacheFolder, 'runs', `${id}.json`);
  // The folder's name comes from the file, once that is accepted; until then from --output alone.
  const folder = optionText(input, 'output') ?? join('engines', nameIn(text));
  const request = { fileName: resolve(file!), text, origin: 'command-line' } as const;
  return { state: startRun(id, request, resolve(folder)), path: resolve(path) };
}

/** What stood in the way may be there by now: a model, an option, money, a tool, memory. */
function wasLacking(code: string | undefined): boolean {
  if (code === 'USAGE' || code === 'NOT_COVERED' || code === 'BUDGET_EXHAUSTED') return true;
  const known = (errorCodes as Record<string, { source: string }>)[code ?? ''];
  return known?.source === 'external';
}

/**
 * A run that failed for want of something (a model, a key, money, a tool), or had no device, is taken up again, with what the command line
 * allows now; one whose engine was judged stays as it was judged.
 */
function takeUp(saved: RunState, agents: LocalAgents | undefined): RunState {
  const isStopped = saved.agents !== undefined && saved.agents.stop !== null;
  const isRepeated =
    saved.status === 'unverified' ||
    (saved.status === 'failed' && (isStopped || wasLacking(saved.failure?.code)));
  const state = isRepeated ? step(saved, { type: 'retried' }).state : saved;
  if (agents === undefined || state.agents === undefined || state.constraints === undefined) return state;
  const limits = workLimits(agents.settings, state.constraints);
  return { ...state, agents: { ...state.agents, limits } };
}

/** The file's name field as far as a folder may be called so; the constraints stage judges it properly. */
function nameIn(text: string): string {
  return /^name:[ \t]*["']?([a-z0-9][a-z0-9-]{0,63})["']?[ \t]*$/m.exec(text)?.[1] ?? 'engine';
}

async function saveState(path: string, state: RunState): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.part`, `${JSON.stringify(state, null, 2)}\n`);
    await rename(`${path}.part`, path);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new AppError(
      'USAGE',
      `The state of the run cannot be saved in ${path} (${reason}): name a file with --state that can be written.`,
      {
        cause: error,
      },
    );
  }
}

/** Runs all steps with progress. Shared with the demo. */
export async function buildRun(
  state: RunState,
  path: string,
  context: CommandContext,
  options: {
    readonly baseline: boolean;
    readonly runSeed: number | undefined;
    readonly stopAfter: RunStep | undefined;
    readonly agents?: LocalAgents | undefined;
  },
): Promise<{ state: RunState; report: Report | undefined }> {
  const { config, progress } = context;
  const catalog = await openKnowledge(context.config.cacheFolder);
  await saveState(path, state);
  const end = await driveRun(
    state,
    {
      ...judgeOptions(context),
      catalog,
      weightsRoot: config.weightsRoot,
      baseline: options.baseline,
      runSeed: options.runSeed,
      agents: options.agents,
      onStep: (step) => progress.start(step),
      onStepEnd: (_, outcome) => progress.end(outcome),
      save: (next) => saveState(path, next),
    },
    options.stopAfter,
  );
  const wasVerified = end.verification !== undefined;
  return { state: end, report: wasVerified ? await readReport(end.folder) : undefined };
}

function describeEnd(state: RunState, path: string, report: Report | undefined): string {
  const parts: string[] = [];
  if (report !== undefined) parts.push(verdictText(report));
  if (state.failure !== undefined) {
    parts.push(
      `The run failed at "${state.failure.step}" (${state.failure.code}). ${report === undefined ? state.failure.message : ''}`.trim(),
      state.failure.next,
    );
    const canGoOn = wasLacking(state.failure.code) || (state.agents?.stop ?? null) !== null;
    if (canGoOn) parts.push(`The run is kept; to go on: npx metainfer build --resume ${path}`);
  }
  if (state.status === 'running')
    parts.push(
      `Stopped before "${state.next}". Go on with: npx metainfer build --resume ${path} (and the same ${state.agents === undefined ? '' : '--llm, --model, '}--baseline and --seed)`,
    );
  if (state.status === 'unverified') {
    parts.push(
      `Engine: ${state.folder}. Nothing failed, and nothing ran on a GPU. Where there is one: npx metainfer build --resume ${path}, or copy the folder there and run \`npx metainfer verify\` and \`bench\` on it.`,
    );
  }
  if (state.status === 'passed') parts.push(`Engine: ${state.folder}`);
  return parts.join('\n\n');
}

export function buildResult(state: RunState, path: string, report: Report | undefined): CommandResult {
  const data = { run: state, report: report ?? null, statePath: path };
  return { exitCode: exitCodeOf(state), data, text: describeEnd(state, path, report) };
}

export const buildCommand: Command = {
  name: 'build',
  summary: 'All steps: plan, generate, verify, bench',
  positionals: ['[file]'],
  options: {
    output: { type: 'string', short: 'o', value: 'DIR', help: 'engine folder; default engines/<name>' },
    baseline: { type: 'string', value: 'NAME', help: 'llama.cpp (default) or none' },
    seed: { type: 'string', value: 'N', help: 'repeat a run: the seed that its report names' },
    state: { type: 'string', value: 'FILE', help: 'where the state of the run is saved after each step' },
    'stop-after': { type: 'string', value: 'STEP', help: `one of ${localSteps.join(', ')}` },
    resume: { type: 'string', value: 'FILE', help: 'take up a run from its saved state' },
    ...agentOptions,
  },
  examples: [
    'npx metainfer build knowledge/examples/qwen3-0.6b.yaml',
    'npx metainfer build my.yaml --llm http://localhost:11434/v1 --model qwen3-coder:30b',
    'npx metainfer build my.yaml --state run.json --stop-after generate',
    'npx metainfer build --resume run.json',
  ],
  async run(input, context) {
    const stopAfter = stopAfterOption(input);
    const written = { baseline: wantsBaseline(input), runSeed: seedOption(input), stopAfter };
    const { state, path } = await openState(input, context);
    const release = await holdRun(path, state.folder);
    try {
      const agents = await openAgents(input, context, path);
      const end = await buildRun(takeUp(state, agents), path, context, { ...written, agents });
      return buildResult(end.state, path, end.report);
    } finally {
      await release();
    }
  },
};
