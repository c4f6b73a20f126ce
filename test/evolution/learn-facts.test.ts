import { beforeAll, describe, expect, it } from 'vitest';
import { distil } from '../../src/evolution/distil.ts';
import { withLessons } from '../../src/evolution/to-commits.ts';
import type { AttemptAccount } from '../../src/model/agent-work.ts';
import type { Learnt } from '../../src/model/lesson.ts';
import { account, catalogOf, sampleLearnt, unitFinding } from './sample-learnt.ts';

let learnt: Learnt;
beforeAll(async () => {
  learnt = await sampleLearnt();
});
const lessonsOf = (run: Learnt, kind: string) => distil(run).lessons.filter((lesson) => lesson.kind === kind);

describe('a model that was given by its config.json alone', () => {
  const config = () => ({ ...learnt.modelConfig, hidden_size: 192 });
  const inline = (more: Partial<Learnt> = {}): Learnt => ({
    ...learnt,
    constraints: { ...learnt.constraints, model: { config: config() } },
    facts: { ...learnt.facts, hiddenSize: 192 },
    modelConfig: config(),
    ...more,
  });

  it('is listed by its family under a name of its own, once its engine passed', () => {
    const [lesson, ...others] = lessonsOf(inline(), 'model-fact');
    expect(others).toEqual([]);
    const catalog = catalogOf(withLessons([lesson!], learnt.knowledge));
    const model = catalog.models.find(({ id }) => id === 'inline/tiny')!;
    expect(model).toMatchObject({ family: 'qwen3', config: { hidden_size: 192 } });
    expect(model.tokenizer.model).toBe('none');
    expect(lessonsOf(inline({ report: { ...learnt.report!, verdict: 'failed' } }), 'model-fact')).toEqual([]);
  });

  it('is not listed where knowledge has its numbers already, under whatever name', () => {
    const known = catalogOf(withLessons(lessonsOf(inline(), 'model-fact'), learnt.knowledge));
    expect(lessonsOf(inline({ catalog: known }), 'model-fact')).toEqual([]);
  });

  it('is not listed where a key that changes numbers is explained nowhere', () => {
    const families = learnt.catalog.families.map((family) => ({
      ...family,
      configKeys: Object.fromEntries(Object.entries(family.configKeys).filter(([key]) => key !== 'head_dim')),
    }));
    const { notes, lessons } = distil(inline({ catalog: { ...learnt.catalog, families } }));
    expect(lessons.some(({ kind }) => kind === 'model-fact')).toBe(false);
    expect(notes.join('\n')).toContain('does not explain');
  });
});

describe('the rates of a device', () => {
  it('are kept with the report that measured them, once for a device and a number of threads', () => {
    const [lesson] = lessonsOf(learnt, 'platform-fact');
    const after = withLessons([lesson!], learnt.knowledge);
    const { measured } = catalogOf(after).platforms.find(({ id }) => id === 'cpu-x86_64')!;
    expect(measured).toEqual([
      expect.objectContaining({ device: 'AMD EPYC', threads: 2, report: expect.stringMatching(/^sha256:/) }),
    ]);
    expect(measured![0]!.read_gb_per_s).toBeGreaterThan(1);
    expect([...after.keys()].filter((path) => path.startsWith('reports/'))).toHaveLength(1);
    expect(lessonsOf({ ...learnt, catalog: catalogOf(after) }, 'platform-fact')).toEqual([]);
  });

  it('are no lesson of a run that measured nothing', () => {
    expect(lessonsOf({ ...learnt, report: { ...learnt.report!, benchmark: null } }, 'platform-fact')).toEqual(
      [],
    );
  });
});

describe('a statement that a contract lacks', () => {
  const withAccounts = (...accounts: AttemptAccount[]): Learnt => ({
    ...learnt,
    papers: { ...learnt.papers, accounts },
  });
  const gap = (clause: string, reason: string) => ({ unstated: [{ clause, reason }] });

  it('is proposed with what was said of it, and makes the next minor version', () => {
    const run = withAccounts(
      account(1, gap('edges:2', 'what a row of zeros gives')),
      account(2, gap('edges:2', 'the sign of zero <b>')),
    );
    const [lesson, ...others] = lessonsOf(run, 'clarification');
    expect(others).toEqual([]);
    expect(lesson!.says).toContain('Version 1.0.0 becomes 1.1.0');
    const after = withLessons([lesson!], learnt.knowledge);
    const contract = catalogOf(after).contracts.find(({ folder }) => folder === 'mlp-gated')!;
    expect(contract.frontMatter.version).toBe('1.1.0');
    const edges = /## Edges\n(.*)/.exec(contract.body)![1]!;
    expect(edges).toMatch(/attempts 1 and 2\): "what a row of zeros gives"; "the sign of zero &lt;b>"$/);
  });

  it.each([
    ['it was missed once only', [account(1, gap('edges:2', 'x')), account(2, gap('edges:3', 'y'))]],
    [
      'one attempt missed it twice',
      [
        account(1, {
          unstated: [
            { clause: 'a', reason: 'x' },
            { clause: 'a', reason: 'y' },
          ],
        }),
      ],
    ],
    [
      'gates name the clause that is broken',
      [account(1, { findings: [unitFinding] }), account(2, { findings: [unitFinding] })],
    ],
    [
      'the answers had no usable form',
      [1, 2].map((number) =>
        account(number, { findings: [{ ...unitFinding, source: 'answer', clause: null }] }),
      ),
    ],
  ])('is not proposed where %s', (_, accounts) => {
    expect(lessonsOf(withAccounts(...accounts), 'clarification')).toEqual([]);
  });

  it('shows in objections of the reviewer to one clause, and in findings that no clause explains', () => {
    const objection = { ...unitFinding, source: 'review', expected: 'clause steps:1 holds' };
    const blind = { ...unitFinding, source: 'edges', clause: null };
    const twice = [1, 2].map((number) => account(number, { findings: [objection, blind] }));
    const keys = lessonsOf(withAccounts(...twice), 'clarification').map(({ key }) => key);
    expect(keys).toEqual(['clarify mlp.gated steps:1', 'clarify mlp.gated no clause (edges)']);
  });
});

describe('a faster realization', () => {
  const attempt = {
    contract: 'mlp.gated',
    number: 1,
    reason: null,
    metric: 'decode_tokens_per_second',
  } as const;
  const optimized = (more: Partial<Learnt> = {}): Learnt => {
    const optimizations = [
      { ...attempt, outcome: 'kept' as const, ratio: 1.1, spread: 0.02 },
      { ...attempt, number: 2, outcome: 'dropped' as const, ratio: 0.9, spread: 0.02 },
    ];
    return { ...learnt, papers: { ...learnt.papers, accounts: [], optimizations }, ...more };
  };

  it('comes with what it gained beside the engine before', () => {
    const [lesson] = lessonsOf(optimized(), 'better-realization');
    const evidence = lesson!.edits.find((edit) => edit.kind === 'add-evidence')!;
    expect(evidence.entry.figures).toMatchObject({ optimizer_ratio: 1.1, optimizer_spread: 0.02 });
    expect(lesson!.commit).toContain('optimizer_ratio 1.1');
    expect(lesson!.says).toContain('1.1 ± 0.02 times the engine before, side by side');
  });

  it('takes the place of the one that it was measured beside only where nothing speaks for that one', async () => {
    const knowledge = withLessons(lessonsOf(learnt, 'new-realization'), learnt.knowledge);
    const faster = learnt.files.get('mlp.gated')!.text.replace('x / (1.0f', 'x * 1.0f / (1.0f');
    const run = optimized({
      ...(await sampleLearnt({ knowledge, text: faster })),
      papers: optimized().papers,
    });
    const [lesson] = lessonsOf(run, 'better-realization');
    const old = 'contracts/mlp-gated/realizations/cpu-x86_64-bf16.cpp';
    expect(lesson!.edits).toContainEqual({ kind: 'delete', path: old });
    expect(lesson!.says).toContain('**`cpu-x86_64-bf16.cpp` is deleted**');
    const after = withLessons([lesson!], knowledge);
    const contract = catalogOf(after).contracts.find(({ folder }) => folder === 'mlp-gated')!;
    expect(contract.realizations.map(({ file }) => file)).toContain('cpu-x86_64-bf16-2.cpp');
    expect(contract.evidence.map(({ realization }) => realization)).toEqual(['cpu-x86_64-bf16-2.cpp']);
    // A mutation that is about the older text keeps it.
    const aimed = withLessons(distil(learnt).lessons, learnt.knowledge);
    const kept = optimized({
      ...(await sampleLearnt({ knowledge: aimed, text: faster })),
      papers: optimized().papers,
    });
    const [other] = lessonsOf(kept, 'better-realization');
    expect([other!.edits.some(({ kind }) => kind === 'delete'), other!.says]).toEqual([
      false,
      expect.stringContaining('stays for now'),
    ]);
  });
});
