import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ExpectedArtifact, readArtifact } from '../../../src/adapters/runner/read-artifact.ts';
import { maxArtifactBytes } from '../../../src/adapters/runner/unzip-artifact.ts';
import { Report } from '../../../src/model/report.ts';
import type { RunnerResult } from '../../../src/model/result.ts';
import { packageRoot } from '../../../src/preparation/package-root.ts';
import { type CraftedEntry, craftZip } from './craft-zip.ts';

/** A report of a real run. */
const report = Report.parse(
  JSON.parse(readFileSync(join(packageRoot(), 'engines/tiny-qwen3/report.json'), 'utf8')),
);
const expected: ExpectedArtifact = {
  requestId: 'run-0123-1',
  engineCommit: 'a'.repeat(40),
  constraintsSha256: report.inputs.constraintsSha256,
  treeSha256: report.engine.treeSha256,
  goals: [{ metric: 'decode_tokens_per_second', written: '>= 0.7x llama.cpp' }],
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
    ['a bomb', [...good.slice(0, 2), { name: 'log.txt', data: Buffer.alloc(2 ** 21) }], /times its size/],
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

describe('a verdict that does not follow', () => {
  const gates = (change: (gate: Report['gates'][number]) => object) =>
    withReport({ gates: report.gates.map((gate) => ({ ...gate, ...change(gate) })) });
  const cases: readonly [string, readonly CraftedEntry[], RegExp][] = [
    [
      'failed, and all is green',
      withReport({ verdict: 'failed' }),
      /says failed, and its gates and goals say passed/,
    ],
    [
      'passed with a red gate',
      gates(({ gate }) => (gate === 'logits' ? { status: 'failed' } : {})),
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
      gates(() => ({ status: 'not-applicable' })),
      /gate static, build, .* does not apply/,
    ],
    ['a gate twice', withReport({ gates: [...report.gates, report.gates[0]] }), /repeated or out of order/],
    ['passed without a benchmark', withReport({ benchmark: null }), /without a benchmark/],
    [
      'passed without its goals',
      withReport({ goals: report.goals.slice(0, 2) }),
      /goal decode_tokens_per_second/,
    ],
    [
      'passed without fidelity',
      withReport({ goals: report.goals.slice(2) }),
      /goal fidelity.mean_kld, fidelity.top1/,
    ],
    [
      'passed by an easier goal',
      withReport({ goals: report.goals.map((goal) => ({ ...goal, written: '>= 0.1x llama.cpp' })) }),
      /goal decode_tokens_per_second/,
    ],
  ];
  it.each(cases)('is refused: %s', async (_, entries, reason) => {
    expect(await reasonOf(entries)).toMatch(reason);
  });

  it('is accepted where it failed for a reason that is there', async () => {
    const red = report.gates
      .slice(0, 2)
      .map((gate, index) => ({ ...gate, status: index === 0 ? 'passed' : 'failed' }));
    expect(await reasonOf(withReport({ gates: red, verdict: 'failed', benchmark: null }))).toBe('accepted');
  });
});
