import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { ContractTask } from '../../generation/agents/contract-task.ts';
import { type ContractProfile, proposeRealization } from '../../generation/agents/propose-realization.ts';
import { writeEngine } from '../../generation/write-engine.ts';
import type { AgentFile, OptimizationAttempt } from '../../model/agent-work.ts';
import { Benchmark } from '../../model/benchmark.ts';
import type { Catalog } from '../../model/catalog.ts';
import type { EngineSources } from '../../model/engine.ts';
import { AppError } from '../../model/errors.ts';
import type { LanguageModel } from '../../model/language-model.ts';
import type { Report } from '../../model/report.ts';
import { sourceNameOf } from '../../model/source-name.ts';
import { composePrepared, type PreparedEngine, prepareEngine } from '../../preparation/prepare-engine.ts';
import { compareEngines, type EngineComparison } from '../../verification/compare-engines.ts';
import { EngineFailure } from '../../verification/engine-channel.ts';
import { type EngineProfile, profileEngine } from '../../verification/profile-engine.ts';
import { engineUnderTest, type JudgeOptions, measureEngine, verifyFolder } from '../judge-engine.ts';
import { provideWeights } from '../local-weights.ts';
import { buildBinary, openToolchain } from '../toolchain.ts';
import { checkContract, requireSandbox } from './check-contract.ts';
import { type Candidate, chooseContract, limitOf } from './choose-contract.ts';

export interface OptimizeOptions extends JudgeOptions {
  readonly prepared: PreparedEngine;
  readonly catalog: Catalog;
  /** The engine as it is now: verified and measured. Nothing in it is changed. */
  readonly folder: string;
  readonly report: Report;
  readonly agentFiles: ReadonlyMap<string, AgentFile>;
  readonly earlier: readonly OptimizationAttempt[];
  /** What the model is told of a contract whose present text is `previous`. */
  readonly makeTask: (prepared: PreparedEngine, contract: string, previous: string) => Promise<ContractTask>;
  readonly model: LanguageModel;
  readonly runSeed: number;
  /** Whether the kept engine is measured beside llama.cpp. */
  readonly baseline: boolean;
  /** For the comparison of the two engines. */
  readonly budgetSeconds?: number;
}

export interface OptimizeOutcome {
  /** Null where nothing was proposed: nothing is worth a try. */
  readonly attempt: OptimizationAttempt | null;
  readonly kept: {
    readonly file: AgentFile;
    /** With the contract among those that agents write. */
    readonly prepared: PreparedEngine;
    readonly sources: EngineSources;
    readonly report: Report;
  } | null;
  /** Nothing further is worth trying. */
  readonly isLast: boolean;
}

interface Trial {
  readonly options: OptimizeOptions;
  readonly candidate: Candidate;
  readonly prepared: PreparedEngine;
  readonly file: AgentFile;
  readonly scratch: string;
  readonly checkpointFolder: string;
}

type Verdict = Pick<OptimizeOutcome, 'kept'> & Pick<OptimizationAttempt, 'reason' | 'ratio' | 'spread'>;

/**
 * Asks for a faster text of the contract that most of the time can be saved in, and keeps it only where every gate
 * stays green and the two engines, measured side by side, differ by more than the spread.
 * @throws AppError SANDBOX_UNAVAILABLE, ENGINE_INVALID for an engine that was not measured
 */
export async function optimizeOnce(options: OptimizeOptions): Promise<OptimizeOutcome> {
  const { prepared, folder, earlier } = options;
  const benchmark = Benchmark.safeParse(options.report.benchmark).data;
  if (benchmark === undefined)
    throw new AppError(
      'ENGINE_INVALID',
      `The engine in ${folder} was not measured: there is nothing to improve on.`,
    );
  const toolchain = await openToolchain(prepared, folder, options);
  requireSandbox(toolchain);
  const { cacheFolder, onDetail, signal } = options;
  const checkpointFolder = await provideWeights(prepared.request, { ...options, onProgress: onDetail });
  onDetail('profile');
  const engine = engineUnderTest(prepared, folder);
  const profile = await profileEngine({
    engine,
    toolchain,
    checkpointFolder,
    runSeed: options.runSeed,
    signal,
  });
  const { workload } = prepared.request.constraints;
  const candidate = chooseContract({ profile, benchmark, workload, writable: writableOf(prepared), earlier });
  if (candidate === undefined) return { attempt: null, kept: null, isLast: true };
  await mkdir(cacheFolder, { recursive: true });
  const scratch = await mkdtemp(join(cacheFolder, 'optimize-'));
  try {
    return await tryCandidate(options, candidate, describe(profile, candidate, benchmark, earlier), {
      scratch,
      checkpointFolder,
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function writableOf({ selection }: PreparedEngine): ReadonlySet<string> {
  const own = selection.contracts.filter(({ status }) => status === 'agent' || status === 'realization');
  return new Set(own.map(({ contract }) => contract.frontMatter.id));
}

async function tryCandidate(
  options: OptimizeOptions,
  candidate: Candidate,
  profile: ContractProfile,
  place: Pick<Trial, 'scratch' | 'checkpointFolder'>,
): Promise<OptimizeOutcome> {
  const { contract, metric } = candidate;
  const number = options.earlier.length + 1;
  const rewritten = new Set([...options.agentFiles.keys(), contract]);
  const agents = { hasModel: true, rewritten };
  const prepared = prepareEngine(options.prepared.request, options.catalog, { agents });
  const selected = prepared.selection.contracts.find((entry) => entry.contract.frontMatter.id === contract)!;
  const previous = await readFile(join(options.folder, sourceNameOf(selected)), 'utf8');
  options.onDetail(`${contract}: proposal ${number}`);
  const task = await options.makeTask(prepared, contract, previous);
  const { model, signal } = options;
  const proposal = await proposeRealization(task, profile, {
    ...{ model, signal, phase: 'optimization', attempt: number },
  });
  if (proposal.kind === 'none') {
    const attempt = drop(contract, number, metric, `no usable answer: ${proposal.reason}`);
    const isLast = proposal.reason === 'budget' || proposal.reason === 'context-overflow';
    return { attempt, kept: null, isLast };
  }
  const verdict = await judge({ options, candidate, prepared, file: proposal.file, ...place });
  const { kept, ...figures } = verdict;
  const outcome = kept === null ? 'dropped' : 'kept';
  return { attempt: { contract, number, outcome, metric, ...figures }, kept, isLast: false };
}

function drop(contract: string, number: number, metric: string, reason: string): OptimizationAttempt {
  return { contract, number, outcome: 'dropped', reason, ratio: null, spread: null, metric };
}

const dropped = (reason: string): Verdict => ({ kept: null, reason, ratio: null, spread: null });

/** Gates first, from what costs least; then the clock. */
async function judge(trial: Trial): Promise<Verdict> {
  const { options, prepared, file, scratch } = trial;
  const { contract } = file;
  const agentFiles = new Map([...options.agentFiles, [contract, file]]);
  const toolchain = await openToolchain(prepared, undefined, options);
  const { cacheFolder, signal, runSeed } = options;
  options.onDetail(`${contract}: gates`);
  const [fault] = await checkContract({
    ...{ prepared, agentFiles, contract, toolchain, cacheFolder, signal, runSeed },
  });
  if (fault !== undefined) return dropped(`gate ${fault.gate}`);
  const folder = join(scratch, 'engine');
  const sources = composePrepared(prepared, { agentFiles });
  await writeEngine(sources, folder);
  const report = await verifyFolder(prepared, folder, options);
  const red = report.gates.find(({ status }) => status === 'failed');
  if (red !== undefined) return dropped(`gate ${red.gate}`);
  const comparison = await compare(trial, folder);
  if (comparison === undefined) return dropped('gate bench');
  const { ratio, spread, isBetter } = weigh(comparison, trial.candidate);
  if (!isBetter) return { kept: null, reason: 'no improvement beyond the spread', ratio, spread };
  const measured = await measureEngine(prepared, folder, report, options);
  const slow = measured.gates.find(({ status }) => status === 'failed');
  if (slow !== undefined) return { ...dropped(`gate ${slow.gate}`), ratio, spread };
  const repeat = measured.repeat.replace(
    relative(process.cwd(), folder),
    relative(process.cwd(), options.folder) || '.',
  );
  return { kept: { file, prepared, sources, report: { ...measured, repeat } }, reason: null, ratio, spread };
}

/** Undefined where the new engine falls silent, or answers otherwise when it is timed. */
async function compare(trial: Trial, folder: string): Promise<EngineComparison | undefined> {
  const { options, prepared, checkpointFolder } = trial;
  const { constraints, model } = prepared.request;
  const toolchain = await openToolchain(prepared, undefined, options);
  const before = await buildBinary(options.folder, toolchain);
  const after = await buildBinary(folder, toolchain);
  try {
    const comparison = await compareEngines({
      ...{ binaries: { before, after }, checkpointFolder, facts: model.facts, constraints },
      ...{ sandbox: toolchain.sandbox, budgetSeconds: options.budgetSeconds ?? 60, signal: options.signal },
      onProgress: options.onDetail,
    });
    return comparison === undefined || comparison.integrity.length > 0 ? undefined : comparison;
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof EngineFailure) return undefined;
    throw error;
  }
}

/** Faster where it was meant to be, beyond the spread, and not slower elsewhere beyond the spread. */
function weigh({ decode, prefill }: EngineComparison, { metric }: Candidate) {
  const [meant, other] = metric === 'decode_tokens_per_second' ? [decode, prefill] : [prefill, decode];
  const { ratio, spread } = meant;
  const isFaster = spread !== null && ratio - spread > 1;
  const isSlowerElsewhere = other.spread !== null && other.ratio + other.spread < 1;
  return { ratio, spread, isBetter: isFaster && !isSlowerElsewhere };
}

function describe(
  profile: EngineProfile,
  { contract, metric }: Candidate,
  benchmark: Benchmark,
  earlier: readonly OptimizationAttempt[],
): ContractProfile {
  const shareIn = (what: 'decode' | 'prefill') =>
    profile[what].parts.find((part) => part.contract === contract)?.share ?? 0;
  const others = (what: 'decode' | 'prefill') =>
    profile[what].parts
      .slice(0, 6)
      .map((part) => `${part.contract ?? 'system libraries'} ${(100 * part.share).toFixed(1)} %`)
      .join(', ');
  return {
    decodeShare: shareIn('decode'),
    prefillShare: shareIn('prefill'),
    decodeTokensPerSecond: benchmark.engine.decode.avg_ts,
    decodeLimit: limitOf(benchmark, 'decode'),
    prefillTokensPerSecond: benchmark.engine.prefill.avg_ts,
    prefillLimit: limitOf(benchmark, 'prefill'),
    notes: [
      `CPU time of decoding: ${others('decode')}.`,
      `CPU time of prefill: ${others('prefill')}.`,
      `A proposal is kept where ${metric} rises beyond the spread of the measurement.`,
      ...earlier.filter((attempt) => attempt.contract === contract).map(describeAttempt),
    ],
  };
}

function describeAttempt({ number, outcome, reason, ratio, spread, metric }: OptimizationAttempt): string {
  const figures = ratio === null ? '' : `, ${metric} × ${ratio.toFixed(3)} ± ${(spread ?? 0).toFixed(3)}`;
  return `Proposal ${number} for this contract: ${outcome}${reason === null ? '' : ` (${reason})`}${figures}.`;
}
