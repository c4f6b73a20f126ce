import { describe, expect, it } from 'vitest';
import { createTokenEstimator } from '../../../src/adapters/llm/estimate-tokens.ts';
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

describe('tokens of a prompt, estimated', () => {
  const text = 'for (int i = 0; i < n; ++i) sum += x[i] * x[i];\n'.repeat(100);

  it('are half of the bytes at first, and each byte beyond ASCII is one', () => {
    const estimator = createTokenEstimator();
    expect(estimator.estimate([text])).toBe(text.length / 2 + 16);
    expect(estimator.estimate(['漢'.repeat(100)])).toBe(300 + 16);
  });

  it('follow the highest ratio that was reported, and a margin', () => {
    const estimator = createTokenEstimator();
    estimator.learn([text], 1300);
    estimator.learn([text], 1200);
    expect(estimator.estimate([text])).toBe(Math.ceil(1300 * 1.05) + 16);
    estimator.learn([text], 2500);
    expect(estimator.estimate([text])).toBeGreaterThanOrEqual(2500 * 1.05);
  });

  it('take no lesson from a prompt that is mostly template', () => {
    const estimator = createTokenEstimator();
    estimator.learn(['hi'], 40);
    expect(estimator.estimate([text])).toBe(text.length / 2 + 16);
  });

  it('show where an endpoint cut the prompt, and where it did not count what was cached', () => {
    const estimator = createTokenEstimator();
    expect(estimator.judge([text], 1200)).toBe('plausible');
    expect(estimator.judge([text], 400)).toBe('cut');
    estimator.learn([text.repeat(4)], 4800);
    expect(estimator.judge([text.repeat(4)], 1000)).toBe('partial');
    expect(estimator.judge([text.repeat(20)], 4096)).toBe('cut');
  });
});
