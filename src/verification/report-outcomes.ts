import { type Report, timedGates } from '../model/report.ts';
import type { BenchmarkOutcome, VerificationOutcome } from '../model/run.ts';
import { localise } from './localise.ts';

const shownFindings = 20;

function namesOf(gates: Report['gates'], wanted: Report['gates'][number]['status']): string[] {
  return gates.filter(({ status }) => status === wanted).map(({ gate }) => gate);
}

/** What every gate but the timed ones concluded, fidelity goals included. */
export function verificationOutcome(report: Report, reportPath: string): VerificationOutcome {
  const gates = report.gates.filter((gate) => !timedGates.has(gate.gate));
  const areGatesGreen = gates.every((gate) => gate.status === 'passed' || gate.status === 'not-applicable');
  const notRun = namesOf(gates, 'not-run');
  // What could not be measured without a device is no shortcoming of the engine.
  const isUnmeasured = notRun.includes('logits');
  const missed = report.goals.filter(
    ({ metric, status }) =>
      metric.startsWith('fidelity.') && status !== 'met' && !(isUnmeasured && status === 'not-measured'),
  );
  return {
    passed: gates.length > 0 && areGatesGreen && missed.length === 0,
    treeSha256: report.engine.treeSha256,
    reportPath,
    guilty: localise(report).map((suspect) => suspect.contract),
    redGates: namesOf(gates, 'failed'),
    ...(notRun.length === 0 ? {} : { notRun }),
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
  const notRun = namesOf(timed, 'not-run');
  return {
    passed: report.verdict === 'passed',
    ...(notRun.length === 0 ? {} : { notRun }),
    goals: [
      ...report.goals.map(
        (goal) =>
          `goal ${goal.metric} ${goal.written}: ${goal.status}${goal.measured === null ? '' : ` (${goal.measured})`}${goal.note === null ? '' : `, ${goal.note}`}`,
      ),
      ...timed.flatMap((gate) => gate.findings.map((finding) => `${gate.gate}: ${finding.message}`)),
      ...timed
        .filter((gate) => gate.status === 'skipped' || gate.status === 'not-run')
        .map((gate) => `${gate.gate} did not run: ${gate.reason}`),
    ],
  };
}
