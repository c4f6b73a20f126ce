import type { GateResult, GoalVerdict, Report } from './report.ts';

/**
 * What verification concluded about one engine tree. It says nothing about any other bytes: whoever shows it
 * compares `treeSha256` with the engine at hand first.
 */
export interface Verdict {
  readonly outcome: 'passed' | 'failed';
  readonly treeSha256: string;
  readonly runSeed: number;
  readonly goals: readonly GoalVerdict[];
  /** One sentence for each reason to fail; empty where it passed. */
  readonly reasons: readonly string[];
}

/** A pass needs every gate that ran green, none left out by a failure, and every goal met: unmeasured is not met. */
export function decideOutcome(
  gates: readonly GateResult[],
  goals: readonly GoalVerdict[],
): 'passed' | 'failed' {
  return listReasons(gates, goals).length === 0 && gates.length > 0 ? 'passed' : 'failed';
}

function listReasons(gates: readonly GateResult[], goals: readonly GoalVerdict[]): string[] {
  return [...gates.map(gateReason), ...goals.map(goalReason)].filter((reason) => reason !== undefined);
}

function gateReason({ gate, status, reason, findings }: GateResult): string | undefined {
  if (status === 'skipped') return `gate ${gate} did not run: ${reason ?? 'no reason given'}`;
  // Findings stand against a gate whatever it calls itself.
  if (status !== 'failed' && findings.length === 0) return undefined;
  return `gate ${gate} ${status} with ${findings.length} finding${findings.length === 1 ? '' : 's'}`;
}

function goalReason({ metric, written, status, measured, note }: GoalVerdict): string | undefined {
  const goal = `goal ${written} of ${metric}`;
  if (status === 'missed') return `${goal} missed: ${measured}`;
  if (status === 'not-measured') return `${goal} not measured: ${note ?? 'no reason given'}`;
  return measured === null ? `${goal} met without a figure` : undefined;
}

export function toVerdict(report: Report): Verdict {
  return {
    outcome: decideOutcome(report.gates, report.goals),
    treeSha256: report.engine.treeSha256,
    runSeed: report.inputs.runSeed,
    goals: report.goals,
    reasons: listReasons(report.gates, report.goals),
  };
}
