import { describe, expect, it } from 'vitest';
import { findLeftOut, fitPrompt } from '../../../src/adapters/llm/fit-prompt.ts';

const sections = [
  { title: 'Contract', text: 'c'.repeat(100), priority: 0 },
  { title: 'Modes', text: 'm'.repeat(100), priority: 3 },
  { title: 'Platform', text: 'p'.repeat(100), priority: 1 },
  { title: 'Sources', text: 's'.repeat(300), priority: 3 },
];
const byLength = (text: string) => text.length;

describe('a prompt that has to fit', () => {
  it('holds everything in the given order where there is room', () => {
    const { text, leftOut } = fitPrompt(sections, 10_000, byLength)!;
    expect(leftOut).toEqual([]);
    expect([...text.matchAll(/^=== (\w+) ===$/gm)].map(([, title]) => title)).toEqual([
      'Contract',
      'Modes',
      'Platform',
      'Sources',
    ]);
  });

  it.each([
    [600, ['Sources']],
    [440, ['Modes', 'Sources']],
    [280, ['Modes', 'Platform', 'Sources']],
  ])(
    'in %i leaves out whole sections, highest priority number and largest first, and says which',
    (room, titles) => {
      const { text, leftOut } = fitPrompt(sections, room, byLength)!;
      expect(leftOut).toEqual(titles);
      expect(text).toContain(`not shown: ${titles.join('; ')}.`);
      expect(text.length).toBeLessThanOrEqual(room);
      expect(findLeftOut(sections, `system\n${text}\nform`)).toEqual(titles);
    },
  );

  it('is none where what must be in it does not fit', () => {
    expect(fitPrompt(sections, 100, byLength)).toBeUndefined();
  });
});
