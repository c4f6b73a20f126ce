import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyLimit, limitBody, limitBytes } from '../../src/delivery/limit-body.ts';

const note = 'Cut here.';

describe('limitBody', () => {
  it('leaves a body that fits as it is', () => {
    const body = 'a'.repeat(bodyLimit);
    expect(limitBody(body, note)).toBe(body);
  });

  it('cuts after a paragraph outside code', () => {
    const body = `${'first\n\n'.repeat(10)}\`\`\`\n${'code\n\n'.repeat(100)}\`\`\``;
    const cut = limitBody(body, note, 120);
    expect(cut).toBe(`${'first\n\n'.repeat(10)}${note}`);
  });

  it('closes a fence and the details around it where it has to cut inside them', () => {
    const body = `<details><summary>log</summary>\n\n\`\`\`\`text\n${'line ``` of a log\n'.repeat(100)}\`\`\`\`\n\n</details>`;
    const cut = limitBody(body, note, 400);
    expect(cut.length).toBeLessThanOrEqual(400);
    expect(cut).toMatch(/line ``` of a log\n````\n\n<\/details>\n\nCut here\.$/);
  });

  it('cuts one endless line, not through a surrogate pair', () => {
    for (const limit of [100, 101]) {
      const cut = limitBody('😀'.repeat(1000), note, limit);
      expect(cut.length).toBeLessThanOrEqual(limit);
      expect(cut).not.toMatch(/\p{Cs}/u);
    }
  });

  it('never exceeds the limit and leaves nothing open, whatever the body', () => {
    const line = fc.constantFrom(
      'text',
      '',
      '```',
      '````yaml',
      '~~~',
      '<details><summary>x</summary>',
      '</details>',
      '😀😀',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 80 }), fc.integer({ min: 60, max: 300 }), (lines, limit) => {
        const cut = limitBody(lines.join('\n'), note, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        if (cut.endsWith(note)) expect(openAtEnd(cut)).toEqual({ fence: false, details: 0 });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('limitBytes', () => {
  it('keeps what GitHub counts in bytes within its limit, whatever the text', () => {
    const limited = limitBytes('宽字符 😀\n\n'.repeat(20_000), note);
    expect(Buffer.byteLength(limited)).toBeLessThanOrEqual(65_535);
    expect(Buffer.byteLength(limited)).toBeGreaterThan(50_000);
    expect(limited.endsWith(note)).toBe(true);
    expect(limitBytes('short', note)).toBe('short');
  });
});

/** Told by a reading of its own: fences as CommonMark has them, details outside them. */
function openAtEnd(text: string): { fence: boolean; details: number } {
  let fence = '';
  let details = 0;
  for (const line of text.split('\n')) {
    const mark = /^(```+|~~~+)/.exec(line)?.[1] ?? '';
    if (fence !== '') {
      if (mark !== '' && mark[0] === fence[0] && mark.length >= fence.length && line === mark) fence = '';
    } else if (mark !== '') fence = mark;
    else if (line.startsWith('<details>')) details += 1;
    else if (line === '</details>' && details > 0) details -= 1;
  }
  return { fence: fence !== '', details };
}
