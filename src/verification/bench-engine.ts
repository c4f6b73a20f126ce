import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Benchmark, MachineRates } from '../model/benchmark.ts';
import type { Constraints } from '../model/constraints.ts';
import { AppError } from '../model/errors.ts';
import type { ModelFacts } from '../model/model-facts.ts';
import { buildBandwidthProgram, measureRates } from './bandwidth.ts';
import { type BenchmarkOptions, type Contender, runBenchmark } from './bench.ts';
import type { GpuWatch } from './bench-rounds.ts';
import { buildCeilingsProgram, measureDeviceRates, startCacheClearer } from './cuda-ceilings.ts';
import { writeGguf } from './gguf.ts';
import { ggufObstacle } from './gguf-metadata.ts';
import { readGpuCondition } from './gpu-conditions.ts';
import { buildLlamaCppDriver, findLlamaCpp, startLlamaCpp } from './llama-cpp.ts';
import { checkpointPaths } from './open-engine.ts';
import { startEngine } from './protocol-client.ts';
import { openCheckpoint } from './safetensors.ts';
import type { Limits, Sandbox } from './sandbox.ts';
import type { CudaToolchain } from './toolchain.ts';

export interface EngineBenchmarkRequest {
  /** The compiled engine. */
  readonly binary: string;
  readonly checkpointFolder: string;
  readonly facts: ModelFacts;
  readonly constraints: Constraints;
  /** Instruction-set flags that the engine was compiled with. */
  readonly flags: readonly string[];
  /** Of an engine that runs on a GPU. */
  readonly cuda?: CudaToolchain;
  readonly sandbox: Sandbox;
  /** Compiled programs of the harness are kept here. */
  readonly cacheFolder: string;
  /** Holds the GGUF file (as large as the weights) while the benchmark runs. */
  readonly scratchFolder?: string;
  readonly withBaseline: boolean;
  readonly budgetSeconds?: number;
  readonly onProgress?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** One compiled engine as the benchmark starts it. */
export interface MeasuredEngine {
  readonly binary: string;
  readonly checkpointFolder: string;
  readonly constraints: Constraints;
  readonly sandbox: Sandbox;
  /** Of an engine that runs on a GPU. */
  readonly cuda?: CudaToolchain;
  /** The folder it may write to; none without. */
  readonly scratch?: string;
  readonly signal?: AbortSignal;
}

/** What the process side of the CUDA runtime takes of the host's memory, pinned pieces included. */
const deviceProcessBytes = 2 ** 32;

/** Generous: an engine that computes in vain is ended by its request's own time-out. */
function limitsFor(constraints: Constraints, onDevice = false): Partial<Limits> {
  const hours = 3600;
  // The watch over the limits wakes twice a second, so that it doesn't disturb what is timed.
  return {
    wallSeconds: 4 * hours,
    cpuSeconds: 16 * hours,
    memoryBytes: constraints.hardware.memory + (onDevice ? deviceProcessBytes : 0),
    ...(onDevice ? { processes: constraints.hardware.threads + 64 } : {}),
    pollMs: 500,
  };
}

export function engineContender(request: MeasuredEngine, name = request.constraints.name): Contender {
  return {
    name,
    start: async () => {
      const client = startEngine({
        command: [request.binary, '--harness'],
        sandbox: request.sandbox,
        readOnlyPaths: [request.binary, ...checkpointPaths(request.checkpointFolder)],
        limits: limitsFor(request.constraints, request.cuda !== undefined),
        devices: request.cuda?.deviceFiles ?? [],
        ...(request.scratch === undefined ? {} : { scratch: request.scratch }),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
      await client.load(request.checkpointFolder, 1_800_000);
      return client;
    },
  };
}

/** llama.cpp keeps keys and values as f16 unless told otherwise; that is the stronger opponent. */
async function startBaseline(request: EngineBenchmarkRequest, ggufPath: string) {
  const { constraints, facts } = request;
  const { workload, numerics, hardware } = constraints;
  const program = await buildLlamaCppDriver(request.cacheFolder, findLlamaCpp());
  request.onProgress?.('writing the same weights as GGUF for llama.cpp');
  const checkpoint = openCheckpoint(request.checkpointFolder);
  const context = contextOf(constraints);
  try {
    const format = numerics.weights === 'f32' ? 'f32' : 'bf16';
    writeGguf({ facts, checkpoint, format, path: ggufPath, context });
  } finally {
    checkpoint.close();
  }
  return startLlamaCpp({
    ...{ program, ggufPath, context, threads: hardware.threads, slots: workload.concurrency },
    ...{ kvType: 'f16', flashAttention: 'auto', sandbox: request.sandbox },
    limits: { ...limitsFor(constraints), memoryBytes: 2 * hardware.memory },
    timeoutMs: 1_800_000,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
}

function contextOf(constraints: Constraints): number {
  const { prompt_tokens, output_tokens } = constraints.workload;
  // The decode test starts with one token of its own.
  return Math.max(prompt_tokens, 1) + output_tokens + 1;
}

function chooseBaseline(request: EngineBenchmarkRequest, ggufPath: string): BenchmarkOptions['baseline'] {
  if (!request.withBaseline) return null;
  const name = 'llama.cpp';
  if (request.cuda !== undefined)
    return { name, absentBecause: 'it is built for the host only, and this engine runs on a GPU' };
  const obstacle = ggufObstacle(request.facts, contextOf(request.constraints));
  if (obstacle !== undefined) return { name, absentBecause: obstacle };
  return { name, start: () => startBaseline(request, ggufPath) };
}

/** What the harness measures the machine with: the processor's memory, or the GPU where the engine runs on one. */
interface Meter {
  readonly measureRates: (workingSetBytes: number) => Promise<MachineRates>;
  readonly gpu?: GpuWatch;
  close(): void;
}

async function openMeter({ cuda, cacheFolder, flags, constraints }: EngineBenchmarkRequest): Promise<Meter> {
  if (cuda === undefined) {
    const program = await buildBandwidthProgram(cacheFolder, flags);
    const { threads } = constraints.hardware;
    return {
      measureRates: (workingSetBytes) => measureRates(program, threads, workingSetBytes),
      close: () => {},
    };
  }
  const program = await buildCeilingsProgram(cacheFolder, cuda);
  const clearer = startCacheClearer(program);
  return {
    measureRates: (workingSetBytes) => measureDeviceRates(program, workingSetBytes),
    gpu: { clearCache: () => clearer.clear(), read: () => readGpuCondition(), conditions: [] },
    close: () => clearer.close(),
  };
}

/**
 * Measures a compiled engine on its checkpoint, beside llama.cpp on the same weights where it can run them.
 * Throws EngineFailure where the engine does not answer, NOT_COVERED where the workload does not fit its context.
 */
export async function benchmarkEngine(request: EngineBenchmarkRequest): Promise<Benchmark> {
  const { constraints, facts } = request;
  const needed = constraints.workload.prompt_tokens + constraints.workload.output_tokens;
  if (needed > constraints.serving.max_context) {
    const message = `the workload needs ${needed} positions, max_context is ${constraints.serving.max_context}`;
    throw new AppError('NOT_COVERED', message);
  }
  const ggufPath = join(request.scratchFolder ?? tmpdir(), `metainfer-${process.pid}-${Date.now()}.gguf`);
  const threads = constraints.hardware.threads;
  const meter = await openMeter(request);
  try {
    return await runBenchmark({
      engine: engineContender(request),
      baseline: chooseBaseline(request, ggufPath),
      ...{ facts, sizes: constraints, workload: constraints.workload, threads },
      measureRates: meter.measureRates,
      ...(meter.gpu === undefined ? {} : { gpu: meter.gpu }),
      budgetSeconds: request.budgetSeconds ?? 120,
      ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
    });
  } finally {
    meter.close();
    rmSync(ggufPath, { force: true });
  }
}
