import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { distil } from '../../src/evolution/distil.ts';
import { mergeInto, sharesContract } from '../../src/evolution/merge-lessons.ts';
import { withLessons } from '../../src/evolution/to-commits.ts';
import { applyEdits } from '../../src/local/sabotage.ts';
import type { Learnt, Lesson } from '../../src/model/lesson.ts';
import { SabotageFile } from '../../src/model/sabotage.ts';
import {
  account,
  agentText,
  catalogOf,
  newModes,
  rightText,
  sampleLearnt,
  unitFinding,
} from './sample-learnt.ts';

let first: Learnt;
let open: readonly Lesson[];
beforeAll(async () => {
  first = await sampleLearnt();
  open = distil(first).lessons;
});

const run = { id: 'run-2', engine: 'engines/other' };
/** Another text for another target, with another mistake before it. */
async function otherRun(request: object = { numerics: { weights: 'f32' } }): Promise<Learnt> {
  const text = rightText.replace('parallel_for(ctx, num_rows, 4,', 'parallel_for(ctx, num_rows, 8,');
  const [wrong, right] = [agentText(text.replace('exp_lanes(-x)', 'exp_lanes(x)'), 1), agentText(text, 2)];
  const accounts = [
    account(1, { fileSha256: wrong.sha256, findings: [unitFinding] }),
    account(2, { fileSha256: right.sha256 }),
  ];
  const learnt = await sampleLearnt({ text, accounts, request, change: { run } });
  return { ...learnt, papers: { ...learnt.papers, versions: [wrong, right] } };
}

describe('lessons that join an open knowledge pull request', () => {
  it('are those about a contract that it is about', () => {
    expect(sharesContract(open, open)).toBe(true);
    expect(
      sharesContract(
        open,
        open.map((lesson) => ({ ...lesson, contract: 'norm.rms' })),
      ),
    ).toBe(false);
    const facts = open.filter(({ contract }) => contract === null);
    expect([facts.length, sharesContract(facts, facts)]).toEqual([1, false]);
  });

  it('of the same run add nothing', () => {
    const { lessons, dropped } = mergeInto(open, open);
    expect(lessons).toEqual(open);
    expect(dropped.map(({ title }) => title)).toEqual(open.map(({ title }) => title));
  });

  it('that teach another target and another mistake come beside, with free names and numbers', async () => {
    const fresh = distil(
      await otherRun({
        numerics: { weights: 'bf16' },
        hardware: { platform: 'cpu-x86_64', arch: 'x86-64', threads: 2, memory: '2GiB' },
      }),
    );
    expect(fresh.lessons.map(({ kind }) => kind)).toContain('new-realization');
    const { lessons } = mergeInto(open, fresh.lessons);
    expect(lessons.slice(0, open.length)).toEqual(open);
    const after = withLessons(lessons, first.knowledge);
    const contract = catalogOf(after).contracts.find(({ folder }) => folder === 'mlp-gated')!;
    const own = contract.realizations.map(({ file }) => file).filter((file) => file.startsWith('cpu'));
    expect(own).toEqual(['cpu-x86_64-bf16-2.cpp', 'cpu-x86_64-bf16.cpp']);
    expect(contract.evidence.map(({ realization }) => realization)).toEqual([
      'cpu-x86_64-bf16.cpp',
      'cpu-x86_64-bf16-2.cpp',
    ]);
    for (const entry of contract.evidence) {
      const text = contract.realizations.find(({ file }) => file === entry.realization);
      expect(entry.hashes.realization).toBe(text?.sha256);
    }
  });

  it('keep a mutation true to its text when the number of its failure mode is taken', async () => {
    const other = await otherRun();
    const fresh = distil(other).lessons;
    expect(JSON.stringify(fresh)).toContain(newModes[0]);
    const { lessons, dropped } = mergeInto(open, fresh);
    const after = withLessons(lessons, first.knowledge);
    const modes = catalogOf(after).failureModes.map(({ slug }) => slug);
    expect(modes).toEqual(
      expect.arrayContaining([`${newModes[0]}-mlp-gated-basic`, `${newModes[1]}-mlp-gated-basic`]),
    );
    const { mutations } = SabotageFile.parse(parse(after.get('sabotage.yaml')!));
    const second = mutations.find(({ id }) => id === `${newModes[1]}-mlp-gated-basic`)!;
    expect(second.realization).toBe('cpu-x86_64-f32.cpp');
    const text = after.get(`contracts/mlp-gated/realizations/${second.realization}`)!;
    expect(applyEdits(text, second)).toContain('exp_lanes(x)');
    // One report, one device: known by then.
    expect(dropped.map(({ because }) => because)).toEqual(['it is in there already']);
  });

  it('that teach the same targets again stay out with what hangs on them, and are named', async () => {
    const { lessons, dropped } = mergeInto(open, distil(await otherRun({})).lessons);
    expect(lessons).toEqual(open);
    expect(dropped.map(({ because }) => because)).toEqual([
      expect.stringContaining('under review'),
      expect.stringContaining('is not taken over'),
      'it is in there already',
    ]);
  });

  it('that measure a realization stay out where the open ones delete it', async () => {
    const path = 'contracts/mlp-gated/realizations/cpu-x86_64-bf16.cpp';
    const knowledge = withLessons(open, first.knowledge);
    const [evidence] = distil(
      await sampleLearnt({ knowledge, report: { seconds: 1 }, change: { run } }),
    ).lessons;
    expect(evidence!.kind).toBe('more-evidence');
    const deleting = [{ ...open[0]!, key: 'other', edits: [{ kind: 'delete' as const, path }] }];
    expect(mergeInto(deleting, [evidence!])).toEqual({
      lessons: deleting,
      dropped: [{ title: evidence!.title, because: expect.stringContaining(path) }],
    });
  });

  it('that met the same mistake add a reference to it', async () => {
    const again = await sampleLearnt({ request: { numerics: { weights: 'f32' } }, change: { run } });
    const { lessons } = mergeInto(open, distil(again).lessons);
    const after = withLessons(lessons, first.knowledge);
    const page = after.get(`failure-modes/${newModes[0]}-mlp-gated-basic.md`)!;
    expect(parse(page.split('---\n')[1]!).references).toEqual([
      expect.stringContaining('run-1'),
      expect.stringContaining('run-2'),
    ]);
    expect([...after.keys()].some((path) => path.includes(newModes[1]))).toBe(false);
  });
});
