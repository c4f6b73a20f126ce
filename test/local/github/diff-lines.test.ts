import { describe, expect, it } from 'vitest';
import { parsePatch, placeComment, placeOfPosition } from '../../../src/local/github/diff-lines.ts';

const patch = parsePatch(
  [
    '@@ -1,4 +1,4 @@',
    ' one',
    '-two',
    '+TWO',
    ' three',
    ' four',
    '@@ -20,3 +20,4 @@ function tail() {',
    ' twenty',
    '+new',
    ' twenty-one',
    ' twenty-two',
    '\\ No newline at end of file',
  ].join('\n'),
);

function place(line: number, side: 'LEFT' | 'RIGHT' = 'RIGHT', startLine: number | null = null) {
  return placeComment(patch, { line, side, startLine, startSide: null });
}

describe('the place of a review comment in a patch', () => {
  it('counts positions from the first header and counts later headers too', () => {
    expect(place(2)).toMatchObject({ ok: true, place: { position: 3 } });
    expect(place(20)).toMatchObject({ ok: true, place: { position: 7 } });
    expect(place(21)).toMatchObject({ ok: true, place: { position: 8 } });
  });

  it('finds removed lines on the left side and added ones on the right side only', () => {
    expect(place(2, 'LEFT')).toMatchObject({ ok: true, place: { position: 2, side: 'LEFT' } });
    expect(place(21, 'LEFT')).toMatchObject({ ok: true, place: { position: 9 } });
    expect(place(23, 'LEFT')).toEqual({ ok: false, problems: ['line'] });
    expect(place(23, 'RIGHT')).toMatchObject({ ok: true });
  });

  it('refuses lines between and after the hunks', () => {
    for (const line of [5, 19, 24, 0, -1]) expect(place(line)).toEqual({ ok: false, problems: ['line'] });
  });

  it('wants the start above the line and in the same hunk', () => {
    expect(place(3, 'RIGHT', 1)).toMatchObject({ ok: true, place: { startLine: 1, startSide: 'RIGHT' } });
    expect(place(3, 'RIGHT', 3)).toEqual({ ok: false, problems: ['order'] });
    expect(place(3, 'RIGHT', 4)).toEqual({ ok: false, problems: ['order'] });
    expect(place(10, 'RIGHT', 10)).toEqual({ ok: false, problems: ['order'] });
    expect(place(21, 'RIGHT', 3)).toEqual({ ok: false, problems: ['start-line'] });
    expect(place(10, 'RIGHT', 3)).toEqual({ ok: false, problems: ['line', 'start-line'] });
  });

  it('orders a start on the other side by where it stands in the patch', () => {
    const mixed = { line: 2, side: 'RIGHT', startLine: 2, startSide: 'LEFT' } as const;
    expect(placeComment(patch, mixed)).toMatchObject({ ok: true, place: { startSide: 'LEFT' } });
    const reversed = { line: 2, side: 'LEFT', startLine: 2, startSide: 'RIGHT' } as const;
    expect(placeComment(patch, reversed)).toEqual({ ok: false, problems: ['order'] });
  });

  it('gives the hunk from its header down to the line', () => {
    expect(place(21)).toMatchObject({ diffHunk: '@@ -20,3 +20,4 @@ function tail() {\n twenty\n+new' });
  });

  it('turns a position into a line, but not one of a header', () => {
    expect(placeOfPosition(patch, 2)).toMatchObject({ line: 2, side: 'LEFT' });
    expect(placeOfPosition(patch, 3)).toMatchObject({ line: 2, side: 'RIGHT' });
    expect(placeOfPosition(patch, 6)).toBeUndefined();
    expect(placeOfPosition(patch, 11)).toBeUndefined();
  });
});
