import { rmSync } from 'node:fs';
import { AppError } from '../model/errors.ts';
import type { Finding, GateResult, ReportDevice } from '../model/report.ts';
import { defaultEffort } from './effort.ts';
import { buildEmulated } from './emulated-build.ts';
import type { Effort, EngineUnderTest, GateContext, OracleRun, RenderConfigHeader } from './gate-context.ts';
import { binaryFor, codePlace, type GatePlace } from './gate-place.ts';
import { weightFileBytes } from './gates/broken-checkpoints.ts';
import { openEngine } from './open-engine.ts';
import { type Oracle, openOracle } from './oracle.ts';
import { writePerturbedCopy } from './perturbed-copy.ts';
import { readDevice } from './report-device.ts';
import { type RunGatesOptions, runGates } from './run-gates.ts';
import { defaultLimits, describeProtection, type Limits, type Protection } from './sandbox.ts';
import { makeScratch } from './scratch-folder.ts';
import type { Toolchain } from './toolchain.ts';

export interface VerifyOptions extends RunGatesOptions {
  readonly engine: EngineUnderTest;
  readonly checkpointFolder: string;
  readonly toolchain: Toolchain;
  /** Prompts, ids and seeds are drawn from it. */
  readonly runSeed: number;
  readonly checkProvenance: (folder: string) => Promise<readonly Finding[]>;
  readonly renderConfigHeader: RenderConfigHeader;
  readonly effort?: Partial<Effort>;
  /** For one request to the engine; default ten minutes. */
  readonly timeoutMs?: number;
  /** The oracle's answers, where the caller keeps them over several engines of one checkpoint. */
  readonly oracle?: (ids: readonly number[]) => Promise<OracleRun>;
}

export interface Verification {
  readonly gates: readonly GateResult[];
  readonly protection: Protection;
  /** The GPU that an engine for CUDA ran on; null where there was none. */
  readonly device: ReportDevice | null;
  readonly seconds: number;
}

/** Answers once per sequence; trace and logits ask for the same one. */
function memoise(
  run: (ids: readonly number[]) => Promise<OracleRun>,
): (ids: readonly number[]) => Promise<OracleRun> {
  const answers = new Map<string, Promise<OracleRun>>();
  return (ids) => {
    const key = ids.join();
    const answer = answers.get(key) ?? run(ids);
    answers.set(key, answer);
    return answer;
  };
}

/** Opened on first use: most failing engines never get as far as the oracle. */
function lazyOracle(options: VerifyOptions): {
  run: (ids: readonly number[]) => Promise<OracleRun>;
  close: () => Promise<void>;
} {
  let oracle: Oracle | undefined;
  const { facts, weightFormat } = options.engine;
  return {
    run: memoise((ids) => {
      oracle ??= openOracle(options.checkpointFolder, { facts, weightFormat, threads: 2 });
      return oracle.run(ids);
    }),
    close: async () => oracle?.close(),
  };
}

/** What runs beside the engine's own work: the stacks of emulated threads, or the process side of the CUDA runtime. */
const placeBytes: Readonly<Record<GatePlace, number>> = {
  ...{ host: 0, nowhere: 0, emulation: 2 ** 30, device: 2 ** 32 },
};

/** What one engine process may use: the memory of the constraint file, and the mapped weights while they are read. */
function engineLimits({ engine, checkpointFolder, toolchain }: VerifyOptions, build: Build): Limits {
  const { hardware } = engine.constraints;
  const place = codePlace(engine, toolchain);
  const memory = hardware.memory + weightFileBytes(checkpointFolder) + placeBytes[place];
  return {
    ...defaultLimits,
    wallSeconds: 3600,
    cpuSeconds: 3600 * hardware.threads,
    memoryBytes: build === 'plain' ? memory : 4 * memory + 2 ** 30,
    processes: hardware.threads + (place === 'device' ? 64 : 16),
    fileBytes: 2 ** 20,
  };
}

/** Emulated code is slow, not stuck. */
function timeoutOf({ timeoutMs, engine, toolchain }: VerifyOptions): number {
  return timeoutMs ?? (codePlace(engine, toolchain) === 'emulation' ? 1_800_000 : 600_000);
}

type Build = 'plain' | 'sanitized';

/** Starts engine processes; the program for emulation is built where the build gate made none. */
function starter(options: VerifyOptions, binaries: GateContext['binaries']): GateContext['openEngine'] {
  const { toolchain, checkpointFolder, engine } = options;
  const isEmulated = codePlace(engine, toolchain) === 'emulation';
  return async ({ build = 'plain', folder = checkpointFolder } = {}) => {
    if (build === 'plain' && isEmulated) binaries.emulated ??= await buildEmulated(options);
    const binary = build === 'plain' ? binaryFor({ engine, toolchain, binaries }) : binaries.sanitized;
    if (binary === undefined) throw new AppError('INTERNAL', `There is no ${build} build to start.`);
    return openEngine({
      binary,
      folder,
      sandbox: toolchain.sandbox,
      limits: engineLimits(options, build),
      devices: toolchain.cuda?.deviceFiles,
      timeoutMs: timeoutOf(options),
      signal: toolchain.signal,
    });
  };
}

function makeContext(
  options: VerifyOptions,
  scratchFolder: string,
  oracle: GateContext['oracle'],
): GateContext {
  const { toolchain, checkpointFolder } = options;
  const binaries: GateContext['binaries'] = {};
  return {
    engine: options.engine,
    checkpointFolder,
    runSeed: options.runSeed,
    scratchFolder,
    toolchain,
    binaries,
    checkProvenance: options.checkProvenance,
    renderConfigHeader: options.renderConfigHeader,
    oracle,
    effort: { ...defaultEffort(options.engine, toolchain), ...options.effort },
    perturb: (tensor, ids, folder) => writePerturbedCopy(checkpointFolder, tensor, ids, folder),
    openEngine: starter(options, binaries),
  };
}

/**
 * Runs the gates on an engine folder. The scratch folder lies in the cache and is removed; nothing of the engine
 * folder is changed.
 */
export async function verifyEngine(options: VerifyOptions): Promise<Verification> {
  const started = performance.now();
  const { cacheFolder, sandbox } = options.toolchain;
  const scratchFolder = makeScratch(cacheFolder, 'verify');
  const oracle = lazyOracle(options);
  try {
    const context = makeContext(options, scratchFolder, options.oracle ?? oracle.run);
    const gates = await runGates(context, options);
    const protection = describeProtection(sandbox, engineLimits(options, 'plain'));
    const device = await readDevice(options.toolchain);
    return { gates, protection, device, seconds: (performance.now() - started) / 1000 };
  } finally {
    await oracle.close();
    rmSync(scratchFolder, { recursive: true, force: true });
  }
}
