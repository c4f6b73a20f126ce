import { randomInt } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { insertFigures } from '../generation/provenance-file.ts';
import { writeEngine } from '../generation/write-engine.ts';
import { AppError } from '../model/errors.ts';
import { Report } from '../model/report.ts';
import type { LocalStep, RunEvent, RunState, RunStep } from '../model/run.ts';
import { tokensOf } from '../model/spending.ts';
import { generationTask } from '../pipeline/agent-transitions.ts';
import { isUnverified, lacksDevice } from '../pipeline/unverified.ts';
import { effectsOf, step } from '../pipeline.ts';
import { startAgentWork } from '../plan/agent-work.ts';
import { composePrepared, type PreparedEngine, prepareEngine } from '../preparation/prepare-engine.ts';
import { type Request, readRequest } from '../preparation/read-request.ts';
import { hashEngineTree } from '../verification/engine-tree.ts';
import { renderFigures } from '../verification/render-report.ts';
import { benchmarkOutcome, verificationOutcome } from '../verification/report-outcomes.ts';
import { type AgentRunner, agentFilesOf, attemptNext } from './agents/agent-steps.ts';
import { diagnoseFailure } from './agents/diagnose-step.ts';
import { optimizeNext } from './agents/optimize-step.ts';
import { withGenerationRecord } from './agents/with-generation-record.ts';
import { rememberWeights } from './engine-folder.ts';
import { measureEngine, verifyFolder } from './judge-engine.ts';

/** What a run on this machine may use. */
export interface LocalRunner extends AgentRunner {
  readonly weightsRoot: string | undefined;
  readonly baseline: boolean;
  readonly onStep: (step: RunStep) => void;
  readonly onStepEnd: (step: RunStep, outcome: string) => void;
  /** Saves the state after every event, before anything else happens. */
  readonly save: (state: RunState) => Promise<void>;
}

/**
 * Drives a run until it ends or `stopAfter` is done. A state read back from disk goes on where it stopped; what an
 * earlier process had in memory is made again from the state's own text.
 */
export async function driveRun(start: RunState, runner: LocalRunner, stopAfter?: RunStep): Promise<RunState> {
  let state = start;
  for (;;) {
    const [effect] = effectsOf(state);
    if (effect === undefined || effect.type === 'announce-end') return state;
    const performed = effect.step;
    runner.onStep(performed);
    const began = performance.now();
    const event = await performStep(state, performed, runner);
    // Stopped by hand: the state stays where it was, so that the run can be taken up again.
    if (event.type === 'cancelled') return state;
    const wallSeconds = (state.wallSeconds ?? 0) + (performance.now() - began) / 1000;
    state = { ...step(state, event).state, wallSeconds };
    await runner.save(state);
    runner.onStepEnd(performed, state.failure === undefined ? describe(event, state) : 'failed');
    // Agents take a step once for each attempt.
    if (performed === stopAfter && state.next !== performed) return state;
  }
}

async function performStep(state: RunState, wanted: RunStep, runner: LocalRunner): Promise<RunEvent> {
  try {
    return await steps[wanted as LocalStep](state, runner);
  } catch (error) {
    if (runner.signal.aborted) return { type: 'cancelled' };
    if (error instanceof AppError) return { type: 'step-failed', code: error.code, message: error.message };
    throw error;
  }
}

const steps: Readonly<Record<LocalStep, (state: RunState, runner: LocalRunner) => Promise<RunEvent>>> = {
  constraints: async (state, runner) => {
    const { constraints, sha256 } = await requestOf(state, runner);
    return { type: 'constraints-accepted', constraints, sha256 };
  },
  plan: async (state, runner) => {
    const request = await requestOf(state, runner);
    const { plan, planSha256 } = prepareEngine(request, runner.catalog, {
      agents: { hasModel: runner.agents !== undefined },
      llm: runner.agents?.settings,
    });
    const agents = runner.agents && startAgentWork(plan, runner.agents.settings, request.constraints);
    return {
      ...{ type: 'plan-made', sha256: planSha256, missing: plan.missing },
      ...(agents === undefined ? {} : { agents }),
    };
  },
  generate: async (state, runner) => {
    const prepared = await preparedOf(state, runner);
    const task = generationTask(state);
    if (task.kind === 'attempt') return attemptNext(state, task.work, prepared, runner);
    const agentFiles = await agentFilesOf(state, runner);
    await writeEngine(composePrepared(prepared, { agentFiles, isPartial: !task.isComplete }), state.folder);
    await rememberWeights(runner.cacheFolder, state.folder, prepared.request);
    const { isComplete } = task;
    return { type: 'engine-generated', treeSha256: hashEngineTree(state.folder), isComplete };
  },
  verify: async (state, runner) => {
    const prepared = await preparedOf(state, runner);
    requireSameTree(state);
    const verified = await verifyFolder(prepared, state.folder, {
      ...runner,
      runSeed: runner.runSeed ?? randomInt(2 ** 31),
    });
    const report = await withGenerationRecord(verified, state, prepared.request, runner);
    return { type: 'verified', outcome: verificationOutcome(report, await saveReport(state.folder, report)) };
  },
  diagnose: async (state, runner) =>
    diagnoseFailure(state, await preparedOf(state, runner), await readReport(state.folder), runner),
  optimize: async (state, runner) => {
    const prepared = await preparedOf(state, runner);
    // A process that died while it put a better engine in place left that one here.
    if (hashEngineTree(state.folder) !== state.engineTreeSha256) {
      const agentFiles = await agentFilesOf(state, runner);
      await writeEngine(composePrepared(prepared, { agentFiles }), state.folder);
    }
    return optimizeNext(state, prepared, await readReport(state.folder), runner, async (report) =>
      saveReport(state.folder, await withGenerationRecord(report, state, prepared.request, runner)),
    );
  },
  bench: async (state, runner) => {
    const prepared = await preparedOf(state, runner);
    requireSameTree(state);
    const measured = await measureEngine(prepared, state.folder, await readReport(state.folder), runner);
    const report = await withGenerationRecord(measured, state, prepared.request, runner);
    await saveReport(state.folder, report);
    return { type: 'benchmarked', outcome: benchmarkOutcome(report) };
  },
};

function requestOf(state: RunState, runner: LocalRunner): Promise<Request> {
  const { text, fileName, origin } = state.input;
  return readRequest(text, { fileName, origin, weightsRoot: runner.weightsRoot, catalog: runner.catalog });
}

/** The plan made again; it must be the one that the run went on with. */
async function preparedOf(state: RunState, runner: LocalRunner): Promise<PreparedEngine> {
  const request = await requestOf(state, runner);
  const hasModel = state.agents !== undefined;
  const prepared = prepareEngine(request, runner.catalog, { agents: { hasModel } });
  if (prepared.planSha256 === state.planSha256) {
    const rewritten = new Set(state.agents?.contracts.map(({ contract }) => contract));
    return rewritten.size === 0
      ? prepared
      : prepareEngine(request, runner.catalog, { agents: { hasModel, rewritten } });
  }
  throw new AppError(
    'RUN_STATE_INVALID',
    'The plan of this run comes out differently now: the knowledge or the checkpoint changed since. Start the run anew.',
  );
}

/** A verdict is about the tree that this run generated and no other. */
function requireSameTree(state: RunState): void {
  if (hashEngineTree(state.folder) === state.engineTreeSha256) return;
  throw new AppError(
    'ENGINE_INVALID',
    `${state.folder} is no longer what this run generated. Start the run anew.`,
  );
}

/** Writes report.json, and the figures into the engine's README.md, each whole or as it was. Gives the report's path. */
export async function saveReport(folder: string, report: Report): Promise<string> {
  const path = join(folder, 'report.json');
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.part`, `${JSON.stringify(report, null, 2)}\n`);
  await rename(`${path}.part`, path);
  const readme = join(folder, 'README.md');
  const text = await readFile(readme, 'utf8').catch(() => undefined);
  if (text !== undefined) await writeFile(readme, insertFigures(text, renderFigures(report)));
  return path;
}

/** @throws AppError ENGINE_INVALID where the engine was not verified, or report.json is not one */
export async function readReport(folder: string): Promise<Report> {
  const path = join(folder, 'report.json');
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new AppError('ENGINE_INVALID', `${path} does not exist: run \`metainfer verify ${folder}\` first.`);
  try {
    return Report.parse(JSON.parse(text));
  } catch (error) {
    throw new AppError('ENGINE_INVALID', `${path} is not a report of this program.`, { cause: error });
  }
}

function describe(event: RunEvent, { agents }: RunState): string {
  if (event.type === 'contract-attempted' && agents !== undefined) {
    const settled = agents.contracts.filter(({ status }) => status !== 'open').length;
    return `${settled} of ${agents.contracts.length} contracts, ${tokensOf(agents.spent)} tokens so far`;
  }
  if (event.type === 'verified') {
    if (event.outcome.passed) return 'all gates green';
    return lacksDevice(event.outcome) ? unrun(event.outcome.notRun) : 'failed';
  }
  if (event.type === 'benchmarked') {
    if (event.outcome.passed) return 'goals met';
    return isUnverified(undefined, event.outcome) ? unrun(event.outcome.notRun) : 'failed';
  }
  return 'done';
}

function unrun(gates: readonly string[] | undefined): string {
  return `not run on a device: ${(gates ?? []).join(', ')}`;
}
