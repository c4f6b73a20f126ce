import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { distil } from '../../src/evolution/distil.ts';
import { matchFailureMode } from '../../src/evolution/match-failure-mode.ts';
import { withLessons } from '../../src/evolution/to-commits.ts';
import type { RepairFinding } from '../../src/model/agent-work.ts';
import type { FailureModeFrontMatter } from '../../src/model/failure-mode.ts';
import {
  account,
  agentText,
  catalogOf,
  newModes,
  rightText,
  sampleLearnt,
  unitFinding,
  wrongText,
} from './sample-learnt.ts';

const failures = (run: Awaited<ReturnType<typeof sampleLearnt>>) =>
  distil(run).lessons.filter(({ kind }) => kind.endsWith('failure-mode'));
const [wrong, right] = [agentText(wrongText, 1), agentText(rightText, 2)];
const toldBy = (source: string, more: Partial<RepairFinding> = {}): RepairFinding => ({
  ...unitFinding,
  ...{ source, message: 'the hidden state after layer 0 differs', ...more },
});

describe('a text that cost a repair', () => {
  it('is a known mistake the second time, and its entry gets one reference', async () => {
    const first = await sampleLearnt();
    const knowledge = withLessons(distil(first).lessons, first.knowledge);
    const second = await sampleLearnt({
      knowledge,
      change: { run: { id: 'run-2', engine: 'engines/tiny' } },
    });
    const [lesson, ...others] = failures(second);
    expect(others).toEqual([]);
    expect(lesson).toMatchObject({ kind: 'known-failure-mode', contract: 'mlp.gated' });
    expect(lesson!.says).toContain(`${newModes[0]}-mlp-gated-basic is the same`);
    const page = withLessons(distil(second).lessons, knowledge).get(
      `failure-modes/${newModes[0]}-mlp-gated-basic.md`,
    )!;
    expect(parse(page.split('---\n')[1]!).references).toEqual([
      expect.stringContaining('run-1'),
      expect.stringContaining('run-2'),
    ]);
  });

  it('is seen by the gates of the whole engine too: then the next attempt was told', async () => {
    const run = await sampleLearnt({
      accounts: [
        account(1, { fileSha256: wrong.sha256 }),
        account(2, { fileSha256: right.sha256, told: [toldBy('trace')], round: 2 }),
      ],
    });
    const [lesson] = failures(run);
    const page = lesson!.edits[0] as { text: string };
    expect(parse(page.text.split('---\n')[1]!)).toMatchObject({ gates: ['trace'], contracts: ['mlp.gated'] });
    catalogOf(withLessons([...distil(run).lessons], run.knowledge));
  });

  it.each([
    ['a compiler', toldBy('build')],
    ['a rule of form', toldBy('static')],
    ['a compiler in the unit gate', toldBy('unit', { message: 'mlp.gated (small) does not compile: x' })],
    ['the reviewer', toldBy('review')],
    ['a person', toldBy('person')],
    ['the form of the answer', toldBy('answer')],
  ])('is no failure mode where only %s objected', async (_, finding) => {
    const accounts = [
      account(1, { fileSha256: wrong.sha256, findings: [finding] }),
      account(2, { fileSha256: right.sha256, told: [finding] }),
    ];
    expect(failures(await sampleLearnt({ accounts }))).toEqual([]);
  });

  it('is none where no attempt came after it, or the text stayed', async () => {
    const last = [account(1, { fileSha256: wrong.sha256, findings: [unitFinding] })];
    expect(failures(await sampleLearnt({ accounts: last }))).toEqual([]);
    const same = [
      account(1, { fileSha256: right.sha256 }),
      account(2, { fileSha256: right.sha256, told: [toldBy('trace')] }),
    ];
    expect(failures(await sampleLearnt({ accounts: same }))).toEqual([]);
  });

  it('is only noted where no text is in knowledge that a mutation could break, or too much differs', async () => {
    const run = await sampleLearnt({ report: null });
    expect(distil(run).notes.join('\n')).toContain('a new mistake, but no text of this run is in knowledge');
    const anew = agentText(`${wrongText}${'static int more = 1;\n'.repeat(40)}`, 1);
    const accounts = [
      account(1, { fileSha256: anew.sha256, findings: [unitFinding] }),
      account(2, { fileSha256: right.sha256 }),
    ];
    const other = await sampleLearnt({ accounts });
    const versions = [anew, right];
    expect(distil({ ...other, papers: { ...other.papers, versions } }).notes.join('\n')).toContain(
      'differs too much',
    );
  });

  it('needs a small model that takes the realization, or the run’s own where that is small', async () => {
    const run = await sampleLearnt();
    const { notes, lessons } = distil({ ...run, checkpoints: [] });
    expect(lessons.some(({ kind }) => kind === 'failure-mode')).toBe(false);
    expect(notes.join('\n')).toContain('no small model of sabotage.yaml takes cpu-x86_64-bf16.cpp');
    const config = { config: { ...run.modelConfig } };
    const inline = { ...run, checkpoints: [], constraints: { ...run.constraints, model: config } };
    const after = withLessons(distil(inline).lessons, run.knowledge);
    const sabotage = parse(after.get('sabotage.yaml')!);
    expect(sabotage.mutations.at(-1).checkpoint).toBe('learnt-tiny');
    expect(sabotage.checkpoints['learnt-tiny']).toEqual(config);
  });

  it('stays text where its finding holds markup', async () => {
    const message =
      'mlp.gated#basic (small): ```\n# Title <img src=x> @someone closes #1 \u202e---\nid: fm-1';
    const accounts = [
      account(1, { fileSha256: wrong.sha256, findings: [{ ...unitFinding, message, got: '```\n---\n<b>' }] }),
      account(2, { fileSha256: right.sha256 }),
    ];
    const run = await sampleLearnt({ accounts });
    const [lesson] = failures(run);
    expect(lesson!.says).not.toMatch(/(?<!&#8203;)@someone|<img|#1\b/);
    const after = withLessons(distil(run).lessons, run.knowledge);
    const mode = catalogOf(after).failureModes.find(({ slug }) => slug === `${newModes[0]}-mlp-gated-basic`)!;
    expect(mode.frontMatter.id).toBe(newModes[0]);
    expect(mode.body).not.toContain('\u202e');
    expect(mode.body).toMatch(/^````?\n[\s\S]*<b>/m);
  });
});

describe('a failure mode of the library', () => {
  const mode = (id: string, more: Partial<FailureModeFrontMatter>) => ({
    frontMatter: {
      ...{ id, title: 'A norm that overwrites the residual stream', symptom: 'Residual dropped entirely' },
      ...{ cause: 'normalised row written over its input', gates: ['trace', 'mlp.gated#basic'] },
      ...{ contracts: ['mlp.gated'], references: ['x'], ...more },
    },
  });
  const signs = {
    ...{ contract: 'mlp.gated', gate: 'unit', caseId: 'basic' },
    text: 'the residual stream is dropped: the norm overwrites it, the normalised row is written over its input',
  };

  it('is recognised by contract, gate and words, and the match says by which', () => {
    expect(matchFailureMode(signs, [mode('fm-24', {})])?.because).toBe(
      'contract mlp.gated, gate mlp.gated#basic, and the words dropped, input, norm, normalised, over, overwrites, residual, stream',
    );
  });

  it.each([
    ['another contract', { contracts: ['norm.rms'] }],
    ['another gate', { gates: ['text'] }],
    [
      'other words',
      {
        title: 'Gate and up exchanged',
        symptom: 'fluent noise everywhere',
        cause: 'columns swapped somewhere',
      },
    ],
  ])('is another one for %s', (_, change) => {
    expect(matchFailureMode(signs, [mode('fm-24', change)])).toBeUndefined();
  });

  it('is the one that shares most words, and of equal ones the first by number', () => {
    const poor = mode('fm-10', {
      cause: 'something else altogether happened, unlike anything seen earlier today',
    });
    const found = matchFailureMode(signs, [mode('fm-30', {}), mode('fm-24', {}), poor]);
    expect(found?.mode.frontMatter.id).toBe('fm-24');
  });
});
