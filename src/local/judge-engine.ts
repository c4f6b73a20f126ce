import { join, relative } from 'node:path';
import { listAgentPaths } from '../generation/agent-sources.ts';
import { checkAgentCode } from '../generation/check-agent-code.ts';
import { checkProvenance } from '../generation/check-provenance.ts';
import { renderConfigHeader } from '../generation/config-header.ts';
import { benchmarkGates } from '../model/benchmark-gates.ts';
import type { Constraints } from '../model/constraints.ts';
import { emulationWords, notRunWords } from '../model/device-words.ts';
import { AppError } from '../model/errors.ts';
import { evaluateGoals } from '../model/judge-goals.ts';
import type { Finding, Report } from '../model/report.ts';
import { referencePath } from '../preparation/package-root.ts';
import type { PreparedEngine } from '../preparation/prepare-engine.ts';
import { benchmarkEngine } from '../verification/bench-engine.ts';
import { hashEngineTree } from '../verification/engine-tree.ts';
import { describeEngine } from '../verification/engine-under-test.ts';
import type { EngineUnderTest } from '../verification/gate-context.ts';
import { codePlace } from '../verification/gate-place.ts';
import { addBenchmark, makeReport } from '../verification/make-report.ts';
import { notRun } from '../verification/run-gates.ts';
import { verifyEngine } from '../verification/verify-engine.ts';
import { requireSameTree, withEngineCopy } from './engine-copy.ts';
import { inspectFolder, requireTrustedCode } from './foreign-files.ts';
import { provideWeights } from './local-weights.ts';
import { buildBinary, openToolchain } from './toolchain.ts';

export interface JudgeOptions {
  readonly cacheFolder: string;
  readonly sandbox: 'auto' | 'off';
  readonly signal: AbortSignal;
  /** What is being done now. */
  readonly onDetail: (text: string) => void;
  /** What was finished, worth a line. */
  readonly onNote: (text: string) => void;
}

function weightsSource(prepared: PreparedEngine): string {
  const { constraints, model } = prepared.request;
  const name =
    'id' in constraints.model
      ? constraints.model.id
      : 'path' in constraints.model
        ? constraints.model.path
        : 'inline config';
  return constraints.weights.source === 'synthetic' && model.folder === undefined
    ? `${name}, synthetic weights, seed ${constraints.weights.seed}`
    : name;
}

export function engineUnderTest(prepared: PreparedEngine, folder: string): EngineUnderTest {
  const { constraints, model } = prepared.request;
  return describeEngine({
    folder,
    constraints,
    facts: model.facts,
    tokenizer: model.tokenizer,
    selection: prepared.selection,
    vectorWidth: prepared.platform.archs[constraints.hardware.arch]!.vectorWidth,
    referencePath,
  });
}

/** Files that differ from what the composer wrote or would write now, as findings of the static gate. */
async function provenanceFindings(prepared: PreparedEngine, folder: string): Promise<readonly Finding[]> {
  const { problems } = await checkProvenance(folder);
  const own = problems.map(({ file, line, message, code }) => ({
    ...{ gate: 'static' as const, contract: null, file: file ?? null, line: line ?? null },
    ...{ message: `${file ?? 'the engine'} ${message}`, evidence: { code } },
  }));
  if (own.length > 0) return own;
  const { foreign, absent, composed } = await inspectFolder(prepared, folder);
  const strange = foreign.map((file) => ({
    ...{ gate: 'static' as const, contract: null, file, line: null, evidence: { code: 'not-composed' } },
    message: `${file} is not what the knowledge of this checkout composes for constraints.yaml; generate the engine again`,
  }));
  const agents = listAgentPaths(prepared.selection);
  const unwritten = absent.map((file) => ({
    ...{ gate: 'static' as const, contract: agents.get(file)?.contract ?? null, file: null, line: null },
    ...{ message: `${file} is still to be written by an agent`, evidence: { code: 'not-written' } },
  }));
  const faults = checkAgentCode(composed.files, agents)
    // The gate's own scan names those.
    .filter(({ code }) => code !== 'include-not-allowed')
    .map(({ file = null, line = null, message, code }) => ({
      ...{ gate: 'static' as const, contract: agents.get(file ?? '')?.contract ?? null },
      ...{ file, line, message, evidence: { code } },
    }));
  return [...strange, ...unwritten, ...faults];
}

const noGpuHere = `no GPU here: kernels are compiled for every arch (minutes) and checked in ${emulationWords}; the verdict is "${notRunWords}" at best`;

/**
 * Runs every gate but bench and physics on an engine folder.
 * @throws AppError ENGINE_INVALID where the folder was changed meanwhile
 */
export async function verifyFolder(
  prepared: PreparedEngine,
  folder: string,
  options: JudgeOptions & { readonly runSeed: number },
): Promise<Report> {
  return withEngineCopy(folder, join(options.cacheFolder, 'copies'), (copy) =>
    verifyCopy(prepared, { folder, copy }, options),
  );
}

async function verifyCopy(
  prepared: PreparedEngine,
  { folder, copy }: { readonly folder: string; readonly copy: string },
  options: JudgeOptions & { readonly runSeed: number },
): Promise<Report> {
  const startedAt = new Date();
  const toolchain = await openToolchain(prepared, folder, options);
  // The folder, above, for the message; the copy, because it is what will run.
  await requireTrustedCode(prepared, copy, toolchain.sandbox);
  if (toolchain.cuda?.mode === 'compile-only') options.onNote(noGpuHere);
  const checkpointFolder = await provideWeights(prepared.request, {
    ...options,
    onProgress: options.onDetail,
  });
  const verification = await verifyEngine({
    engine: engineUnderTest(prepared, copy),
    checkpointFolder,
    toolchain,
    runSeed: options.runSeed,
    checkProvenance: (checked) => provenanceFindings(prepared, checked),
    renderConfigHeader,
    onProgress: ({ gate, status, seconds }) => {
      if (status === 'started') options.onDetail(gate);
      else options.onNote(`${gate.padEnd(12)} ${status} (${seconds.toFixed(1)} s)`);
    },
  });
  options.signal.throwIfAborted();
  return makeReport({
    engineFolder: copy,
    constraints: prepared.request.constraints,
    constraintsSha256: prepared.request.sha256,
    checkpointFolder,
    weightsSource: weightsSource(prepared),
    runSeed: options.runSeed,
    toolchain,
    verification,
    startedAt,
    repeat: `npx metainfer verify ${relative(process.cwd(), folder) || '.'} --seed ${options.runSeed}`,
  });
}

/** A machine without the engine's device measures nothing: that meets no goal, and misses none. */
function withoutMeasurement(report: Report, { goals }: Constraints): Report {
  return addBenchmark(report, {
    gates: [notRun('bench'), notRun('physics')],
    goals: evaluateGoals(goals.require, null, notRunWords),
    benchmark: null,
  });
}

/**
 * Adds bench and physics to the report of a verified engine.
 * @throws AppError ENGINE_INVALID where the folder is not the verified one, or was changed meanwhile
 */
export async function measureEngine(
  prepared: PreparedEngine,
  folder: string,
  report: Report,
  options: JudgeOptions & { readonly baseline: boolean },
): Promise<Report> {
  if (report.engine.treeSha256 !== hashEngineTree(folder)) {
    throw new AppError(
      'ENGINE_INVALID',
      `The engine in ${folder} was changed since it was verified: run \`metainfer verify\` again.`,
    );
  }
  const earlier = report.gates.filter(({ gate }) => gate !== 'bench' && gate !== 'physics');
  const red = earlier.find(({ status }) => status === 'failed');
  if (red !== undefined) {
    throw new AppError(
      'ENGINE_INVALID',
      `The engine in ${folder} failed verification (${red.gate}): its speed means nothing.`,
    );
  }
  const { constraints, model } = prepared.request;
  const toolchain = await openToolchain(prepared, folder, options);
  const place = codePlace({ onDevice: constraints.hardware.platform === 'cuda' }, toolchain);
  if (place !== 'host' && place !== 'device') return withoutMeasurement(report, constraints);
  const binary = await buildBinary(folder, toolchain);
  const checkpointFolder = await provideWeights(prepared.request, {
    ...options,
    onProgress: options.onDetail,
  });
  const started = performance.now();
  const benchmark = await benchmarkEngine({
    binary,
    checkpointFolder,
    facts: model.facts,
    constraints,
    flags: toolchain.flags,
    ...(toolchain.cuda === undefined ? {} : { cuda: toolchain.cuda }),
    sandbox: toolchain.sandbox,
    cacheFolder: join(options.cacheFolder, 'programs'),
    scratchFolder: options.cacheFolder,
    withBaseline: options.baseline,
    signal: options.signal,
    onProgress: options.onDetail,
  });
  const seconds = (performance.now() - started) / 1000;
  await requireSameTree(folder, report.engine.treeSha256, 'measured');
  const outcomes = benchmarkGates(benchmark);
  return addBenchmark(report, {
    gates: [
      { gate: 'bench', ...outcomes.bench, seconds },
      { gate: 'physics', ...outcomes.physics, seconds: 0 },
    ],
    goals: evaluateGoals(constraints.goals.require, benchmark),
    benchmark,
  });
}
