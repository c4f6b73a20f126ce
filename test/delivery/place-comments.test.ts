import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commentableLines, placeComments } from '../../src/delivery/place-comments.ts';

const patch = [
  '@@ -1,4 +1,5 @@ int main() {',
  ' first',
  '-gone',
  '+second',
  '+third',
  ' fourth',
  ' fifth',
  '@@ -20,2 +21,3 @@',
  ' twenty-one',
  '+twenty-two',
  ' twenty-three',
  '\\ No newline at end of file',
].join('\n');
const files = [
  { path: 'engines/x/a.cpp', status: 'modified', patch },
  { path: 'engines/x/big.cpp', status: 'added' },
  { path: 'engines/x/old.cpp', status: 'removed', patch: '@@ -1 +0,0 @@\n-x' },
];
const limits = { inline: 3, fileLevel: 2 };
const note = (path: string | null, line: number | null, body = 'look') => ({ path, line, body });

describe('commentableLines', () => {
  it('counts added and unchanged lines of every hunk by their numbers in the new file', () => {
    expect([...commentableLines(patch)]).toEqual([1, 2, 3, 4, 5, 21, 22, 23]);
  });

  it('reads hunks of one line and files without any', () => {
    expect([...commentableLines('@@ -0,0 +1 @@\n+only')]).toEqual([1]);
    expect([...commentableLines('@@ -1 +0,0 @@\n-x')]).toEqual([]);
    expect([...commentableLines('')]).toEqual([]);
  });

  it('takes a line of code that looks like a hunk for what it is', () => {
    expect([...commentableLines('@@ -1,2 +1,2 @@\n @@ -9,9 +9,9 @@\n+x')]).toEqual([1, 2]);
  });
});

describe('placeComments', () => {
  it('puts a note on its line, one off the diff on its file, and one about no file aside', () => {
    const placed = placeComments(
      [note('engines/x/a.cpp', 22), note('engines/x/a.cpp', 12), note(null, null), note('README.md', 1)],
      files,
      limits,
    );
    expect(placed.inline).toEqual([{ path: 'engines/x/a.cpp', line: 22, body: 'look' }]);
    expect(placed.fileLevel).toEqual([{ path: 'engines/x/a.cpp', body: 'Line 12:\n\nlook' }]);
    expect(placed.rest).toHaveLength(2);
  });

  it('puts a note on a file whose diff GitHub does not show at file level, and on none that is gone', () => {
    const placed = placeComments([note('engines/x/big.cpp', 7), note('engines/x/old.cpp', 1)], files, limits);
    expect(placed.fileLevel).toEqual([{ path: 'engines/x/big.cpp', body: 'Line 7:\n\nlook' }]);
    expect(placed.rest).toEqual([note('engines/x/old.cpp', 1)]);
  });

  it('makes one comment of notes on the same line', () => {
    const placed = placeComments(
      [note('engines/x/a.cpp', 2, 'one'), note('engines/x/a.cpp', 2, 'two')],
      files,
      limits,
    );
    expect(placed.inline).toEqual([{ path: 'engines/x/a.cpp', line: 2, body: 'one\n\n---\n\ntwo' }]);
  });

  it('loses no note and breaks no limit, whatever the notes', () => {
    const anyNote = fc.record({
      path: fc.constantFrom(null, 'engines/x/a.cpp', 'engines/x/big.cpp', 'engines/x/old.cpp', 'other'),
      line: fc.option(fc.integer({ min: 1, max: 30 })),
      body: fc.stringMatching(/^[a-z]{12}$/),
    });
    fc.assert(
      fc.property(fc.array(anyNote, { maxLength: 30 }), (notes) => {
        const placed = placeComments(notes, files, limits);
        const said = [...placed.inline, ...placed.fileLevel, ...placed.rest]
          .map(({ body }) => body)
          .join('\n');
        for (const { body } of notes) expect(said).toContain(body);
        expect(placed.inline.length).toBeLessThanOrEqual(limits.inline);
        expect(placed.fileLevel.length).toBeLessThanOrEqual(limits.fileLevel);
        for (const { line } of placed.inline) expect(commentableLines(patch).has(line)).toBe(true);
      }),
    );
  });
});
