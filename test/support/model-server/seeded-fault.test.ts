import { describe, expect, it } from 'vitest';
import type { RepairFinding } from '../../../src/model/agent-work.ts';
import type { SelectedContract } from '../../../src/model/catalog.ts';
import { SabotageEntry } from '../../../src/model/sabotage.ts';
import type { Question } from './question.ts';
import type { Reply } from './reply.ts';
import { faultyFirst, renderFaultTable } from './seeded-fault.ts';

const entry = SabotageEntry.parse({
  ...{ id: 'eps-forgotten', says: 'the epsilon is left out', contract: 'norm.rms', checkpoint: 'text' },
  ...{ realization: 'cpu.cpp', edits: [{ find: ' + eps', replace: '' }] },
});
const right = '// SPDX\n// applies: any\nreturn x + eps;\n';
const selected = {
  contract: { header: { name: 'norm_rms.h' }, realizations: [{ file: 'cpu.cpp', text: right }] },
} as unknown as SelectedContract;

const sufficient: RepairFinding = {
  ...{ contract: 'norm.rms', source: 'unit', file: 'norm_rms.cpp', line: null },
  message: 'another value than the reference',
  ...{ expected: '0.5 (output out, case basic, index 3)', got: '0.7' },
  clause: 'invariant eps-inside: eps is added to the mean',
};

function asked(...findings: readonly RepairFinding[]): Question {
  const lines = findings.map((finding) => JSON.stringify(finding)).join('\n');
  const section = lines === '' ? '' : `=== Findings ===\n\n${lines}\n\n`;
  const prompt = `role: implementer\n\n=== The contract ===\n\ncontract: norm.rms\n\n${section}=== The file to write ===\n\nx`;
  return { prompt } as Question;
}

function model() {
  const fault = faultyFirst(entry);
  const { reply } = fault;
  if (typeof reply !== 'function') throw new Error('the reply depends on the question');
  const answer = async (question: Question) => textOf(await reply(question, right, selected));
  return { fault, answer };
}

function textOf(reply: Reply): string {
  return reply.kind === 'files' ? reply.files[0]!.text : reply.kind;
}

describe('a model with a seeded fault', () => {
  it('makes its mistake until a finding names contract, gate and place, and is right from then on', async () => {
    const { fault, answer } = model();
    expect(await answer(asked())).toBe('// SPDX\nreturn x;\n');
    expect(await answer(asked(sufficient))).toBe(right);
    expect(await answer(asked())).toBe(right);
    expect(fault.prompts.map((prompt) => prompt.answer)).toEqual(['faulty', 'right', 'right']);
  });

  it.each<[string, Partial<RepairFinding>]>([
    ['is about another contract', { contract: 'position.rope' }],
    ['comes from no gate', { source: 'review', line: 3 }],
    ['has no place', { expected: '0.5', line: null }],
  ])('is not helped by a finding that %s', async (_, change) => {
    const { fault, answer } = model();
    expect(await answer(asked({ ...sufficient, ...change }))).toBe('// SPDX\nreturn x;\n');
    expect(fault.prompts[0]!.shown[0]!.lacks).toHaveLength(1);
  });

  it('keeps a record of what findings lacked, and shows it in a table', async () => {
    const { fault, answer } = model();
    await answer(asked());
    await answer(asked(sufficient, { ...sufficient, clause: null, got: null }));
    expect(renderFaultTable([fault])).toMatchInlineSnapshot(`
      "| mistake | contract | attempts | told by | sufficient findings | lacking |
      | --- | --- | --- | --- | --- | --- |
      | eps-forgotten | norm.rms | 2 | unit | 1/2 | expected and got, clause |"
    `);
  });

  it('believes a compiler that names file and line', async () => {
    const { fault, answer } = model();
    const words = { source: 'build', line: 12, message: "'sum' was not declared", expected: null, got: null };
    expect(await answer(asked({ ...sufficient, ...words }))).toBe(right);
    expect(fault.prompts[0]!.shown[0]!.lacks).toEqual([]);
  });
});
