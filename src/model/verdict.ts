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
  const reasons = gates
    .filter((gate) => gate.status === 'failed' || gate.status === 'skipped')
    .map((gate) => {
      if (gate.status === 'skipped')
        return `gate ${gate.gate} did not run: ${gate.reason ?? 'no reason given'}`;
      const count = gate.findings.length;
      return `gate ${gate.gate} failed with ${count} finding${count === 1 ? '' : 's'}`;
    });
  for (const goal of goals) {
    if (goal.status === 'missed')
      reasons.push(`goal ${goal.written} of ${goal.metric} missed: ${goal.measured}`);
    if (goal.status === 'not-measured') {
      reasons.push(`goal ${goal.written} of ${goal.metric} not measured: ${goal.note ?? 'no reason given'}`);
    }
  }
  return reasons;
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
