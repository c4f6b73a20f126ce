import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding } from '../../model/report.ts';
import { escapeOutput } from '../engine-channel.ts';
import { makeFinding } from '../gate-context.ts';
import { withoutHostPaths } from '../host-paths.ts';
import type { Limits } from '../sandbox.ts';
import { type ProcessEnd, runSandboxed } from '../sandboxed-process.ts';
import type { CudaToolchain } from '../toolchain.ts';
import type { UnitContext, UnitJob } from './unit-jobs.ts';

/** memcheck: addresses that belong to nobody; racecheck: shared memory that threads use without waiting for each other. */
export const memoryTools = ['memcheck', 'racecheck'] as const;

/** No program of ours ends with it. */
const faultExitCode = 99;

/** Where a toolkit keeps it: the program itself, and below it what it puts into the process that it watches. */
const places = ['compute-sanitizer/compute-sanitizer', 'bin/compute-sanitizer'];

/** NVIDIA's memory checker; undefined where the toolkit came without. */
export function findMemoryChecker({ folder }: Pick<CudaToolchain, 'folder'>): string | undefined {
  return places.map((place) => join(folder, place)).find((path) => existsSync(path));
}

/** A program of a contract and its cases, as it was run without the checker. */
export interface CheckedProgram {
  readonly binary: string;
  readonly casesFile: string;
  readonly scratch: string;
  readonly limits: Partial<Limits>;
}

export interface MemoryOutcome {
  readonly findings: readonly Finding[];
  /** Why a tool said nothing: the program had run without it, so that the fault is the tool's or the machine's. */
  readonly obstacle?: string;
}

/** Runs the same cases once more under each tool; what they give was compared before. */
export async function checkMemory(
  context: Pick<UnitContext, 'toolchain'>,
  job: Pick<UnitJob, 'contract' | 'model'>,
  program: CheckedProgram,
): Promise<MemoryOutcome> {
  const { cuda } = context.toolchain;
  const checker = cuda === undefined ? undefined : findMemoryChecker(cuda);
  if (cuda === undefined || checker === undefined) return { findings: [] };
  const findings: Finding[] = [];
  for (const tool of memoryTools) {
    const end = await runChecker(context, cuda, program, { checker, tool });
    const { contract, model } = job;
    const told = toldBy(end, [dirname(program.binary), program.scratch, model.folder, cuda.folder]);
    const isFault = end.reason === 'exit' && end.exitCode === faultExitCode;
    if (isFault) {
      const message = `${contract.id} (${model.name}): compute-sanitizer ${tool}: ${told}`;
      findings.push(makeFinding('unit', contract.id, message, { tool, wanted: 'no fault', got: told }));
    } else if (end.reason !== 'exit' || end.exitCode !== 0) {
      const how = end.reason === 'exit' ? `exit code ${end.exitCode ?? end.signal}` : end.reason;
      return { findings, obstacle: `compute-sanitizer ${tool} did not work: ${how} ${told}`.slice(0, 300) };
    }
  }
  return { findings };
}

async function runChecker(
  { toolchain: { sandbox, signal } }: Pick<UnitContext, 'toolchain'>,
  cuda: CudaToolchain,
  { binary, casesFile, scratch, limits }: CheckedProgram,
  { checker, tool }: { readonly checker: string; readonly tool: string },
): Promise<ProcessEnd> {
  const end = await runSandboxed({
    ...{ sandbox, scratch, devices: cuda.deviceFiles, readOnlyPaths: [binary, cuda.folder] },
    command: [
      ...[checker, '--tool', tool, '--error-exitcode', String(faultExitCode), '--print-limit', '3'],
      ...[binary, casesFile, join(scratch, `results-${tool}`)],
    ],
    // The checker's own processes watch the program's.
    limits: { ...limits, processes: 128 },
    ...(signal === undefined ? {} : { signal }),
  });
  signal?.throwIfAborted();
  return end;
}

/** What the tool marks as its own words. */
function toldBy({ stdout, stderr }: ProcessEnd, places: readonly string[]): string {
  const text = `${stdout.toString('utf8')}\n${stderr.toString('utf8')}`;
  const lines = text.split('\n').filter((line) => /^=========\s+\S/.test(line));
  const words = lines.slice(0, 12).map((line) => line.replace(/^=+\s+/, ''));
  return escapeOutput(withoutHostPaths(words.join('; '), places), 900);
}
