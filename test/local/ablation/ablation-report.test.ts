import { describe, expect, it } from 'vitest';
import type { AblationResult } from '../../../src/local/ablation/ablation-plan.ts';
import { makeAblationReport } from '../../../src/local/ablation/ablation-report.ts';
import { figures } from '../../../src/local/ablation/figures.ts';
import { plotAblation } from '../../../src/local/ablation/plot-ablation.ts';
import { renderAblation } from '../../../src/local/ablation/render-ablation.ts';
import { samplePlan, sampleRecord, sampleResult, sampleResults } from './sample-ablation.ts';

function unreal(results: readonly AblationResult[]): AblationResult[] {
  return results.map((result) =>
    result.record === null
      ? result
      : { ...result, record: { ...result.record, isRealModel: false, firstPass: null } },
  );
}

describe('a report of runs with a real model', () => {
  const report = makeAblationReport(samplePlan, sampleResults);
  const text = renderAblation(report);

  it('gives every figure as median and range over the repeats', () => {
    expect(report.basis).toBe('real-model');
    const zero = report.cells.find(({ mode }) => mode === 'zero-reference')!;
    expect(zero.figures.calls).toMatchObject({ n: 4, median: 72.5, low: 65, high: 80 });
    expect(text).toContain('| Model calls | 72.5 (65 to 80) | 0 (all alike) | 37.5 (33 to 42) |');
    expect(text).toContain('| First-pass rate | 80.0 % (all alike) | – | 80.0 % (all alike) |');
    expect(text).toContain('| unit | 2 (all alike) | 0 (all alike) | 2 (all alike) |');
  });

  it('states a saving only with the interval that shows it', () => {
    const tokens = report.comparisons.find(
      ({ mode, figure }) => mode === 'source-reference' && figure === 'tokens',
    )!;
    expect(tokens).toMatchObject({ base: 'zero-reference', says: 'less' });
    expect(tokens.interval![1]).toBeLessThan(1);
    expect(text).toContain('| Tokens in all | source-reference | 0.52 | 0.41 to 0.65 | less |');
    const fix = report.comparisons.find(({ figure }) => figure === 'repairCalls')!;
    expect(fix.says).toBe('no difference shown');
  });

  it('explains every figure that it shows', () => {
    expect(report.meanings.map(({ key }) => key)).toEqual(figures.map(({ key }) => key));
    for (const { title, meaning } of figures) expect(text).toContain(`- **${title}.** ${meaning}`);
  });

  it('says nothing of a difference below four runs', () => {
    const few = makeAblationReport(
      { ...samplePlan, repeats: 3 },
      sampleResults.filter(({ repeat }) => repeat < 4),
    );
    expect([...new Set(few.comparisons.map(({ says }) => says))]).toEqual(['too few runs']);
    expect(renderAblation(few)).toContain('Below four runs a mode no interval of 95 % exists');
  });

  it('compares no mode in which a run did not pass, and says so', () => {
    const results = sampleResults.map((result) =>
      result.mode === 'source-reference' && result.repeat === 2
        ? { ...result, end: 'failed' as const, reason: 'norm.rms was not right after 3 attempts.' }
        : result,
    );
    const failed = makeAblationReport(samplePlan, results);
    expect(failed.comparisons.some(({ mode }) => mode === 'source-reference')).toBe(false);
    const shown = renderAblation(failed);
    expect(shown).toContain(
      'source-reference is not compared, since 3 of 4 runs of source-reference passed.',
    );
    expect(shown).toContain('failed: norm.rms was not right after 3 attempts.');
    // 37.5 calls a run on average, four runs, three engines.
    expect(shown).toContain('| Tokens of all runs per engine that passed | 87,000 | 0 | 60,000 |');
  });

  it('says which runs were interrupted, and how many are still to come', () => {
    const [first, ...rest] = sampleResults;
    const shown = renderAblation(
      makeAblationReport(samplePlan, [{ ...first!, sittings: 2 }, ...rest.slice(0, 4)]),
    );
    expect(shown).toContain('| Runs finished | 5 of 12 (the rest is still to come) |');
    expect(shown).toContain('2 of 2, 1 interrupted');
    expect(shown).toContain('780.0 s in 2 sittings');
  });

  it('holds what others wrote as text', () => {
    const plan = { ...samplePlan, model: { ...samplePlan.model, models: { implementer: 'a|b`c' } } };
    const reason = 'x | ![p](http://e.example/) @somebody';
    const shown = renderAblation(
      makeAblationReport(plan, [sampleResult('zero-reference', 1, 9, { end: 'failed', reason })]),
    );
    expect(shown).not.toMatch(/!\[p\]|@somebody/);
    for (const line of shown.split('\n').filter((each) => each.includes('a\\|b')))
      expect(line).toContain('``');
  });
});

describe('a report of runs without a real model', () => {
  const report = makeAblationReport(samplePlan, unreal(sampleResults));
  const text = renderAblation(report);

  it('holds call counts and nothing that a rate or a saving could be read from', () => {
    expect(report.basis).toBe('no-real-model');
    expect(report.meanings.map(({ key }) => key)).toEqual(['calls']);
    expect([report.comparisons, report.withheld]).toEqual([[], []]);
    for (const cell of report.cells) {
      expect(Object.keys(cell.figures).filter((key) => key !== 'calls')).toEqual([]);
      expect([cell.rejections, cell.tokensPerPass]).toEqual([{}, null]);
    }
    for (const run of report.runs) expect(Object.keys(run)).not.toContain('record');
    expect(text).not.toMatch(
      /first-pass rate \||Prompt tokens|\| ratio|wall time|Wall time|Likeness|\d s\b/i,
    );
  });

  it('says so at the top, in every section of a file and in the picture', async () => {
    expect(text.split('No real model took part').length - 1).toBe(1 + samplePlan.files.length);
    expect(report.notice).toContain('call counts only');
    const svg = await plotAblation(report, 'tiny-qwen3');
    expect(svg).toContain('No real model took part: call counts only');
    expect(svg).not.toMatch(/Wall time|Tokens|First-pass/);
  });

  it('is call counts as soon as one of many runs had none', () => {
    const mixed = [...unreal(sampleResults.slice(0, 1)), ...sampleResults.slice(1)];
    expect(makeAblationReport(samplePlan, mixed).basis).toBe('no-real-model');
  });

  it('tells runs that asked no model from those of a stand-in', () => {
    const results = [1, 2].map((repeat) => sampleResult('knowledge-first', repeat, 0, { record: null }));
    const none = makeAblationReport(samplePlan, results);
    expect(none.basis).toBe('no-model-asked');
    expect(renderAblation(none)).toContain('No language model was asked in any run');
    const unasked = sampleRecord(0, { isRealModel: false });
    const beside = makeAblationReport(samplePlan, [
      sampleResult('knowledge-first', 1, 0, { record: unasked }),
      sampleResult('zero-reference', 1, 9),
    ]);
    expect(beside.basis).toBe('real-model');
  });
});

describe('the picture', () => {
  it('shows every mode and every run of the figures that there are', async () => {
    const report = makeAblationReport(samplePlan, sampleResults);
    const svg = await plotAblation(report, 'tiny-qwen3');
    for (const mode of samplePlan.modes) expect(svg).toContain(mode);
    for (const title of ['Wall time, seconds', 'Model calls', 'Tokens in all', 'First-pass rate'])
      expect(svg).toContain(title);
    expect(svg).toContain('runs that passed: zero-reference 4 of 4');
    expect(svg).not.toContain('NaN');
  });
});
