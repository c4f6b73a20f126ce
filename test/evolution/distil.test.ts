import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { distil } from '../../src/evolution/distil.ts';
import { renderLessons, renderLessonsTitle } from '../../src/evolution/render-lessons.ts';
import { toCommits, withLessons } from '../../src/evolution/to-commits.ts';
import { readKnowledgeFolder } from '../../src/local/evolution/knowledge-folder.ts';
import { applyEdits } from '../../src/local/sabotage.ts';
import { Evidence } from '../../src/model/contract.ts';
import { type Learnt, Lesson } from '../../src/model/lesson.ts';
import { SabotageFile } from '../../src/model/sabotage.ts';
import { knowledgeRoot } from '../../src/preparation/knowledge-base.ts';
import { catalogOf, newModes, rightText, sampleLearnt, selectIn, wrongText } from './sample-learnt.ts';

const file = 'contracts/mlp-gated/realizations/cpu-x86_64-bf16.cpp';
let learnt: Learnt;
beforeAll(async () => {
  learnt = await sampleLearnt();
});

const kindsOf = (run: Learnt) => distil(run).lessons.map(({ kind, contract }) => [kind, contract]);
const codeIn = (text: string) => text.slice(text.indexOf('#include'));
const reportIn = (run: Learnt): NonNullable<Learnt['report']> => run.report!;

describe('a passed run in which an agent wrote a contract that knowledge lacks', () => {
  it('teaches the realization, the mistake that was mended, and the device', () => {
    expect(kindsOf(learnt)).toEqual([
      ['new-realization', 'mlp.gated'],
      ['failure-mode', 'mlp.gated'],
      ['platform-fact', null],
    ]);
    const { lessons } = distil(learnt);
    expect(lessons.map((lesson) => Lesson.parse(JSON.parse(JSON.stringify(lesson))))).toEqual(lessons);
    expect(distil(learnt)).toEqual(distil(learnt));
  });

  it('gives knowledge without a fault, from which the same target is composed without an agent', () => {
    const missing = selectIn(learnt.knowledge, learnt).missing;
    expect(missing.join()).toContain('mlp.gated');
    const after = withLessons(distil(learnt).lessons, learnt.knowledge);
    const { missing: none, contracts } = selectIn(after, learnt);
    const own = contracts.find(({ contract }) => contract.frontMatter.id === 'mlp.gated');
    expect([none, own?.realization?.file]).toEqual([[], 'cpu-x86_64-bf16.cpp']);
  });

  it('keeps the code byte for byte and says who wrote it, in a comment', () => {
    const text = withLessons(distil(learnt).lessons, learnt.knowledge).get(file)!;
    expect(codeIn(text)).toBe(codeIn(rightText));
    expect(text).toMatch(/^\/\/ SPDX-License-Identifier: MIT\n\/\/ mlp\.gated: /);
    expect(text).toContain('// Written by test/model:1b');
    expect(text).toContain('\n// requires: runtime.vectors\n');
  });

  it('binds its evidence to the texts and to a report that is kept under its hash', () => {
    const after = withLessons(distil(learnt).lessons, learnt.knowledge);
    const [entry] = (parse(after.get('contracts/mlp-gated/evidence.yaml')!) as unknown[]).map((each) =>
      Evidence.parse(each),
    );
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const report = [...after].find(([path]) => path.startsWith('reports/'))!;
    expect(entry).toMatchObject({ realization: 'cpu-x86_64-bf16.cpp', report: `sha256:${hash(report[1])}` });
    expect(report[0]).toContain(hash(report[1]).slice(0, 16));
    expect(entry!.hashes.realization).toBe(hash(after.get(file)!));
    expect(JSON.parse(report[1])).toEqual(reportIn(learnt));
  });

  it('adds a mutation that turns the accepted code into the rejected one, aimed at a model that takes it', () => {
    const after = withLessons(distil(learnt).lessons, learnt.knowledge);
    const { mutations } = SabotageFile.parse(parse(after.get('sabotage.yaml')!));
    const mutation = mutations.at(-1)!;
    expect(mutation).toMatchObject({
      id: `${newModes[0]}-mlp-gated-basic`,
      realization: 'cpu-x86_64-bf16.cpp',
      checkpoint: 'text',
    });
    expect(codeIn(applyEdits(after.get(file)!, mutation))).toBe(codeIn(wrongText));
    const mode = catalogOf(after).failureModes.find(({ slug }) => slug === mutation.id);
    expect(mode?.frontMatter).toMatchObject({
      ...{ id: newModes[0], gates: ['mlp.gated#basic'], contracts: ['mlp.gated'] },
      references: [expect.stringContaining('run-1')],
    });
    expect(mode?.frontMatter.cause).toContain('linear_add(ctx, num_rows, hidden,');
  });

  it('changes other files by nothing but what is added', () => {
    for (const { writes } of toCommits(distil(learnt).lessons, learnt.knowledge)) {
      for (const { path, text } of writes) {
        const before = learnt.knowledge.get(path);
        if (before === undefined) continue;
        const lines = text!.split('\n');
        let at = -1;
        const kept = before.split('\n').every((line) => {
          at = lines.indexOf(line, at + 1);
          return at >= 0;
        });
        expect([path, kept]).toEqual([path, true]);
      }
    }
  });

  it('comes as one commit a lesson, with figures, device and the command that repeats it', () => {
    const commits = toCommits(distil(learnt).lessons, learnt.knowledge);
    expect(commits.map(({ message }) => message.split('\n')[0])).toEqual([
      'knowledge(mlp-gated): add a realization (cpu-x86_64-bf16.cpp)',
      `knowledge(failure-modes): add ${newModes[0]}-mlp-gated-basic`,
      'knowledge(platforms): record the rates of AMD EPYC',
    ]);
    expect(commits[0]!.message).toMatch(
      /decode_tokens_per_second \d+[\s\S]*AMD EPYC, 2 threads[\s\S]*--seed \d+/,
    );
  });

  it('tells people what merging changes, and files by file', () => {
    const text = renderLessons(distil(learnt), learnt.knowledge);
    expect(text).toMatch(
      /^## What merging changes\nEngines for the targets below take `mlp\.gated` from knowledge/,
    );
    expect(text).toContain(`A ${file}`);
    expect(text).toContain('M sabotage.yaml');
    expect(renderLessonsTitle(distil(learnt).lessons, 'engines/tiny')).toBe(
      'Knowledge: mlp.gated, learnt from engines/tiny',
    );
  });
});

describe('what is not taken over', () => {
  const passed = (run: Learnt) => reportIn(run).gates.map((gate) => ({ ...gate, status: 'passed' as const }));

  it.each([
    ['no report at all', () => ({ report: null }), 'was not verified'],
    [
      'a failed verdict',
      (run: Learnt) => ({ report: { ...reportIn(run), verdict: 'failed' as const } }),
      'verdict is failed',
    ],
    [
      'a gate that did not run',
      (run: Learnt) => {
        const gates = passed(run).map((gate) =>
          gate.gate === 'text' ? { ...gate, status: 'not-run' as const } : gate,
        );
        return { report: { ...reportIn(run), gates } };
      },
      'text not-run',
    ],
    [
      'sources of others in sight',
      (run: Learnt) => {
        const generation = { ...run.constraints.generation, mode: 'source-reference' as const };
        return { constraints: { ...run.constraints, generation } };
      },
      'source-reference',
    ],
    [
      'another contract by now',
      (run: Learnt) => {
        const [{ origin, ...rest }] = run.provenance as [Learnt['provenance'][number]];
        return { provenance: [{ ...rest, origin: { ...origin, contractSha256: 'f'.repeat(64) } as never }] };
      },
      'changed since',
    ],
    ['a file that no provenance names', () => ({ provenance: [] }), 'provenance'],
  ])('is code with %s', (_, change, reason) => {
    const { lessons, notes } = distil({ ...learnt, ...(change(learnt) as Partial<Learnt>) });
    expect(lessons.filter(({ kind }) => kind !== 'platform-fact')).toEqual([]);
    expect(notes.join('\n')).toContain(reason);
  });

  it('is code that shows readers another text than the compiler sees', async () => {
    const text = rightText.replace('// gate = silu', '// gate \u202e= silu');
    const { lessons, notes } = distil(await sampleLearnt({ text }));
    expect(lessons.map(({ kind }) => kind)).toEqual(['platform-fact']);
    expect(notes[0]).toContain('cannot be seen');
  });

  it('is a wider claim that the agent writes into its own comment', async () => {
    const text = rightText.replace('#include', '// applies: any\n// replaces: norm.rms\n#include');
    const after = withLessons(distil(await sampleLearnt({ text })).lessons, learnt.knowledge);
    const [realization] = catalogOf(after).contracts.find(
      ({ folder }) => folder === 'mlp-gated',
    )!.realizations;
    expect([realization!.applies['model.family'], realization!.replaces]).toEqual(['qwen3', []]);
  });

  it('is anything where knowledge holds all of it, and the record says so', async () => {
    const { texts } = await readKnowledgeFolder(knowledgeRoot());
    const run = await sampleLearnt({ knowledge: texts });
    const blank = { ...run, files: new Map(), report: { ...reportIn(run), benchmark: null } };
    expect(distil(blank)).toMatchObject({
      lessons: [],
      reasonIfNone: expect.stringMatching(/^Nothing to learn: the engine was composed/),
    });
  });

  it('is code that is there already: that is one more verified run and nothing else', async () => {
    const { texts } = await readKnowledgeFolder(knowledgeRoot());
    const { lessons } = distil(await sampleLearnt({ knowledge: texts }));
    const [first] = lessons;
    expect(first).toMatchObject({ kind: 'more-evidence', contract: 'mlp.gated' });
    const after = withLessons([first!], texts);
    const grown = after.get('contracts/mlp-gated/evidence.yaml')!;
    expect(grown.startsWith(texts.get('contracts/mlp-gated/evidence.yaml')!)).toBe(true);
    expect(toCommits([first!], after)).toEqual([]);
  });
});
