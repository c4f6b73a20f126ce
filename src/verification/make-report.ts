import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import type { Constraints } from '../model/constraints.ts';
import { judgeFidelity } from '../model/judge-goals.ts';
import { type GateResult, type GoalVerdict, type Report, timedGates } from '../model/report.ts';
import { decideOutcome } from '../model/verdict.ts';
import { baseFlags } from './compile-recipe.ts';
import { countEngineLines, hashEngineTree, hashWeights } from './engine-tree.ts';
import { describeCuda } from './report-device.ts';
import type { Toolchain } from './toolchain.ts';
import type { Verification } from './verify-engine.ts';

export interface ReportInput {
  readonly engineFolder: string;
  readonly constraints: Constraints;
  readonly constraintsSha256: string;
  readonly checkpointFolder: string;
  /** For a person: a model id, a path, or the seed of synthetic weights. */
  readonly weightsSource: string;
  readonly runSeed: number;
  readonly toolchain: Toolchain;
  readonly verification: Verification;
  readonly startedAt: Date;
  /** The command that repeats this report. */
  readonly repeat: string;
}

/** Instruction sets that matter to generated code, of the machine that ran it. */
export function listCpuFlags(): string[] {
  const flags = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? '';
  return flags
    .split(' ')
    .filter((flag) => /^(?:sse4|avx|fma|f16c|bmi|amx|asimd|sve)/.test(flag))
    .sort();
}

/** The report of a verification, before any benchmark. */
export function makeReport(input: ReportInput): Report {
  const { toolchain, verification } = input;
  const goals = judgeFidelity(input.constraints.goals.fidelity, verification.gates);
  const weights = hashWeights(input.checkpointFolder);
  return {
    schema: 'metainfer/report/v1',
    engine: {
      name: input.constraints.name,
      treeSha256: hashEngineTree(input.engineFolder),
      lineCount: countEngineLines(input.engineFolder),
    },
    verdict: decideOutcome(verification.gates, goals),
    goals,
    gates: [...verification.gates],
    inputs: {
      constraintsSha256: input.constraintsSha256,
      weights: { source: input.weightsSource, ...weights },
      runSeed: input.runSeed,
    },
    environment: {
      compiler: toolchain.version,
      compilerFlags: [...baseFlags, ...toolchain.flags],
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cpuFlags: listCpuFlags(),
      cores: Math.max(1, cpus().length),
      memoryBytes: totalmem(),
      ...describeCuda(toolchain, verification.device),
      kernel: release(),
      node: process.version,
      protection: { ...verification.protection, limits: [...verification.protection.limits] },
    },
    benchmark: null,
    repeat: input.repeat,
    startedAt: input.startedAt.toISOString(),
    seconds: verification.seconds,
  };
}

/** The same report with what bench and physics found, and the goals that need a clock. */
export function addBenchmark(
  report: Report,
  addition: {
    readonly gates: readonly GateResult[];
    readonly goals: readonly GoalVerdict[];
    readonly benchmark: unknown;
  },
): Report {
  const gates = [...report.gates.filter(({ gate }) => !timedGates.has(gate)), ...addition.gates];
  const fidelity = report.goals.filter((goal) => goal.metric.startsWith('fidelity.'));
  const goals = [...fidelity, ...addition.goals];
  return { ...report, gates, goals, benchmark: addition.benchmark, verdict: decideOutcome(gates, goals) };
}
