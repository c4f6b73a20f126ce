import type { Platform } from '../model/catalog.ts';
import type { Constraints } from '../model/constraints.ts';
import { type MetricName, metricNames } from '../model/metrics.ts';
import type { Problem } from '../model/problem.ts';
import { type Goal, readGoal } from './goal.ts';
import { readSize } from './memory-size.ts';
import type { PartialConstraints, PartialWritten } from './partial-constraints.ts';
import { type Locate, showText } from './problem-list.ts';

/**
 * Fidelity where the file asks for none, by what rounding alone explains: exact arithmetic formats stay at the level
 * of float32 noise; quantised ones are starting points of research §4.3 (G6).
 */
const defaultFidelity: Readonly<
  Record<Constraints['numerics']['weights'], Constraints['goals']['fidelity']>
> = {
  f32: { mean_kld: 1e-6, top1_agreement: 0.99 },
  bf16: { mean_kld: 1e-6, top1_agreement: 0.99 },
  f16: { mean_kld: 1e-6, top1_agreement: 0.99 },
  q8_0: { mean_kld: 1e-3, top1_agreement: 0.98 },
  fp8: { mean_kld: 1e-2, top1_agreement: 0.97 },
  q4_0: { mean_kld: 5e-2, top1_agreement: 0.97 },
};

/** Half-precision activations round every hidden state, whatever the weights are. */
const halfActivations = { mean_kld: 1e-3, top1_agreement: 0.98 };

/** Threads of a GPU engine, which only load weights and sample with them. */
const gpuHostThreads = 4;

/** The written file in the units and with the defaults of `Constraints`; problems of sizes and goals go to `problems`. */
export function applyDefaults(
  written: PartialWritten,
  platforms: readonly Pick<Platform, 'id' | 'gpu'>[],
  locate: Locate,
  problems: Problem[],
): PartialConstraints {
  const { hardware, serving, workload, goals, generation } = written;
  const numerics = { kv_cache: 'f32', activations: 'f32', ...dropUndefined(written.numerics) } as const;
  return {
    apiVersion: written.apiVersion,
    name: written.name,
    model: written.model && (dropUndefined(written.model) as PartialConstraints['model']),
    weights: written.weights && (dropUndefined(written.weights) as PartialConstraints['weights']),
    hardware: {
      arch: defaultArch(hardware, platforms),
      devices: 1,
      ...(hardware?.platform === 'cuda' ? { threads: gpuHostThreads } : {}),
      ...dropUndefined(hardware),
      memory: readMemory(hardware?.memory, locate, problems),
    },
    numerics,
    parallelism: { tensor: written.parallelism?.tensor ?? 1 },
    serving: { interface: 'cli', max_batch: 1, kv: 'contiguous', ...dropUndefined(serving) },
    workload: { concurrency: 1, ...dropUndefined(workload) },
    goals: {
      optimize: goals?.optimize ?? 'latency',
      require: readGoals(goals?.require ?? {}, locate, problems),
      fidelity: { ...fidelityOf(numerics), ...dropUndefined(goals?.fidelity) },
    },
    generation: {
      mode: generation?.mode ?? 'knowledge-first',
      budget: dropUndefined(generation?.budget),
      ...(generation?.source_files === undefined ? {} : { source_files: generation.source_files }),
    },
  };
}

/** That of the named device, else the newest one that is covered. */
function defaultArch(
  hardware: PartialWritten['hardware'],
  platforms: readonly Pick<Platform, 'id' | 'gpu'>[],
): string {
  if (hardware?.platform === undefined || hardware.platform === 'cpu-x86_64') return 'avx2';
  if (hardware.platform !== 'cuda') return 'default';
  const gpu = platforms.find(({ id }) => id === hardware.platform)?.gpu;
  return gpu?.devices.find(({ id }) => id === hardware.device)?.arch ?? 'sm_90';
}

function fidelityOf(numerics: PartialConstraints['numerics']): Constraints['goals']['fidelity'] {
  if (numerics?.activations !== undefined && numerics.activations !== 'f32') return halfActivations;
  return defaultFidelity[numerics?.weights ?? 'f32'];
}

function dropUndefined<T extends object>(
  value: T | undefined,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, child]) => child !== undefined)) as never;
}

function readMemory(text: string | undefined, locate: Locate, problems: Problem[]): number | undefined {
  if (text === undefined) return undefined;
  const size = readSize(text);
  if ('bytes' in size) return size.bytes;
  const path = 'hardware.memory';
  problems.push({
    severity: 'error',
    code: 'wrong-form',
    ...locate(path),
    path,
    message: `found "${showText(text)}"; ${size.refused}.`,
  });
  return undefined;
}

function readGoals(
  require: Readonly<Partial<Record<MetricName, string | undefined>>>,
  locate: Locate,
  problems: Problem[],
): Goal[] {
  return metricNames.flatMap((name) => {
    const text = require[name];
    if (text === undefined) return [];
    const reading = readGoal(name, text);
    if ('goal' in reading) return [reading.goal];
    const path = `goals.require.${name}`;
    const suggestion = reading.suggestion === undefined ? {} : { suggestion: reading.suggestion };
    const message = `found "${showText(text)}"; ${reading.refused}.`;
    problems.push({ severity: 'error', code: 'goal-form', ...locate(path), path, message, ...suggestion });
    return [];
  });
}
