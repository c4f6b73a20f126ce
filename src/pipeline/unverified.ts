import type { BenchmarkOutcome, VerificationOutcome } from '../model/run.ts';

/**
 * Nothing failed, but gates had no device to run on: neither a pass nor a failure, and nothing for an agent to repair.
 * What failed beside it stays a failure.
 */
export function lacksDevice(verification: VerificationOutcome): boolean {
  const { passed, notRun = [], redGates = [], findings } = verification;
  return !passed && notRun.length > 0 && redGates.length === 0 && findings.length === 0;
}

/** Whether the run ends without a verdict for want of a device. `verification` did not fail. */
export function isUnverified(
  verification: VerificationOutcome | undefined,
  benchmark: BenchmarkOutcome | null | undefined,
): boolean {
  if (verification !== undefined && lacksDevice(verification)) return true;
  return benchmark?.passed === false && (benchmark.notRun ?? []).length > 0;
}
