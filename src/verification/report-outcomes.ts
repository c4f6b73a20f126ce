import { type Report, timedGates } from '../model/report.ts';
import type { BenchmarkOutcome, VerificationOutcome } from '../model/run.ts';
import { localise } from './localise.ts';

const shownFindings = 20;

/** What every gate but the timed ones concluded, fidelity goals included. */
export function verificationOutcome(report: Report, reportPath: string): VerificationOutcome {
  const gates = report.gates.filter((gate) => !timedGates.has(gate.gate));
  const missed = report.goals.filter((goal) => goal.metric.startsWith('fidelity.') && goal.status !== 'met');
  const areGatesGreen = gates.every((gate) => gate.status === 'passed' || gate.status === 'not-applicable');
  return {
    passed: gates.length > 0 && areGatesGreen && missed.length === 0,
    treeSha256: report.engine.treeSha256,
    reportPath,
    guilty: localise(report).map((suspect) => suspect.contract),
    redGates: gates.filter(({ status }) => status === 'failed').map(({ gate }) => gate),
    findings: [
      ...gates
        .flatMap((gate) => gate.findings)
        .slice(0, shownFindings)
        .map(
          (finding) =>
            `${finding.gate}: ${finding.contract ?? 'engine'}${finding.file === null ? '' : ` (${finding.file}${finding.line === null ? '' : `:${finding.line}`})`}: ${finding.message.slice(0, 300)}`,
        ),
      ...missed.map((goal) => `goal ${goal.metric} ${goal.written}: ${goal.status} (${goal.measured})`),
    ],
  };
}

/** What the timed gates and the goals concluded; the report's verdict is about all gates together. */
export function benchmarkOutcome(report: Report): BenchmarkOutcome {
  const timed = report.gates.filter((gate) => timedGates.has(gate.gate));
  return {
    passed: report.verdict === 'passed',
    goals: [
      ...report.goals.map(
        (goal) =>
          `goal ${goal.metric} ${goal.written}: ${goal.status}${goal.measured === null ? '' : ` (${goal.measured})`}${goal.note === null ? '' : `, ${goal.note}`}`,
      ),
      ...timed.flatMap((gate) => gate.findings.map((finding) => `${gate.gate}: ${finding.message}`)),
      ...timed
        .filter((gate) => gate.status === 'skipped')
        .map((gate) => `${gate.gate} did not run: ${gate.reason}`),
    ],
  };
}
