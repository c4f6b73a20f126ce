import { expect, test } from 'vitest';
import { type Finding, type GateResult, Report } from '../../src/model/report.ts';
import { decideOutcome, toVerdict } from '../../src/model/verdict.ts';
import { makeFinding } from '../../src/verification/gate-context.ts';
import { localise } from '../../src/verification/localise.ts';
import { renderReport } from '../../src/verification/render-report.ts';

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
    repeat: 'metainfer verify x --seed 3',
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
  expect(page).toContain('metainfer verify x --seed 3');
  expect(page).not.toMatch(/(?<!\\)<img|(?<!\\)\[link|^# title/m);
});
