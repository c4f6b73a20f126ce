import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readArtifact } from '../../../src/adapters/runner/read-artifact.ts';
import { Benchmark } from '../../../src/model/benchmark.ts';
import { Report } from '../../../src/model/report.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { type CraftedEntry, craftZip } from './craft-zip.ts';
import { expected, json, judged, reasonOf, report, withReport } from './sample-artifact.ts';

const keptReports = ['test/fixtures/reports', 'knowledge/reports'].flatMap((folder) =>
  readdirSync(join(packageRoot(), folder))
    .filter((file) => file.endsWith('.json'))
    .map((file) => join(folder, file)),
);

/** Changes the gates of these names. */
const withGates = (names: readonly string[], change: (gate: Report['gates'][number]) => object) =>
  withReport({
    gates: report.gates.map((gate) => (names.includes(gate.gate) ? { ...gate, ...change(gate) } : gate)),
  });
const finding: Report['gates'][number]['findings'][number] = {
  ...{ gate: 'logits', contract: null, file: null, line: null, message: 'off', evidence: {} },
};
const benchmark = Benchmark.parse(report.benchmark);

describe('a verdict that does not follow', () => {
  const cases: readonly [string, readonly CraftedEntry[], RegExp][] = [
    [
      'failed, and all is green',
      withReport({ verdict: 'failed' }),
      /says failed, and its gates and goals say passed/,
    ],
    [
      'passed with a red gate',
      withGates(['logits'], () => ({ status: 'failed', findings: [finding] })),
      /says passed, and its gates and goals say failed/,
    ],
    ['passed without gates', withReport({ gates: [] }), /its gates and goals say failed/],
    [
      'passed with one gate',
      withReport({ gates: report.gates.slice(0, 1) }),
      /passed without gate build, ledger/,
    ],
    [
      'passed where nothing applied',
      withGates(
        report.gates.map(({ gate }) => gate),
        () => ({ status: 'not-applicable', reason: 'no such part' }),
      ),
      /gate static, build, .* does not apply/,
    ],
    ['passed without a benchmark', withReport({ benchmark: null }), /passed without a benchmark/],
  ];
  it.each(cases)('is refused: %s', async (_, entries, reason) => {
    expect(await reasonOf(entries)).toMatch(reason);
  });
});

describe('a report that contradicts itself', () => {
  const goal = (index: number, change: object) =>
    withReport({ goals: report.goals.map((one, at) => (at === index ? { ...one, ...change } : one)) });
  const decoding = 'goal decode_tokens_per_second >= 0.7x llama.cpp';
  const decode = (change: object) =>
    withReport({
      benchmark: {
        ...benchmark,
        engine: { ...benchmark.engine, decode: { ...benchmark.engine.decode, ...change } },
      },
    });
  const red = { status: 'failed', findings: [finding] };
  const cases: readonly [string, readonly CraftedEntry[], string][] = [
    ['a gate twice', withReport({ gates: [...report.gates, report.gates[0]] }), 'gate static of report.json'],
    [
      'gates out of order',
      withReport({ gates: [report.gates[1], report.gates[0], ...report.gates.slice(2)] }),
      'gate static of report.json is repeated or out of order',
    ],
    [
      'a finding in a green gate',
      withGates(['logits'], () => ({ findings: [finding] })),
      'gate logits of report.json is passed with 1 finding',
    ],
    [
      'a red gate without a finding',
      withGates(['logits'], () => ({ status: 'failed' })),
      'gate logits of report.json failed without a finding',
    ],
    [
      'a gate that ran and says why it did not',
      withGates(['unit'], () => ({ reason: 'no time' })),
      'gate unit of report.json is passed and says why it did not run',
    ],
    [
      'a gate that did not run for no reason',
      withGates(['unit'], () => ({ status: 'skipped' })),
      'gate unit of report.json is skipped without a reason',
    ],
    [
      'a goal met without a figure',
      goal(2, { measured: null }),
      `${decoding} of report.json is met without a figure`,
    ],
    [
      'a goal not measured that has a figure',
      goal(2, { status: 'not-measured' }),
      `${decoding} of report.json is not-measured and has a figure`,
    ],
    [
      'a goal met by a figure that is not the benchmark’s',
      goal(2, { measured: 0.001 }),
      `report.json says ${decoding} is met with 0.001 against 1447.7535956305294, and its own figures say met with 5042.2646523451585`,
    ],
    [
      'a goal met against another baseline',
      goal(2, { baseline: 1 }),
      `${decoding} is met with 5042.2646523451585 against 1,`,
    ],
    [
      'a goal met by a benchmark that misses it',
      decode({ avg_ts: 0.001 }),
      'its own figures say missed with 0.001',
    ],
    [
      'fidelity that gate logits did not measure',
      goal(0, { measured: 5 }),
      'goal fidelity.mean_kld <= 0.000001 is met with 5, and its own figures say met with 4.657808838414505e-13',
    ],
    [
      'fidelity that gate logits contradicts',
      withGates(['logits'], ({ measurements }) => ({ measurements: { ...measurements, mean_kld: 5 } })),
      'its own figures say missed with 5',
    ],
    [
      'fidelity as text',
      withGates(['logits'], ({ measurements }) => ({ measurements: { ...measurements, mean_kld: '0' } })),
      'its own figures say not-measured',
    ],
    [
      'a goal that nobody asked for',
      goal(2, { metric: 'elegance' }),
      'goal elegance >= 0.7x llama.cpp of report.json was not asked for',
    ],
    ['an easier goal', goal(2, { written: '>= 0.1x llama.cpp' }), '>= 0.1x llama.cpp of report.json was not'],
    [
      'a goal twice',
      withReport({ goals: [...report.goals, report.goals[2]] }),
      `${decoding} stands twice in report.json`,
    ],
    ['no goals', withReport({ goals: [] }), 'says nothing of goal fidelity.mean_kld <= 0.000001, goal fidel'],
    ['a goal less', withReport({ goals: report.goals.slice(0, 2) }), `says nothing of ${decoding}`],
    [
      'a failure that hides its goals',
      [
        json('result.json', judged),
        json('report.json', {
          ...report,
          verdict: 'failed',
          gates: report.gates.map((gate) => (gate.gate === 'unit' ? { ...gate, ...red } : gate)),
          goals: [],
        }),
      ],
      'says nothing of goal fidelity.mean_kld',
    ],
    [
      'gate bench with another figure',
      withGates(['bench'], ({ measurements }) => ({
        measurements: { ...measurements, decode_tokens_per_second: 9e9 },
      })),
      'gate bench of report.json says decode_tokens_per_second 9000000000, and its benchmark says 5042.',
    ],
    [
      'gate bench with a figure too many',
      withGates(['bench'], ({ measurements }) => ({ measurements: { ...measurements, '# free': 'x' } })),
      'gate bench of report.json says # free x, and its benchmark says undefined',
    ],
    [
      'a green gate physics, and the benchmark was rejected',
      withReport({ benchmark: { ...benchmark, physics: [] } }),
      'gate physics of report.json is passed, and its benchmark says skipped',
    ],
    [
      'a mean that its samples do not have',
      decode({ samples_ts: [1, 2, 3] }),
      'avg_ts of decode of the engine 5042.2646523451585, and its own figures say 2',
    ],
    ['a mean of nothing', decode({ samples_ts: [] }), 'and its own figures say NaN'],
    [
      'a ratio that the means do not have',
      withReport({
        benchmark: { ...benchmark, comparison: benchmark.comparison.map((one) => ({ ...one, ratio: 9 })) },
      }),
      'ratio of prefill_tokens_per_second 9, and its own figures say 0.91',
    ],
    [
      'a limit held against another speed',
      withReport({
        benchmark: {
          ...benchmark,
          physics: benchmark.physics.map((one) => ({ ...one, measured_tokens_per_second: 1 })),
        },
      }),
      'fastest decode 1, and its own figures say 6878.',
    ],
    [
      'a limit that is broken and kept',
      withReport({
        benchmark: {
          ...benchmark,
          physics: benchmark.physics.map((one) => ({ ...one, limit_tokens_per_second: 1 })),
        },
      }),
      'is no more than 1.25 times the 1 of its bandwidth',
    ],
    [
      'a latency that no request had',
      withReport({
        benchmark: {
          ...benchmark,
          engine: { ...benchmark.engine, serving: { ...benchmark.engine.serving, p50_ttft_ms: 0.001 } },
        },
      }),
      'p50_ttft_ms 0.001 of the engine, outside what it measured',
    ],
  ];
  it.each(cases)('is refused: %s', async (_, entries, reason) => {
    expect(await reasonOf(entries)).toContain(reason);
  });

  it('is refused: timed gates without a benchmark, and a benchmark without them', async () => {
    const failed = { ...report.gates[0], ...red };
    const unmeasured = report.goals
      .slice(0, 2)
      .map((one) => ({ ...one, status: 'not-measured', measured: null }));
    const timed = report.gates.slice(-2);
    const bare = { verdict: 'failed', goals: unmeasured, benchmark: null };
    expect(await reasonOf(withReport({ ...bare, gates: [failed, ...timed] }))).toBe(
      'gate bench of report.json is passed without a benchmark',
    );
    const goals = [...unmeasured, report.goals[2]];
    const untimed = { verdict: 'failed', goals, gates: [failed, timed[0]] };
    expect(await reasonOf(withReport(untimed))).toBe('report.json has a benchmark without gate physics');
  });
});

describe('a report that follows', () => {
  it('of an engine that failed before it was timed is accepted', async () => {
    const [first, second] = report.gates;
    const gates = [first, { ...second, status: 'failed', findings: [finding] }];
    const goals = report.goals
      .slice(0, 2)
      .map((one) => ({ ...one, status: 'not-measured', measured: null, note: 'gate logits gave no figure' }));
    const failed = withReport({ gates, goals, verdict: 'failed', benchmark: null });
    expect(await reasonOf(failed)).toBe('accepted');
  });

  it.each(keptReports)('of a real run is accepted: %s', async (path) => {
    const kept = Report.parse(JSON.parse(readFileSync(join(packageRoot(), path), 'utf8')));
    const of = {
      treeSha256: kept.engine.treeSha256,
      constraintsSha256: kept.inputs.constraintsSha256,
    };
    const zip = craftZip([json('result.json', { ...judged, ...of }), json('report.json', kept)]);
    expect(await readArtifact(zip, { ...expected, ...of })).toMatchObject({ ok: true, report: kept });
  });
});
