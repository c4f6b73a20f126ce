import { beforeAll, describe, expect, it } from 'vitest';
import { coverKnowledge, coverTarget } from '../../../src/knowledge/views/cover-knowledge.ts';
import type { KnowledgeView } from '../../../src/knowledge/views/knowledge-view.ts';
import { representativeRows } from '../../../src/knowledge/views/representative-rows.ts';
import type { CoverageCell, CoverageMatrix, KeptReport } from '../../../src/model/coverage.ts';
import type { Report } from '../../../src/model/report.ts';
import { allowedValues, type Target, targetKeys } from '../../../src/model/target.ts';
import { changeKnowledge, openRealKnowledge } from './real-knowledge.ts';

let real: Awaited<ReturnType<typeof openRealKnowledge>>;
let matrix: CoverageMatrix;
/** Of the example whose run is recorded. */
let target: Target;

beforeAll(async () => {
  real = await openRealKnowledge();
  matrix = coverKnowledge(real.view);
  target = real.view.examples.find(({ name }) => name === 'tiny-qwen3')!.target;
});

function cellOf(view: KnowledgeView, change: Partial<Target> = {}): CoverageCell {
  return coverTarget(view, { ...target, ...change }).cell;
}

/** The same reports, each as changed; their hashes stay, as if the evidence had been forged along with them. */
function withReports(change: (report: Report) => Report): KnowledgeView {
  const reports = real.view.reports.map(
    (kept): KeptReport => ({ ...kept, report: kept.report && change(kept.report) }),
  );
  return { ...real.view, reports };
}

const norm = 'contracts/norm-rms';

describe('the rows of the matrix', () => {
  it('let every realization be part of some cell', () => {
    const used = new Set(Object.values(matrix.parts).map((part) => `${part.contract}/${part.realization}`));
    const all = real.view.catalog.contracts.flatMap(({ frontMatter, realizations }) =>
      realizations.map(({ file }) => `${frontMatter.id}/${file}`),
    );
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter((name) => !used.has(name))).toEqual([]);
  });

  it('have every value of a model that a contract or a realization is for', () => {
    const rows = representativeRows(real.view.catalog);
    const unmet = real.view.catalog.contracts.flatMap(({ frontMatter, realizations }) =>
      [frontMatter.applies_when, ...realizations.map(({ applies }) => applies)].flatMap((predicate) =>
        targetKeys
          .filter((key) => /^(?:model|rope|tokenizer)\./.test(key))
          .flatMap((key) => (allowedValues(predicate, key) ?? []).map((value) => ({ key, value })))
          .filter(({ key, value }) => !rows.some((row) => row.target[key] === value)),
      ),
    );
    expect(unmet).toEqual([]);
  });

  it('name every known model once and differ from each other in their names', () => {
    const models = matrix.rows.flatMap((row) => row.models);
    expect([...models].sort()).toEqual(real.view.catalog.models.map(({ id }) => id).sort());
    expect(new Set(matrix.rows.map(({ name }) => name)).size).toBe(matrix.rows.length);
  });
});

describe('a verified cell', () => {
  it('rests on repeatable evidence for every part, and prints commands of committed files', () => {
    const verified = matrix.rows.flatMap(({ cells }) => cells.filter(({ state }) => state === 'verified'));
    expect(verified.length).toBeGreaterThan(0);
    for (const cell of verified) {
      expect(cell.parts.filter((key) => matrix.parts[key]?.state !== 'repeatable')).toEqual([]);
      expect(cell.repeat.length).toBeGreaterThan(0);
      for (const [, file] of cell.repeat.join('\n').matchAll(/generate (\S+)/g))
        expect(real.view.examples.map((example) => example.file)).toContain(file);
    }
  });

  it('is the one whose run is recorded, with the seed of its report', () => {
    const cell = cellOf(real.view);
    const seeds = real.view.reports.map(({ report }) => `--seed ${report?.inputs.runSeed}`);
    expect(cell.state).toBe('verified');
    expect(cell.repeat[0]).toBe(
      'npx metainfer generate knowledge/examples/tiny-qwen3.yaml -o engines/tiny-qwen3',
    );
    expect(seeds.some((seed) => cell.repeat[1] === `npx metainfer verify engines/tiny-qwen3 ${seed}`)).toBe(
      true,
    );
  });

  const hashes: readonly [string, string, (text: string) => string, RegExp][] = [
    [
      'a realization',
      `${norm}/realizations/cpu-x86_64.cpp`,
      (text) => `${text}\n`,
      /the realization changed/,
    ],
    ['a contract', `${norm}/contract.md`, (text) => `${text}\n`, /the contract changed/],
    ['a gate', `${norm}/gate.yaml`, (text) => `${text}# looser\n`, /the gate changed/],
  ];
  it.each(hashes)(
    'becomes composed where %s is another text than the one that ran',
    (_, path, edit, reason) => {
      const cell = cellOf(changeKnowledge(real, { [path]: edit }));
      expect([cell.state, cell.repeat]).toEqual(['composed', []]);
      expect(cell.says).toMatch(/^1 of \d+ parts: /);
      expect(cell.says).toMatch(reason);
    },
  );

  it('becomes composed where a hash in the evidence is another one', () => {
    const forge = (text: string) =>
      text.replace(/realization: [0-9a-f]{64}/g, `realization: ${'a'.repeat(64)}`);
    const cell = cellOf(changeKnowledge(real, { [`${norm}/evidence.yaml`]: forge }));
    expect([cell.state, cell.says]).toEqual(['composed', expect.stringContaining('the realization changed')]);
  });

  it('becomes composed where its evidence is gone', () => {
    const cell = cellOf(changeKnowledge(real, { [`${norm}/evidence.yaml`]: null }));
    expect([cell.state, cell.says]).toEqual(['composed', expect.stringContaining('no run on cpu-x86_64')]);
  });

  const elsewhere: readonly [string, () => KnowledgeView, RegExp][] = [
    ['its report is not kept', () => ({ ...real.view, reports: [] }), /has no report/],
    [
      'its report is another text than the evidence says',
      () => ({
        ...real.view,
        reports: real.view.reports.map((kept) => ({ ...kept, sha256: 'f'.repeat(64) })),
      }),
      /has no report/,
    ],
    [
      'its report did not pass',
      () => withReports((report) => ({ ...report, verdict: 'failed' })),
      /says failed/,
    ],
    [
      'its gates ran in emulation',
      () =>
        withReports((report) => ({
          ...report,
          gates: report.gates.map((gate) => ({ ...gate, ranOn: 'emulation' as const })),
        })),
      /in emulation/,
    ],
    [
      'the command of its evidence is not that of the report',
      () => withReports((report) => ({ ...report, inputs: { ...report.inputs, runSeed: 1 } })),
      /not the command of its report/,
    ],
    [
      'no example makes its engine',
      () => ({ ...real.view, examples: [] }),
      /no constraint file of the engine/,
    ],
    [
      'the example asks for something else now',
      () => ({
        ...real.view,
        examples: real.view.examples.map((example) => ({ ...example, constraintsSha256: 'f'.repeat(64) })),
      }),
      /no constraint file of the engine/,
    ],
  ];
  it.each(elsewhere)('becomes composed where %s', (_, change, reason) => {
    const cell = cellOf(change());
    expect([cell.state, cell.repeat, cell.says]).toEqual(['composed', [], expect.stringMatching(reason)]);
  });

  it.each([
    [{ 'numerics.weights': 'f32' } as const, 'no run|ran with numerics.weights = bf16, not f32'],
    [{ 'hardware.arch': 'x86-64' } as const, 'ran with hardware.arch = avx2, not x86-64'],
    [{ 'model.sliding_window': true } as const, 'no run with model.sliding_window = true can be repeated'],
    [{ 'model.family': 'llama' } as const, 'no run with model.family = llama can be repeated'],
  ])('does not stand for %j, which no run had', (change, reason) => {
    const cell = cellOf(real.view, change);
    expect([cell.state, cell.says]).toEqual(['composed', expect.stringMatching(reason)]);
  });
});

describe('a cell that cannot be composed', () => {
  it('is for agents where a contract has no realization, and names it', () => {
    const view = changeKnowledge(real, {
      [`${norm}/realizations/cpu-x86_64.cpp`]: null,
      [`${norm}/evidence.yaml`]: null,
    });
    const cell = cellOf(view);
    expect(cell.state).toBe('agents only');
    expect(cell.open.map(({ contract }) => contract)).toEqual(['norm.rms']);
  });

  it('is missing where agents may not write for the platform', () => {
    const view = changeKnowledge(real, { [`${norm}/realizations/cuda.cu`]: null });
    const cell = cellOf(view, { 'hardware.platform': 'cuda', 'hardware.arch': 'sm_90' });
    expect([cell.state, cell.open.map(({ contract }) => contract)]).toEqual(['missing', ['norm.rms']]);
  });

  it('is missing where a contract does not cover the model, and names the value', () => {
    const cell = cellOf(real.view, { 'model.norm': 'layer' });
    expect([cell.state, cell.says]).toEqual([
      'missing',
      expect.stringContaining('does not cover model.norm = layer; it covers rms'),
    ]);
    expect(cell.open.map(({ contract }) => contract)).toContain('norm.rms');
  });

  it('is missing where a constraint file may not ask for it, whatever knowledge holds', () => {
    const cell = cellOf(real.view, { 'numerics.weights': 'f16' });
    expect([cell.state, cell.says]).toEqual([
      'missing',
      expect.stringContaining('f16 weights on cpu-x86_64'),
    ]);
  });
});
