import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AblationPlan, listCells } from '../../../src/local/ablation/ablation-plan.ts';
import { type AblationTask, runAblation } from '../../../src/local/ablation/run-ablation.ts';
import { AppError } from '../../../src/model/errors.ts';
import type { RunFailure, RunState } from '../../../src/model/run.ts';
import { startRun } from '../../../src/pipeline.ts';
import { samplePlan, sampleRecord } from './sample-ablation.ts';

const plan: AblationPlan = { ...samplePlan, repeats: 2 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ablation-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function ended(task: AblationTask, failure?: Partial<RunFailure>): RunState {
  const state = startRun('run', { fileName: 'x', text: task.text, origin: 'command-line' }, task.folder);
  if (failure !== undefined) {
    const whole = {
      step: 'generate',
      code: 'VERDICT_FAILED',
      message: 'It is wrong.\nVery.',
      next: 'Look.',
    } as const;
    return { ...state, status: 'failed', next: null, failure: { ...whole, ...failure } };
  }
  const verification = { passed: true, treeSha256: '', reportPath: '', guilty: [], findings: [] };
  return { ...state, next: 'bench', verification };
}

/** Runs with what `failures` says of a run, by its name; notes which were begun. */
async function run(
  changes: {
    plan?: AblationPlan;
    failures?: Record<string, Partial<RunFailure> | Error>;
    signal?: AbortSignal;
    reports?: number[];
  } = {},
) {
  const begun: string[] = [];
  const perform = async (task: AblationTask) => {
    const name = `${task.mode}-${task.repeat}`;
    begun.push(name);
    const failure = changes.failures?.[name];
    if (failure instanceof Error) throw failure;
    return { state: ended(task, failure), record: sampleRecord(task.repeat) };
  };
  const end = runAblation(folder, changes.plan ?? plan, {
    perform,
    signal: changes.signal ?? new AbortController().signal,
    onResults: async (results) => void changes.reports?.push(results.length),
  });
  return { begun, results: await end.catch((error: Error) => error) };
}

describe('the order of the runs', () => {
  it('does every mode of a repeat before the next, a different one first each time', () => {
    expect(listCells(plan).map(({ mode, repeat }) => `${mode}-${repeat}`)).toEqual([
      'zero-reference-1',
      'knowledge-first-1',
      'source-reference-1',
      'knowledge-first-2',
      'source-reference-2',
      'zero-reference-2',
    ]);
  });
});

describe('an ablation', () => {
  it('gives every run the constraint file in its mode, and source files in one mode only', async () => {
    const texts = new Map<string, string>();
    await runAblation(
      folder,
      { ...plan, repeats: 1 },
      {
        perform: async (task) => {
          texts.set(task.mode, task.text);
          return { state: ended(task), record: undefined };
        },
        signal: new AbortController().signal,
        onResults: async () => {},
      },
    );
    expect(texts.get('zero-reference')).toContain('mode: zero-reference');
    expect(texts.get('knowledge-first')).not.toContain('norm.cpp');
    expect(texts.get('source-reference')).toMatch(/source_files:\n\s+- \/somewhere\/norm.cpp/);
  });

  it('leaves a result of every run and a report after each', async () => {
    const reports: number[] = [];
    const failures = { 'source-reference-1': {}, 'zero-reference-2': { code: 'BUDGET_EXHAUSTED' } };
    const { results } = await run({ failures, reports });
    expect(results).toMatchObject([
      { mode: 'zero-reference', end: 'passed', reason: null, sittings: 1 },
      { mode: 'knowledge-first', end: 'passed' },
      { mode: 'source-reference', end: 'failed', reason: 'It is wrong.' },
      { mode: 'knowledge-first', end: 'passed' },
      { mode: 'source-reference', end: 'passed' },
      { mode: 'zero-reference', end: 'budget' },
    ]);
    expect(reports).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('stops where the endpoint is to blame, and goes on with that run', async () => {
    const failures = { 'source-reference-1': { code: 'MODEL_UNAVAILABLE', message: 'No answer.' } };
    const first = await run({ failures });
    expect(first.results).toMatchObject({ code: 'MODEL_UNAVAILABLE', message: 'No answer.\nLook.' });
    const second = await run();
    expect(second.begun).toEqual([
      'source-reference-1',
      'knowledge-first-2',
      'source-reference-2',
      'zero-reference-2',
    ]);
    expect(second.results).toMatchObject([{}, {}, { sittings: 2 }, {}, {}, {}]);
  });

  it('takes up a run that its process died in, with the time of both', async () => {
    await run({ failures: { 'knowledge-first-1': new Error('killed') } });
    const cell = join(folder, 'runs/tiny-qwen3/knowledge-first-1');
    writeFileSync(join(cell, 'clock.json'), JSON.stringify({ sittings: 1, seconds: 100 }));
    const { results } = await run();
    if (results instanceof Error) throw results;
    expect(results[1]!.sittings).toBe(2);
    expect(results[1]!.seconds).toBeGreaterThan(100);
  });

  it('does nothing again when all is done, and more when it is asked for more repeats', async () => {
    await run();
    expect((await run()).begun).toEqual([]);
    const more = await run({ plan: { ...plan, repeats: 3 } });
    expect(more.begun).toEqual(['source-reference-3', 'zero-reference-3', 'knowledge-first-3']);
  });

  it('begins nothing once it is stopped', async () => {
    const stopped = new AbortController();
    stopped.abort();
    const { begun, results } = await run({ signal: stopped.signal });
    expect([begun, results]).toEqual([[], expect.objectContaining({ name: 'AbortError' })]);
  });
});

describe('a folder that holds something else', () => {
  const changed: readonly [string, Partial<AblationPlan>][] = [
    ['modes', { modes: ['zero-reference'] }],
    ['language model', { model: { ...plan.model, models: { implementer: 'other' } } }],
    ['files', { files: [{ ...plan.files[0]!, text: 'apiVersion: metainfer/v2\n' }] }],
    ['knowledge', { knowledgeSha256: 'c'.repeat(64) }],
    ['repeats (2 before, 1 now)', { repeats: 1 }],
  ];
  it.each(changed)('is refused with what differs: %s', async (name, change) => {
    await run();
    const before = readFileSync(join(folder, 'ablation.json'), 'utf8');
    const { begun, results } = await run({ plan: { ...plan, ...change } });
    expect(begun).toEqual([]);
    expect(results).toMatchObject({ code: 'USAGE', message: expect.stringContaining(`else: ${name}.`) });
    expect(readFileSync(join(folder, 'ablation.json'), 'utf8')).toBe(before);
  });

  it('is not written to where it holds other files', async () => {
    writeFileSync(join(folder, 'thesis.txt'), 'mine');
    const { results } = await run();
    expect(results).toMatchObject({ code: 'USAGE', message: expect.stringContaining('holds other files') });
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
  });

  it.each(['', '{', '{"schema":"metainfer/ablation/v1"}'])(
    'is refused where its plan is %j',
    async (text) => {
      writeFileSync(join(folder, 'ablation.json'), text);
      expect((await run()).results).toMatchObject({ code: 'USAGE' });
    },
  );

  it('is refused by name where a result is damaged', async () => {
    await run();
    const path = join(folder, 'runs/tiny-qwen3/zero-reference-1/result.json');
    expect(existsSync(path)).toBe(true);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 100));
    const { results } = await run();
    expect(results).toBeInstanceOf(AppError);
    expect(results).toMatchObject({ code: 'RUN_STATE_INVALID', message: expect.stringContaining(path) });
  });
});
