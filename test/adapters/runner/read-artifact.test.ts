import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ExpectedArtifact, readArtifact } from '../../../src/adapters/runner/read-artifact.ts';
import { maxArtifactBytes } from '../../../src/adapters/runner/unzip-artifact.ts';
import { Benchmark } from '../../../src/model/benchmark.ts';
import { Report } from '../../../src/model/report.ts';
import type { RunnerResult } from '../../../src/model/result.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { type CraftedEntry, craftZip } from './craft-zip.ts';

/** A report of a real run. */
const report = Report.parse(
  JSON.parse(readFileSync(join(packageRoot(), 'test/fixtures/reports/tiny-qwen3.json'), 'utf8')),
);
const expected: ExpectedArtifact = {
  requestId: 'run-0123-1',
  engineCommit: 'a'.repeat(40),
  constraintsSha256: report.inputs.constraintsSha256,
  treeSha256: report.engine.treeSha256,
  goals: [
    {
      ...{ metric: 'decode_tokens_per_second', comparison: '>=', value: 0.7, unit: 'x' },
      ...{ baseline: 'llama.cpp', written: '>= 0.7x llama.cpp' },
    },
  ],
  fidelity: { mean_kld: 1e-6, top1_agreement: 0.99 },
};
const judged: RunnerResult = {
  schema: 'metainfer/result/v1',
  requestId: expected.requestId,
  engineCommit: expected.engineCommit,
  constraintsSha256: expected.constraintsSha256,
  treeSha256: expected.treeSha256,
  outcome: 'judged',
  failure: null,
  harness: { version: '0.1.0', commit: null },
  runner: { name: 'runner-1', labels: ['self-hosted'] },
};
const refused: RunnerResult = {
  ...judged,
  outcome: 'refused',
  failure: { code: 'CHECKPOINT_INVALID', message: 'No weights here.' },
};

const keptReports = ['test/fixtures/reports', 'knowledge/reports'].flatMap((folder) =>
  readdirSync(join(packageRoot(), folder))
    .filter((file) => file.endsWith('.json'))
    .map((file) => join(folder, file)),
);

const json = (name: string, value: unknown): CraftedEntry => ({ name, data: JSON.stringify(value) });
const good = [
  json('result.json', judged),
  json('report.json', report),
  { name: 'log.txt', data: 'static passed\n' },
];

async function reasonOf(entries: readonly CraftedEntry[]): Promise<string> {
  const read = await readArtifact(craftZip(entries), expected);
  return read.ok ? 'accepted' : read.reason;
}

const withReport = (changes: object): CraftedEntry[] => [
  json('result.json', judged),
  json('report.json', { ...report, ...changes }),
];
const withResult = (changes: object): CraftedEntry[] => [
  json('result.json', { ...judged, ...changes }),
  json('report.json', report),
];

describe('an artifact that belongs to the request', () => {
  it('gives result, report and log', async () => {
    const read = await readArtifact(craftZip(good), expected);
    expect(read).toEqual({ ok: true, result: judged, report, log: 'static passed\n' });
  });

  it('of a refusal has no report', async () => {
    const read = await readArtifact(
      craftZip([json('result.json', { ...refused, treeSha256: null })]),
      expected,
    );
    expect(read).toEqual({ ok: true, result: { ...refused, treeSha256: null }, report: null, log: '' });
  });

  it('loses terminal colours and control characters of its log', async () => {
    const log = { name: 'log.txt', data: '\u001b[31mred\u001b[0m\u0000\u0007\r\n\tkept\u007f' };
    const read = await readArtifact(craftZip([...good.slice(0, 2), log]), expected);
    expect(read.ok && read.log).toBe('red\n\tkept');
  });

  async function logOf(text: string): Promise<string> {
    const read = await readArtifact(
      craftZip([...good.slice(0, 2), { name: 'log.txt', data: text }]),
      expected,
    );
    return read.ok ? read.log : read.reason;
  }

  it('may have a log that says the same over and over', async () => {
    const text = 'still waiting for the device\n'.repeat(3500);
    expect(await logOf(text)).toBe(text);
  });

  it('keeps the last whole lines of a log that is too long', async () => {
    const lines = Array.from({ length: 2 ** 20 }, (_, index) => `line ${index}`);
    const log = await logOf(lines.join('\n'));
    const [mark, first, ...rest] = log.split('\n');
    expect(mark).toBe('[the beginning of this log is left out]');
    expect(log.length).toBeLessThan(2 ** 22 + 100);
    expect(log.length).toBeGreaterThan(2 ** 22 - 100);
    expect([first, ...rest]).toEqual(lines.slice(-rest.length - 1));
    const one = `${'x'.repeat(2 ** 22)}\nend`;
    expect(await logOf(one)).toBe('[the beginning of this log is left out]\nend');
  });

  it('does without a log that nobody should unpack', async () => {
    expect(await logOf('\n'.repeat(2 ** 26 + 1))).toBe('[this log has 64 MiB and is left out]\n');
  });
});

describe('a zip that is not what it should be', () => {
  const cases: readonly [string, readonly CraftedEntry[], RegExp][] = [
    ['another file', [...good, { name: 'notes.md', data: '' }], /holds "notes.md"; it may hold result.json/],
    [
      'a path out of its folder',
      [...good, { name: '../result.json', data: '' }],
      /no sound zip.*relative path/,
    ],
    ['an absolute path', [...good, { name: '/etc/passwd', data: '' }], /no sound zip.*absolute path/],
    ['a path with a backslash', [...good, { name: 'a\\b', data: '' }], /no sound zip/],
    ['a folder', [...good, { name: 'out/', data: '' }], /holds "out\/"/],
    ['a file in a folder', [json('out/result.json', judged)], /holds "out\/result.json"/],
    ['a link', [{ ...good[0]!, mode: 0o120777 }], /"result.json" is not a plain file/],
    ['a name twice', [...good, good[0]!], /result.json twice/],
    ['an encrypted file', [{ ...good[0]!, flags: 1 }], /encrypted/],
    ['too large a file', [{ name: 'result.json', data: Buffer.alloc(2 ** 18, 32) }], /262144 bytes unpacked/],
    ['a bomb', [good[0]!, { name: 'report.json', data: Buffer.alloc(2 ** 21, 32) }], /times its size/],
    [
      'a file that is larger than it declares',
      [{ name: 'result.json', data: Buffer.alloc(2 ** 24, 32), declaredSize: 1000 }],
      /no sound zip.*too many bytes/,
    ],
    ['nothing', [], /result.json is missing/],
  ];
  it.each(cases)('is refused: %s', async (_, entries, reason) => {
    expect(await reasonOf(entries)).toMatch(reason);
  });

  it('is refused: bytes that are no zip, a cut one, and more than may be downloaded', async () => {
    const zip = craftZip(good);
    for (const bytes of [
      Buffer.from('PK'),
      zip.subarray(0, zip.length - 30),
      Buffer.alloc(maxArtifactBytes + 1),
    ]) {
      expect((await readArtifact(bytes, expected)).ok).toBe(false);
    }
  });
});

describe('content that breaks the rules', () => {
  const cases: readonly [string, readonly CraftedEntry[], RegExp][] = [
    ['text that is not JSON', [{ name: 'result.json', data: '{' }], /result.json is not JSON/],
    [
      'bytes that are not UTF-8',
      [{ name: 'result.json', data: Buffer.from([0x22, 0xff, 0x22]) }],
      /is not JSON/,
    ],
    ['an unknown key', withResult({ extra: 1 }), /breaks its schema at the top: unrecognized_keys/],
    ['a missing report', [json('result.json', judged)], /says judged, and report.json is missing/],
    [
      'a report beside a refusal',
      [json('result.json', refused), good[1]!],
      /says refused, and report.json is there/,
    ],
    ['judged with a failure', withResult({ failure: refused.failure }), /gives a failure/],
    ['refused without a failure', [json('result.json', { ...refused, failure: null })], /without a failure/],
    ['judged without a tree', withResult({ treeSha256: null }), /without a tree hash/],
    [
      'a benchmark of another shape',
      withReport({ benchmark: { decode: 1e9 } }),
      /benchmark .* breaks its schema/,
    ],
  ];
  it.each(cases)('is refused: %s', async (_, entries, reason) => {
    expect(await reasonOf(entries)).toMatch(reason);
  });

  it('is refused: a figure that is no finite number', async () => {
    const text = JSON.stringify(report).replace('"seconds":', '"seconds":1e999,"x":');
    const entries = [good[0]!, { name: 'report.json', data: text }];
    expect(await reasonOf(entries)).toMatch(/breaks its schema at .*seconds/);
  });
});

describe('an artifact of something else', () => {
  const other = 'b'.repeat(64);
  const cases: readonly [string, readonly CraftedEntry[], RegExp][] = [
    ['request', withResult({ requestId: 'run-9999-1' }), /requestId of result.json is run-9999-1/],
    ['commit', withResult({ engineCommit: 'c'.repeat(40) }), /engineCommit of result.json/],
    ['constraint file', withResult({ constraintsSha256: other }), /constraintsSha256 of result.json/],
    ['tree in the result', withResult({ treeSha256: other }), /treeSha256 of result.json/],
    [
      'tree of a refusal',
      [json('result.json', { ...refused, treeSha256: other })],
      /treeSha256 of result.json/,
    ],
    ['tree in the report', withReport({ engine: { ...report.engine, treeSha256: other } }), /of report.json/],
    [
      'constraint file in the report',
      withReport({ inputs: { ...report.inputs, constraintsSha256: other } }),
      /inputs.constraintsSha256/,
    ],
  ];
  it.each(cases)('is refused: another %s', async (_, entries, reason) => {
    expect(await reasonOf(entries)).toMatch(reason);
  });
});

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
