import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines } from '../../src/evolution/diff-lines.ts';
import { revertEdits } from '../../src/evolution/revert-edits.ts';
import { applyEdits } from '../../src/local/sabotage.ts';
import type { SabotageEntry } from '../../src/model/sabotage.ts';

const right = `// norm.rms: a comment.
#include "norm_rms.h"
float scale(float sum) { return 1.0f / std::sqrt(sum / width + eps); }
void first(float* x) {
  for (int i = 0; i < width; ++i) x[i] *= gain[i];
}
void second(float* x) {
  for (int i = 0; i < width; ++i) x[i] *= gain[i];
}
`;
const apply = (text: string, edits: SabotageEntry['edits']) =>
  applyEdits(text, { id: 'test', realization: 'x.cpp', edits } as SabotageEntry);

function roundTrip(wrong: string): SabotageEntry['edits'] {
  const found = revertEdits(right, wrong);
  expect(found).toBeDefined();
  expect(apply(right, [...found!.edits])).toBe(wrong);
  return [...found!.edits];
}

describe('the edits back to a wrong text', () => {
  it('are the words that differ and no more', () => {
    expect(roundTrip(right.replace('sum / width + eps', 'sum / width'))).toEqual([
      { find: expect.stringMatching(/^.{1,12}eps\W{0,2}$/), replace: expect.not.stringContaining('eps') },
    ]);
  });

  it('find their place once, also among lines that are the same', () => {
    const at = right.lastIndexOf('gain[i]');
    const [edit] = roundTrip(`${right.slice(0, at)}gain[0]${right.slice(at + 7)}`);
    expect(right.split(edit!.find)).toHaveLength(2);
  });

  it('put a line back that was left out, and take one away that was not there', () => {
    roundTrip(right.replace('void second', 'int unused = 0;\nvoid second'));
    roundTrip(right.replace(/^void first[\s\S]*?^}\n/m, ''));
  });

  it('are several where the text is wrong in several places', () => {
    const wrong = right.replace('1.0f /', '2.0f /').replace('void second', 'void other');
    expect(roundTrip(wrong)).toHaveLength(2);
  });

  it('say nothing of comments, and are none where nothing else differs', () => {
    expect(revertEdits(right, right.replace('a comment', 'another'))).toBeUndefined();
    const wrong = right.replace('a comment', 'another').replace('eps', '0');
    const found = revertEdits(right, wrong)!;
    expect(found.edits).toHaveLength(1);
    expect(found.places).toEqual([{ right: right.split('\n')[2], wrong: wrong.split('\n')[2] }]);
  });

  it('are none where the text was written anew', () => {
    const other = Array.from({ length: 40 }, (_, line) => `int line_${line} = ${line};`).join('\n');
    expect(revertEdits(right, `${other}\n`)).toBeUndefined();
  });

  it('are none where one of the texts does not end its last line', () => {
    const wrong = right.replace('eps', '0');
    expect(revertEdits(right, wrong.trimEnd())).toBeUndefined();
    expect(revertEdits(right.trimEnd(), wrong)).toBeUndefined();
  });

  it('come back to the wrong text whatever lines were changed, or are none', () => {
    const lines = right.split('\n');
    const change = fc.tuple(fc.nat(lines.length - 1), fc.constantFrom('', 'gain[i];', 'int k = 1;', '}'));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const wrong = [...lines];
        for (const [at, text] of changes) wrong[at] = text;
        const found = revertEdits(right, wrong.join('\n'));
        if (found === undefined) return;
        const words = (text: string) => text.replace(/\/\/.*$/gm, '').replace(/\s+/g, ' ');
        expect(words(apply(right, [...found.edits]))).toBe(words(wrong.join('\n')));
      }),
    );
  });
});

describe('the difference of two texts', () => {
  it('has a hunk for each run of other lines and none for equal texts', () => {
    expect(diffLines(['a', 'b', 'c'], ['a', 'b', 'c'])).toEqual([]);
    expect(diffLines(['a', 'b', 'c', 'd'], ['a', 'x', 'c'])).toEqual([
      { start: 1, end: 2, otherStart: 1, otherEnd: 2 },
      { start: 3, end: 4, otherStart: 3, otherEnd: 3 },
    ]);
    expect(diffLines([], ['a'])).toEqual([{ start: 0, end: 0, otherStart: 0, otherEnd: 1 }]);
  });
});
