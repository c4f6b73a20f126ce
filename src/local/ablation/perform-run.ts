import { join } from 'node:path';
import type { RunState } from '../../model/run.ts';
import { isOpen, parseRunState, startRun, step } from '../../pipeline.ts';
import { readRequest } from '../../preparation/read-request.ts';
import type { LocalAgents } from '../agents/local-agents.ts';
import { generationRecordOf } from '../agents/with-generation-record.ts';
import { driveRun, type LocalRunner, readReport } from '../local-runner.ts';
import { readIfThere, writeWhole } from './ablation-folder.ts';
import type { AblationOutcome, AblationTask } from './run-ablation.ts';

/** Of a run's end these two are results; any other is the machine's or the endpoint's, and the run goes on with it mended. */
const results: ReadonlySet<string> = new Set(['VERDICT_FAILED', 'BUDGET_EXHAUSTED']);

/** One run from the constraint file to the verdict, without benchmark, in the run's folder. */
export async function performRun(
  task: AblationTask,
  agents: LocalAgents,
  machine: Omit<LocalRunner, 'agents' | 'save' | 'baseline' | 'runSeed'>,
): Promise<AblationOutcome> {
  const path = join(task.folder, 'state.json');
  const runner: LocalRunner = {
    ...machine,
    agents,
    baseline: false,
    // The same inputs of the gates in every mode.
    runSeed: task.repeat,
    save: (state) => writeWhole(path, `${JSON.stringify(state, null, 2)}\n`),
  };
  let state = await openState(task, path);
  // The timed gates say nothing about the mode; a repair comes back to `verify`.
  while (isOpen(state) && state.next !== 'bench' && !runner.signal.aborted) {
    state = await driveRun(state, runner, 'verify');
  }
  return { state, record: await recordOf(state, runner) };
}

async function openState(task: AblationTask, path: string): Promise<RunState> {
  const { file, mode, repeat, folder, text } = task;
  const request = { fileName: file.path, text, origin: 'command-line' } as const;
  const fresh = startRun(`${file.name}-${mode}-${repeat}`, request, join(folder, 'engine'));
  const saved = await readIfThere(path);
  if (saved === undefined) return fresh;
  const state = parseRunState(saved);
  if (isOpen(state) || state.failure === undefined || results.has(state.failure.code)) return state;
  return state.agents === undefined ? fresh : step(state, { type: 'retried' }).state;
}

async function recordOf(state: RunState, runner: LocalRunner): Promise<AblationOutcome['record']> {
  const { text, fileName, origin } = state.input;
  if (state.agents === undefined) return undefined;
  const request = await readRequest(text, {
    ...{ fileName, origin },
    weightsRoot: runner.weightsRoot,
    catalog: runner.catalog,
  });
  // What stopped before a verdict has no whole engine whose lines could be counted.
  const lines = state.verification === undefined ? 0 : (await readReport(state.folder)).engine.lineCount;
  return generationRecordOf(state, request, runner, lines);
}
