/**
 * A test double of the harness: in place of building and judging an engine it writes what a judgement would have left,
 * from a real report that is kept in knowledge/reports. `node --import tsx scripted-harness.ts <script> judge …`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Benchmark } from '../../src/model/benchmark.ts';
import { benchmarkGates } from '../../src/model/benchmark-gates.ts';
import type { Finding, Report } from '../../src/model/report.ts';
import { verdictExitCode } from '../../src/model/show-verdict.ts';
import { hashEngineTree } from '../../src/verification/engine-tree.ts';
import { onDeviceReport, unrunReport } from '../fixtures/unrun-report.ts';

export const harnessScripts = [
  'passes',
  'compiler-error',
  'goal-missed',
  'forged',
  'no-result',
  'hangs',
  'finds-mistake',
  'has-no-device',
  'has-device',
] as const;
export type HarnessScript = (typeof harnessScripts)[number];

const [script, , engine = '.', ...rest] = process.argv.slice(2);
const { values } = parseArgs({
  args: rest,
  options: {
    'request-id': { type: 'string' },
    'engine-commit': { type: 'string' },
    'constraints-sha256': { type: 'string' },
    baseline: { type: 'string' },
    labels: { type: 'string' },
    runner: { type: 'string' },
    output: { type: 'string' },
  },
});
const output = values.output!;
const treeSha256 = hashEngineTree(engine);

if (script === 'hangs') await new Promise((resolve) => setTimeout(resolve, 600_000));
if (script === 'no-result') process.exit(3);
mkdirSync(output, { recursive: true });
const report = makeReport();
const result = {
  schema: 'metainfer/result/v1',
  requestId: script === 'forged' ? 'somebody-elses-1' : values['request-id'],
  engineCommit: values['engine-commit'],
  constraintsSha256: values['constraints-sha256'],
  treeSha256,
  outcome: 'judged',
  failure: null,
  harness: { version: 'scripted', commit: null },
  runner: { name: values.runner ?? 'scripted', labels: JSON.parse(values.labels ?? '[]') },
};
writeFileSync(join(output, 'result.json'), JSON.stringify(result));
writeFileSync(join(output, 'report.json'), JSON.stringify(report));
writeFileSync(join(output, 'log.txt'), 'scripted harness\n');
process.exit(verdictExitCode(report.verdict));

function makeReport(): Report {
  const folder = new URL('../../knowledge/reports/', import.meta.url);
  const name = readdirSync(folder).find((file) => file.startsWith('tiny-qwen3'))!;
  const kept = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Report;
  const base: Report = {
    ...kept,
    engine: { ...kept.engine, treeSha256 },
    inputs: { ...kept.inputs, constraintsSha256: values['constraints-sha256']! },
  };
  if (script === 'has-no-device') return unrunReport(withFidelityAlone(base));
  if (script === 'has-device') return onDeviceReport(withFidelityAlone(base));
  if (script === 'compiler-error') return withCompilerError(base);
  if (script === 'finds-mistake' && hasMistake()) return withUnitFinding(base);
  return script === 'goal-missed' ? withMissedGoal(base) : base;
}

/** The example for CUDA asks for no speed. */
function withFidelityAlone(report: Report): Report {
  return { ...report, goals: report.goals.filter(({ metric }) => metric.startsWith('fidelity.')) };
}

/** What stands for a wrong result: a comment in the code. */
function hasMistake(): boolean {
  return readFileSync(join(engine, 'norm_rms.cpp'), 'utf8').includes('MISTAKE');
}

function withUnitFinding(report: Report): Report {
  return withFinding(report, {
    ...{ gate: 'unit', contract: 'norm.rms', file: 'norm_rms.cpp', line: null },
    message: 'rms_norm differs from its reference in case rows_of_one: NMSE 0.013, allowed 1e-10',
    evidence: { case: 'rows_of_one', wanted: 0.25, got: 0.5, index: 17 },
  });
}

function withCompilerError(report: Report): Report {
  return withFinding(report, {
    ...{ gate: 'build', contract: 'norm.rms', file: 'norm_rms.cpp', line: 12 },
    message: "'sum' was not declared in this scope",
    evidence: { column: 5 },
  });
}

/** The gate is red by this finding, and nothing after it was run. */
function withFinding(report: Report, finding: Finding): Report {
  const failed = report.gates.findIndex(({ gate }) => gate === finding.gate);
  const gates = report.gates.map((gate, index) => {
    if (index < failed) return gate;
    const blank = { ...gate, seconds: 0, measurements: {}, findings: [] };
    if (index > failed) return { ...blank, status: 'skipped' as const, reason: `${finding.gate} failed` };
    return { ...blank, status: 'failed' as const, findings: [finding] };
  });
  const goals = report.goals.map((goal) => {
    const note = `gate ${finding.gate} failed`;
    return { ...goal, status: 'not-measured' as const, measured: null, baseline: null, note };
  });
  return { ...report, verdict: 'failed', gates, goals, benchmark: null };
}

/** Everything that a tenth of the decoding speed changes. */
function withMissedGoal(report: Report): Report {
  const measured = Benchmark.parse(report.benchmark);
  const { decode } = measured.engine;
  const slow = (rate: number) => rate / 10;
  const benchmark: Benchmark = {
    ...measured,
    engine: {
      ...measured.engine,
      decode: {
        ...decode,
        ...{ avg_ts: slow(decode.avg_ts), median_ts: slow(decode.median_ts) },
        samples_ts: decode.samples_ts.map(slow),
      },
    },
    comparison: measured.comparison.map((one) =>
      one.metric === 'decode_tokens_per_second' ? { ...one, ratio: slow(one.ratio) } : one,
    ),
    physics: measured.physics.map((check) =>
      check.what === 'decode'
        ? { ...check, measured_tokens_per_second: slow(check.measured_tokens_per_second) }
        : check,
    ),
  };
  const { bench } = benchmarkGates(benchmark);
  const gates = report.gates.map((gate) => (gate.gate === 'bench' ? { ...gate, ...bench } : gate));
  const baseline = benchmark.baseline!.decode.avg_ts;
  const { avg_ts } = benchmark.engine.decode;
  const goals = report.goals.map((goal) =>
    goal.metric.startsWith('fidelity.')
      ? goal
      : { ...goal, status: 'missed' as const, measured: avg_ts, baseline, note: null },
  );
  return { ...report, verdict: 'failed', gates, goals, benchmark };
}
