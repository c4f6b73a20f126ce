import type { Finding, Measurements } from '../../model/report.ts';
import type { GateOutcome } from '../gate-context.ts';
import { mapParallel } from '../parallel.ts';
import { planJobs, type UnitContext, type UnitJob } from './unit-jobs.ts';
import { findMemoryChecker, memoryTools } from './unit-memory.ts';
import { type JobOutcome, runJob } from './unit-run.ts';

/** Each contract's symbols alone, at small asymmetric shapes and at the engine's own, against reference.ts. */
export async function runUnitGate(context: UnitContext): Promise<GateOutcome> {
  return runUnitJobs(context, {});
}

export interface UnitChoice {
  /** The contract that is judged; default all that have a gate. */
  readonly only?: string;
  /** Leaves the other sets of constants out after the first red one: the next attempt meets them all again. */
  readonly stopAtFirstFailure?: boolean;
}

export async function runUnitJobs(context: UnitContext, choice: UnitChoice): Promise<GateOutcome> {
  const jobs = planJobs(context, choice.only);
  if (jobs.length === 0) {
    const who = choice.only ?? 'no contract of this engine';
    return { findings: [], notApplicable: `${who} has ${choice.only === undefined ? 'a' : 'no'} unit gate` };
  }
  const done = new Set<string>();
  const outcomes = await mapParallel(jobs, context.toolchain.jobs, async (job): Promise<JobOutcome> => {
    if (done.has(job.contract.id)) return { findings: [], cases: 0, tooLarge: 0, hitLimit: false };
    const outcome = await runJob(context, job);
    const isRed = outcome.findings.length > 0 && choice.stopAtFirstFailure === true;
    if (outcome.hitLimit || isRed) done.add(job.contract.id);
    return outcome;
  });
  const findings = eachOnce(outcomes.flatMap((outcome) => outcome.findings));
  const cases = outcomes.reduce((sum, outcome) => sum + outcome.cases, 0);
  const contracts = new Set(jobs.map(({ contract }) => contract.id)).size;
  const measurements = { contracts, binaries: jobs.length, cases };
  const emulated = jobs.filter(({ target }) => target === 'emulation').length;
  const tooLarge = outcomes.reduce((sum, outcome) => sum + outcome.tooLarge, 0);
  return {
    findings,
    measurements: {
      ...measurements,
      ...(emulated === 0 ? {} : { emulated, cases_too_large: tooLarge }),
      ...memoryMeasurement(context, jobs, outcomes),
    },
  };
}

/** Which checkers saw the programs on a GPU, or that none is installed. */
function memoryMeasurement(
  { toolchain: { cuda } }: UnitContext,
  jobs: readonly UnitJob[],
  outcomes: readonly JobOutcome[],
): Measurements {
  const checked = jobs.filter(({ isMemoryChecked }) => isMemoryChecked).length;
  if (checked === 0 || cuda === undefined) return {};
  if (findMemoryChecker(cuda) === undefined) return { memory_checks: 'compute-sanitizer is not installed' };
  const obstacle = outcomes.find(({ memoryObstacle }) => memoryObstacle !== undefined)?.memoryObstacle;
  return { memory_checks: obstacle ?? memoryTools.join(', '), memory_checked: checked };
}

/** What does not compile fails in the program of every contract that needs it; one finding for its owner is enough. */
function eachOnce(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const [index, finding] of findings.entries()) {
    const { contract, file, line, evidence } = finding;
    const isOfCompiler = evidence.case === undefined && evidence.got !== undefined;
    const key = isOfCompiler ? [contract, file, line, evidence.got].join('\n') : String(index);
    if (!seen.has(key)) seen.set(key, finding);
  }
  return [...seen.values()];
}
