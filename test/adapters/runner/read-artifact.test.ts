import { describe, expect, it } from 'vitest';
import { readArtifact } from '../../../src/adapters/runner/read-artifact.ts';
import { maxArtifactBytes } from '../../../src/adapters/runner/unzip-artifact.ts';
import { type CraftedEntry, craftZip } from './craft-zip.ts';
import {
  expected,
  good,
  json,
  judged,
  reasonOf,
  refused,
  report,
  withReport,
  withResult,
} from './sample-artifact.ts';

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
