import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { countParameters } from '../model/parameter-count.ts';
import type { Finding, GateResult } from '../model/report.ts';
import type { Toolchain } from './build.ts';
import type { Effort, EngineUnderTest, GateContext, OracleRun, RenderConfigHeader } from './gate-context.ts';
import { weightFileBytes } from './gates/broken-checkpoints.ts';
import { openEngine } from './open-engine.ts';
import { type Oracle, openOracle } from './oracle.ts';
import { writePerturbedCopy } from './perturbed-copy.ts';
import { type RunGatesOptions, runGates } from './run-gates.ts';
import { defaultLimits, describeProtection, type Limits, type Protection } from './sandbox.ts';

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
  readonly seconds: number;
}

// Multiply-adds that the float64 oracle does in well under a minute on two cores.
const oracleBudget = 2e10;
const maxOracleTokens = 1024;
const minOracleTokens = 24;

/** Work that fits the model: hundreds of positions for small ones, tens for large ones. */
export function defaultEffort(engine: EngineUnderTest): Effort {
  const affordable = Math.floor(oracleBudget / countParameters(engine.facts).matmul);
  const oracleTokens = Math.max(minOracleTokens, Math.min(maxOracleTokens, affordable));
  return {
    oracleTokens: Math.min(oracleTokens, engine.constraints.serving.max_context),
    processes: 3,
    variants: true,
    sanitize: true,
  };
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

/** What one engine process may use: the memory of the constraint file, and the mapped weights while they are read. */
function engineLimits(options: VerifyOptions, build: 'plain' | 'sanitized'): Limits {
  const { hardware } = options.engine.constraints;
  const memory = hardware.memory + weightFileBytes(options.checkpointFolder);
  return {
    ...defaultLimits,
    wallSeconds: 3600,
    cpuSeconds: 3600 * hardware.threads,
    memoryBytes: build === 'plain' ? memory : 4 * memory + 2 ** 30,
    processes: hardware.threads + 16,
    fileBytes: 2 ** 20,
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
    effort: { ...defaultEffort(options.engine), ...options.effort },
    perturb: (tensor, ids, folder) => writePerturbedCopy(checkpointFolder, tensor, ids, folder),
    openEngine: ({ build = 'plain', folder = checkpointFolder } = {}) => {
      const binary = binaries[build];
      if (binary === undefined) throw new AppError('INTERNAL', `There is no ${build} build to start.`);
      const limits = engineLimits(options, build);
      return openEngine({
        binary,
        folder,
        sandbox: toolchain.sandbox,
        limits,
        timeoutMs: options.timeoutMs ?? 600_000,
        signal: toolchain.signal,
      });
    },
  };
}

/**
 * Runs the gates on an engine folder. The scratch folder lies in the cache and is removed; nothing of the engine
 * folder is changed.
 */
export async function verifyEngine(options: VerifyOptions): Promise<Verification> {
  const started = performance.now();
  const { cacheFolder, sandbox } = options.toolchain;
  mkdirSync(cacheFolder, { recursive: true });
  const scratchFolder = mkdtempSync(join(cacheFolder, 'verify-'));
  const oracle = lazyOracle(options);
  try {
    const context = makeContext(options, scratchFolder, options.oracle ?? oracle.run);
    const gates = await runGates(context, options);
    const protection = describeProtection(sandbox, engineLimits(options, 'plain'));
    return { gates, protection, seconds: (performance.now() - started) / 1000 };
  } finally {
    await oracle.close();
    rmSync(scratchFolder, { recursive: true, force: true });
  }
}
