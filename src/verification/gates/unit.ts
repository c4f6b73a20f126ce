import type { Finding } from '../../model/report.ts';
import type { GateOutcome } from '../gate-context.ts';
import { mapParallel } from '../parallel.ts';
import { planJobs, type UnitContext } from './unit-jobs.ts';
import { type JobOutcome, runJob } from './unit-run.ts';

/** Each contract's symbols alone, at small asymmetric shapes and at the engine's own, against reference.ts. */
export async function runUnitGate(context: UnitContext): Promise<GateOutcome> {
  return runUnitJobs(context, undefined);
}

/** The same for one contract, or for all. */
export async function runUnitJobs(context: UnitContext, only: string | undefined): Promise<GateOutcome> {
  const jobs = planJobs(context, only);
  if (jobs.length === 0) {
    const notApplicable = `${only === undefined ? 'no contract of this engine has' : `${only} has no`} unit gate`;
    return { findings: [], notApplicable };
  }
  const stuck = new Set<string>();
  const outcomes = await mapParallel(jobs, context.toolchain.jobs, async (job): Promise<JobOutcome> => {
    if (stuck.has(job.contract.id)) return { findings: [], cases: 0, hitLimit: true };
    const outcome = await runJob(context, job);
    if (outcome.hitLimit) stuck.add(job.contract.id);
    return outcome;
  });
  const findings = eachOnce(outcomes.flatMap((outcome) => outcome.findings));
  const cases = outcomes.reduce((sum, outcome) => sum + outcome.cases, 0);
  const contracts = new Set(jobs.map(({ contract }) => contract.id)).size;
  return { findings, measurements: { contracts, binaries: jobs.length, cases } };
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
