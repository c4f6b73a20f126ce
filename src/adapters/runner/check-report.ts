import { Benchmark } from '../../model/benchmark.ts';
import { benchmarkGates } from '../../model/benchmark-gates.ts';
import type { Constraints } from '../../model/constraints.ts';
import { evaluateGoals, judgeFidelity } from '../../model/judge-goals.ts';
import { type GateResult, type GoalVerdict, gateNames, type Report } from '../../model/report.ts';
import { decideOutcome } from '../../model/verdict.ts';
import { ArtifactRefusal } from './artifact-refusal.ts';
import { checkBenchmark } from './check-benchmark.ts';
import { checkPlaces } from './check-places.ts';

/** What our own store says that a report must be about. */
export interface ExpectedReport {
  readonly constraintsSha256: string;
  readonly treeSha256: string;
  /** `hardware.platform` of the constraint file: where its engine must have run. */
  readonly platform: string;
  /** Of the constraint file: what every goal is judged by again. */
  readonly goals: Constraints['goals']['require'];
  readonly fidelity: Constraints['goals']['fidelity'];
}

function refuse(reason: string): never {
  throw new ArtifactRefusal(reason);
}

/** @throws ArtifactRefusal */
export function requireSame(what: string, claimed: string, wanted: string): void {
  if (claimed !== wanted) refuse(`${what} is ${claimed.slice(0, 80)}; this request is about ${wanted}`);
}

/**
 * Holds a report against what was asked for and against itself: verdict, goals, gates and benchmark must follow from
 * each other. Figures that somebody invented consistently stay possible; that is for a person to see.
 * @throws ArtifactRefusal with the first contradiction
 */
export function checkReport(report: Report, expected: ExpectedReport): void {
  requireSame('engine.treeSha256 of report.json', report.engine.treeSha256, expected.treeSha256);
  requireSame(
    'inputs.constraintsSha256 of report.json',
    report.inputs.constraintsSha256,
    expected.constraintsSha256,
  );
  const parsed = Benchmark.nullable().safeParse(report.benchmark);
  if (!parsed.success) refuse('benchmark of report.json breaks its schema');
  const benchmark = parsed.data;
  checkOrder(report.gates);
  for (const gate of report.gates) checkGate(gate);
  for (const goal of report.goals) checkGoal(goal);
  const decided = decideOutcome(report.gates, report.goals);
  if (decided !== report.verdict) {
    refuse(`report.json says ${report.verdict}, and its gates and goals say ${decided}`);
  }
  checkPlaces(report, expected.platform);
  if (decided !== 'failed') checkEveryGate(report);
  if (decided === 'passed') checkComplete(report);
  checkGoals(report, benchmark, expected);
  if (benchmark !== null) checkBenchmark(benchmark);
  checkTimedGates(report, benchmark);
}

/** Gates stand in their order, each at most once: else two results of one gate could be told apart by nobody. */
function checkOrder(gates: readonly GateResult[]): void {
  const places = gates.map(({ gate }) => gateNames.indexOf(gate));
  const wrong = gates.find((_, index) => index > 0 && places[index]! <= places[index - 1]!);
  if (wrong !== undefined) refuse(`gate ${wrong.gate} of report.json is repeated or out of order`);
}

function checkGate({ gate, status, findings, reason }: GateResult): void {
  const named = `gate ${gate} of report.json`;
  if (status === 'failed' && findings.length === 0) refuse(`${named} failed without a finding`);
  if (status !== 'failed' && findings.length > 0)
    refuse(`${named} is ${status} with ${findings.length} finding${findings.length === 1 ? '' : 's'}`);
  const didRun = status === 'passed' || status === 'failed';
  if (didRun !== (reason === null))
    refuse(`${named} is ${status} ${didRun ? 'and says why it did not run' : 'without a reason'}`);
}

function showGoal({ metric, written }: Pick<GoalVerdict, 'metric' | 'written'>): string {
  return `goal ${metric.slice(0, 80)} ${written.slice(0, 80)}`;
}

function checkGoal(goal: GoalVerdict): void {
  if ((goal.status === 'not-measured') === (goal.measured === null)) return;
  refuse(
    `${showGoal(goal)} of report.json is ${goal.status} ${goal.measured === null ? 'without' : 'and has'} a figure`,
  );
}

/** The only gate that may have nothing to check: contracts without a gate of their own. */
const avoidableGate = 'unit';

function checkEveryGate({ gates, verdict }: Report): void {
  const absent = gateNames.filter((name) => !gates.some(({ gate }) => gate === name));
  if (absent.length > 0) refuse(`report.json says ${verdict} without gate ${absent.join(', ')}`);
}

function checkComplete(report: Report): void {
  const avoided = report.gates.filter(({ gate, status }) => status !== 'passed' && gate !== avoidableGate);
  if (avoided.length > 0) {
    refuse(`report.json says passed, and gate ${avoided.map(({ gate }) => gate).join(', ')} does not apply`);
  }
  if (report.benchmark === null) refuse('report.json says passed without a benchmark');
}

/** Judges every goal again, from the figures that the report itself gives for it. */
function checkGoals(report: Report, benchmark: Benchmark | null, expected: ExpectedReport): void {
  const fidelity = judgeFidelity(expected.fidelity, report.gates);
  const judged = [...fidelity, ...evaluateGoals(expected.goals, benchmark)];
  const seen = new Set<string>();
  for (const goal of report.goals) {
    const shown = showGoal(goal);
    const own = judged.find(({ metric, written }) => metric === goal.metric && written === goal.written);
    if (own === undefined) refuse(`${shown} of report.json was not asked for`);
    if (seen.has(shown)) refuse(`${shown} stands twice in report.json`);
    seen.add(shown);
    if (outcomeOf(own) !== outcomeOf(goal))
      refuse(`report.json says ${shown} is ${outcomeOf(goal)}, and its own figures say ${outcomeOf(own)}`);
  }
  // Without a benchmark a report may leave out the goals that need one: it failed before.
  const unspoken = (benchmark === null ? fidelity : judged).filter((goal) => !seen.has(showGoal(goal)));
  if (unspoken.length > 0) refuse(`report.json says nothing of ${unspoken.map(showGoal).join(', ')}`);
}

function outcomeOf({ status, measured, baseline }: GoalVerdict): string {
  if (measured === null) return status;
  return `${status} with ${measured}${baseline === null ? '' : ` against ${baseline}`}`;
}

/** bench and physics say what the benchmark says. */
function checkTimedGates(report: Report, benchmark: Benchmark | null): void {
  const outcomes = benchmark === null ? undefined : benchmarkGates(benchmark);
  for (const name of ['bench', 'physics'] as const) {
    const gate = report.gates.find((one) => one.gate === name);
    const named = `gate ${name} of report.json`;
    if (outcomes === undefined) {
      if (gate?.status === 'passed' || gate?.status === 'failed')
        refuse(`${named} is ${gate.status} without a benchmark`);
      continue;
    }
    if (gate === undefined) refuse(`report.json has a benchmark without gate ${name}`);
    const { status, measurements } = outcomes[name];
    if (gate.status !== status) refuse(`${named} is ${gate.status}, and its benchmark says ${status}`);
    for (const key of new Set([...Object.keys(measurements), ...Object.keys(gate.measurements)])) {
      const [claimed, own] = [gate.measurements[key], measurements[key]];
      if (claimed !== own)
        refuse(
          `${named} says ${key.slice(0, 80)} ${String(claimed).slice(0, 80)}, and its benchmark says ${own}`,
        );
    }
  }
}
