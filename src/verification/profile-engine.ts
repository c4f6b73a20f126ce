import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../model/errors.ts';
import { engineContender } from './bench-engine.ts';
import { compileAll, explainRun, inScratch, runTool, type Toolchain } from './build.ts';
import { contractOfFile, type EngineUnderTest } from './gate-context.ts';
import { listSources } from './gates/build.ts';
import { measureTree } from './process-tree.ts';
import { type CodeRange, readLinkMap, readSamples, secondsByObject } from './profile-samples.ts';
import type { EngineClient } from './protocol-client.ts';
import { Random } from './random.ts';
import { readUntrusted } from './read-untrusted.ts';

/** Where the CPU time of one kind of work goes. */
export interface PhaseProfile {
  readonly tokensPerSecond: number;
  readonly cpuSeconds: number;
  /** Largest first. `contract` null: the system's libraries and whatever lies in no file of a contract. */
  readonly parts: readonly {
    readonly contract: string | null;
    readonly seconds: number;
    /** Of the CPU time, 0 to 1. */
    readonly share: number;
  }[];
}

export interface EngineProfile {
  readonly decode: PhaseProfile;
  readonly prefill: PhaseProfile;
}

export interface ProfileOptions {
  readonly engine: EngineUnderTest;
  readonly toolchain: Toolchain;
  readonly checkpointFolder: string;
  readonly runSeed: number;
  /** Of wall time per phase; a hundred samples a second and thread. */
  readonly seconds?: number;
  readonly signal?: AbortSignal;
}

const maxGmonBytes = 2 ** 26;
const maxMapBytes = 2 ** 26;

interface ProfiledProgram {
  readonly binary: string;
  readonly ranges: readonly CodeRange[];
  /** Object, as the linker was given it → source. */
  readonly sources: ReadonlyMap<string, string>;
}

/**
 * Samples the engine's program counter (glibc's profil, which a program linked with -pg starts) while it decodes and
 * while it reads prompts. The objects are those of the engine itself: nothing is compiled anew or slowed down by
 * counting calls. What loading costs is measured alone and taken off.
 */
export async function profileEngine(options: ProfileOptions): Promise<EngineProfile> {
  const { cacheFolder } = options.toolchain;
  mkdirSync(cacheFolder, { recursive: true });
  const folder = mkdtempSync(join(cacheFolder, 'profile-'));
  try {
    const program = await linkProfiled(options, folder);
    const loading = await sample(options, program, join(folder, 'load'), async () => 0);
    const decode = await sample(options, program, join(folder, 'decode'), (client) =>
      runDecode(options, client),
    );
    const prefill = await sample(options, program, join(folder, 'prefill'), (client) =>
      runPrefill(options, client),
    );
    return { decode: toPhase(decode, loading), prefill: toPhase(prefill, loading) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function linkProfiled({ engine, toolchain }: ProfileOptions, folder: string): Promise<ProfiledProgram> {
  const request = { folder: engine.folder, sources: listSources(engine.folder), sanitize: false };
  return inScratch(toolchain, async (scratch) => {
    const objects = await compileAll(toolchain, request, scratch);
    const faults = objects.flatMap(({ diagnostics }) => diagnostics);
    const [output, map] = [join(scratch, 'profiled'), join(scratch, 'profiled.map')];
    const paths = objects.map(({ path }) => path);
    const link = [
      toolchain.compiler,
      '-pthread',
      '-pg',
      '-no-pie',
      ...paths,
      '-o',
      output,
      `-Wl,-Map=${map}`,
    ];
    const end = faults.length > 0 ? undefined : await runTool(toolchain, engine.folder, scratch, link);
    if (end === undefined || end.exitCode !== 0) {
      const [first] =
        end === undefined ? faults : explainRun(toolchain, engine.folder, scratch, { end, what: 'link' });
      throw new AppError('ENGINE_INVALID', `The engine cannot be linked for profiling: ${first?.message}`);
    }
    const binary = join(folder, 'profiled');
    cpSync(output, binary);
    const text = readUntrusted(map, maxMapBytes).toString('latin1');
    const sources = new Map(paths.map((path, index) => [path, request.sources[index]!]));
    return { binary, ranges: readLinkMap(text), sources };
  });
}

interface Sampled {
  readonly byContract: ReadonlyMap<string | null, number>;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly tokens: number;
}

/** One process: loads, does the work, quits; its samples by contract. */
async function sample(
  options: ProfileOptions,
  program: ProfiledProgram,
  scratch: string,
  work: (client: EngineClient) => Promise<number>,
): Promise<Sampled> {
  const { engine, toolchain, checkpointFolder, signal } = options;
  mkdirSync(scratch, { recursive: true });
  const contender = engineContender({
    ...{ binary: program.binary, checkpointFolder, scratch },
    ...{ constraints: engine.constraints, sandbox: toolchain.sandbox },
    ...(signal === undefined ? {} : { signal }),
  });
  const client = await contender.start();
  const { pid } = client.channel;
  const begin = { cpu: measureTree(pid).cpuSeconds, wall: performance.now() };
  let tokens = 0;
  let spent = { cpu: 0, wall: 0 };
  try {
    tokens = await work(client);
    spent = { cpu: measureTree(pid).cpuSeconds - begin.cpu, wall: (performance.now() - begin.wall) / 1000 };
  } finally {
    await client.quit();
  }
  const samples = readSamples(readUntrusted(join(scratch, 'gmon.out'), maxGmonBytes));
  const byContract = new Map<string | null, number>();
  for (const [object, seconds] of secondsByObject(samples, program.ranges)) {
    const contract = contractOfFile(engine, program.sources.get(object) ?? null);
    byContract.set(contract, (byContract.get(contract) ?? 0) + seconds);
  }
  return { byContract, cpuSeconds: spent.cpu, wallSeconds: spent.wall, tokens };
}

function toPhase(sampled: Sampled, loading: Sampled): PhaseProfile {
  const own = [...sampled.byContract]
    .filter(([contract]) => contract !== null)
    .map(([contract, seconds]) => ({
      contract,
      seconds: Math.max(0, seconds - (loading.byContract.get(contract) ?? 0)),
    }))
    .filter(({ seconds }) => seconds > 0);
  const known = own.reduce((sum, { seconds }) => sum + seconds, 0);
  const total = Math.max(sampled.cpuSeconds, known);
  const rest = { contract: null, seconds: total - known };
  const parts = [...own, ...(rest.seconds > 0 ? [rest] : [])]
    .map((part) => ({ ...part, share: total === 0 ? 0 : part.seconds / total }))
    .sort((a, b) => b.seconds - a.seconds);
  return { tokensPerSecond: sampled.tokens / sampled.wallSeconds, cpuSeconds: total, parts };
}

const requestTimeoutMs = 1_800_000;

async function repeat(seconds: number, once: () => Promise<number>): Promise<number> {
  const end = performance.now() + 1000 * seconds;
  let tokens = 0;
  do tokens += await once();
  while (performance.now() < end);
  return tokens;
}

function runDecode({ engine, runSeed, seconds = 5 }: ProfileOptions, client: EngineClient): Promise<number> {
  const random = new Random(runSeed, 'profile/decode');
  const { output_tokens: steps } = engine.constraints.workload;
  return repeat(seconds, async () => {
    const [first] = random.ids(1, engine.facts.vocabSize);
    const { argmax } = await client.prefill(0, [first!], requestTimeoutMs);
    await client.decode(0, argmax, steps, requestTimeoutMs);
    return steps;
  });
}

function runPrefill({ engine, runSeed, seconds = 5 }: ProfileOptions, client: EngineClient): Promise<number> {
  const random = new Random(runSeed, 'profile/prefill');
  const { prompt_tokens: count } = engine.constraints.workload;
  return repeat(seconds, async () => {
    await client.prefill(0, random.ids(count, engine.facts.vocabSize), requestTimeoutMs);
    return count;
  });
}
