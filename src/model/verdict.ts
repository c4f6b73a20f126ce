import { notRunWords } from './device-words.ts';
import type { GateResult, GoalVerdict, Report, VerdictOutcome } from './report.ts';

/**
 * What verification concluded about one engine tree. It says nothing about any other bytes: whoever shows it
 * compares `treeSha256` with the engine at hand first.
 */
export interface Verdict {
  readonly outcome: VerdictOutcome;
  readonly treeSha256: string;
  readonly runSeed: number;
  readonly goals: readonly GoalVerdict[];
  /** One sentence for each reason not to pass; empty where it passed. */
  readonly reasons: readonly string[];
}

/**
 * A pass needs every gate that ran green, none left out by a failure, and every goal met: unmeasured is not met. Where
 * gates had no device to run on, what they would have measured is missing too, and the outcome says so.
 */
export function decideOutcome(gates: readonly GateResult[], goals: readonly GoalVerdict[]): VerdictOutcome {
  if (gates.length === 0) return 'failed';
  // What passes in emulation has right arithmetic and nothing else.
  const isWithoutDevice = gates.some((gate) => isLeftOut(gate) || gate.ranOn === 'emulation');
  const isFailed =
    gates.some((gate) => !isLeftOut(gate) && gateReason(gate) !== undefined) ||
    goals.some((goal) => goal.status !== 'not-measured' && goalReason(goal) !== undefined);
  if (isFailed || !isWithoutDevice) return listReasons(gates, goals).length === 0 ? 'passed' : 'failed';
  return 'not-run-on-device';
}

function isLeftOut({ status, findings }: GateResult): boolean {
  return status === 'not-run' && findings.length === 0;
}

function listReasons(gates: readonly GateResult[], goals: readonly GoalVerdict[]): string[] {
  return [...gates.map(gateReason), ...goals.map(goalReason)].filter((reason) => reason !== undefined);
}

function gateReason({ gate, status, reason, findings }: GateResult): string | undefined {
  if (status === 'not-run' && findings.length === 0)
    return `gate ${gate} did not run: ${reason ?? notRunWords}`;
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
