import { describe, expect, it } from 'vitest';
import {
  drawUniform,
  type SamplingParams,
  sampleReference,
} from '../../knowledge/contracts/sampling-token/reference.ts';
import { cutAtStop, shownSoFar } from '../../knowledge/contracts/text-stop/reference.ts';
import { seededRandom } from './text-strings.ts';

const base: SamplingParams = { temperature: 1, topK: 0, topP: 1, minP: 0, repetitionPenalty: 1, seed: 1 };

function frequencies(logits: number[], params: Partial<SamplingParams>, draws = 20000): number[] {
  const counts = logits.map(() => 0);
  for (let step = 0; step < draws; step += 1)
    counts[sampleReference(Float64Array.from(logits), [], { ...base, ...params }, step)]! += 1;
  return counts.map((count) => count / draws);
}

/** Four standard deviations of a frequency over 20,000 draws. */
function expectFrequency(actual: number | undefined, share: number): void {
  expect(Math.abs((actual ?? Number.NaN) - share)).toBeLessThanOrEqual(
    4 * Math.sqrt((share * (1 - share)) / 20000),
  );
}

describe('the reference of sampling.token', () => {
  it('draws the published outputs of splitmix64', () => {
    expect(drawUniform(0, 0)).toBe(Number(0xe220a8397b1dcdafn >> 11n) / 2 ** 53);
    expect(drawUniform(0, 1)).toBe(Number(0x6e789e6aa1b965f4n >> 11n) / 2 ** 53);
    expect(drawUniform(0, 2)).toBe(Number(0x06c45d188009454fn >> 11n) / 2 ** 53);
  });

  it('draws each token as often as the softmax says', () => {
    const logits = [0, Math.log(2), Math.log(5), -Infinity];
    const plain = frequencies(logits, {});
    for (const [index, share] of [1 / 8, 2 / 8, 5 / 8, 0].entries()) expectFrequency(plain[index], share);
    const cold = frequencies(logits, { temperature: 0.5 });
    for (const [index, share] of [1 / 30, 4 / 30, 25 / 30, 0].entries()) expectFrequency(cold[index], share);
  });

  it('keeps the token that crosses top_p and drops the next', () => {
    const logits = [0.5, 0.3, 0.2].map(Math.log);
    expect(frequencies(logits, { topP: 0.5 }, 500)).toEqual([1, 0, 0]);
    const two = frequencies(logits, { topP: 0.51 });
    expectFrequency(two[0], 0.625);
    expect(two[2]).toBe(0);
  });

  it('drops what is less likely than min_p times the likeliest', () => {
    const logits = [0.5, 0.3, 0.2].map(Math.log);
    expect(frequencies(logits, { minP: 0.5 }, 500)[2]).toBe(0);
    expect(frequencies(logits, { minP: 0.3 }, 500)[2]).toBeGreaterThan(0);
  });

  it('penalises an id of the history once, towards less likely', () => {
    const greedy = { ...base, temperature: 0, repetitionPenalty: 2 };
    expect(sampleReference(Float64Array.from([3, 2, 1]), [0, 0], greedy, 0)).toBe(1);
    expect(sampleReference(Float64Array.from([-1, -1.5]), [0], greedy, 0)).toBe(1);
  });
});

describe('the reference of text.stop', () => {
  it('cuts where a stop string is complete first', () => {
    expect(cutAtStop('xabcdy', ['abcd', 'bc'])).toEqual({ text: 'xa', stopped: true });
    expect(cutAtStop('xabcy', ['bc', 'abc'])).toEqual({ text: 'x', stopped: true });
    expect(cutAtStop('plain', ['STOP'])).toEqual({ text: 'plain', stopped: false });
  });

  it('never shows a byte that a later byte could make part of a stop string', () => {
    const random = seededRandom(3);
    for (let round = 0; round < 2000; round += 1) {
      const draw = (length: number): string =>
        Array.from({ length }, () => 'ab'[Math.floor(random() * 2)]).join('');
      const text = draw(12);
      const stops = [draw(1 + Math.floor(random() * 4)), draw(2)];
      const whole = cutAtStop(text, stops).text;
      for (let seen = 0; seen <= text.length; seen += 1) {
        const shown = shownSoFar(text.slice(0, seen), stops);
        expect(whole.startsWith(shown) || shown.startsWith(whole)).toBe(true);
        expect(shown.length).toBeLessThanOrEqual(whole.length);
      }
    }
  });
});
