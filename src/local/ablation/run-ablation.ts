import { AppError, type ErrorCode, errorCodes } from '../../model/errors.ts';
import type { GenerationRecord } from '../../model/generation-record.ts';
import type { RunState } from '../../model/run.ts';
import { cellFolder, openAblationFolder, readResult, saveResult } from './ablation-folder.ts';
import { type AblationCell, type AblationPlan, type AblationResult, listCells } from './ablation-plan.ts';
import { textInMode } from './mode-text.ts';
import { startClock } from './work-clock.ts';

/** One run as the performer gets it: everything that it leaves goes into `folder`, where an earlier sitting may have left its part. */
export interface AblationTask extends AblationCell {
  /** The constraint file in the mode of the run. */
  readonly text: string;
  readonly folder: string;
}

/** What a run has come to: ended, or passed every gate but the timed ones. */
export interface AblationOutcome {
  readonly state: RunState;
  /** Undefined where no agent had a part. */
  readonly record: GenerationRecord | undefined;
}

export interface AblationPorts {
  /** Runs, or takes up again, until the engine is verified or the run has failed. */
  readonly perform: (task: AblationTask) => Promise<AblationOutcome>;
  readonly signal: AbortSignal;
  readonly onRun?: (cell: AblationCell, number: number, total: number) => void;
  readonly onRunEnd?: (result: AblationResult) => void;
  /** After every run: a report of what is finished so far must survive a kill. */
  readonly onResults: (results: readonly AblationResult[]) => Promise<void>;
}

/**
 * Every run of the plan that is not finished yet. Stops at the first that this machine or the endpoint is to blame for;
 * the same call then goes on with it. Gives the results in the order of the plan.
 * @throws AppError USAGE where the folder holds something else
 * @throws AppError of the run that could not go on
 */
export async function runAblation(
  folder: string,
  plan: AblationPlan,
  ports: AblationPorts,
): Promise<readonly AblationResult[]> {
  await openAblationFolder(folder, plan);
  const cells = listCells(plan);
  const known = await Promise.all(cells.map((cell) => readResult(cellFolder(folder, cell))));
  const results = (): AblationResult[] => known.filter((result) => result !== undefined);
  await ports.onResults(results());
  for (const [index, cell] of cells.entries()) {
    if (known[index] !== undefined) continue;
    ports.signal.throwIfAborted();
    ports.onRun?.(cell, index + 1, cells.length);
    known[index] = await runCell(cell, cellFolder(folder, cell), ports);
    ports.onRunEnd?.(known[index]!);
    await ports.onResults(results());
  }
  return results();
}

async function runCell(cell: AblationCell, folder: string, ports: AblationPorts): Promise<AblationResult> {
  const sources = cell.file.sources.map(({ path }) => path);
  const text = textInMode(cell.file.text, cell.mode, sources);
  const clock = await startClock(folder);
  const { state, record } = await ports.perform({ ...cell, text, folder }).finally(() => clock.stop());
  ports.signal.throwIfAborted();
  const result: AblationResult = {
    schema: 'metainfer/ablation-run/v1',
    file: cell.file.name,
    mode: cell.mode,
    repeat: cell.repeat,
    ...endOf(state),
    seconds: clock.read(),
    sittings: clock.sittings,
    record: record ?? null,
  };
  await saveResult(folder, result);
  return result;
}

/** How a run ended, where that is a result. @throws AppError where it says nothing about the mode */
function endOf(state: RunState): Pick<AblationResult, 'end' | 'reason'> {
  const { failure } = state;
  if (failure === undefined) {
    if (state.verification?.passed === true) return { end: 'passed', reason: null };
    throw new AppError('INTERNAL', `Run ${state.id} stopped at "${state.next}" without a verdict.`);
  }
  const reason = failure.message.split('\n')[0]!.slice(0, 300);
  if (failure.code === 'VERDICT_FAILED') return { end: 'failed', reason };
  if (failure.code === 'BUDGET_EXHAUSTED') return { end: 'budget', reason };
  const code = failure.code in errorCodes ? (failure.code as ErrorCode) : 'INTERNAL';
  throw new AppError(code, `${failure.message}\n${failure.next}`);
}
