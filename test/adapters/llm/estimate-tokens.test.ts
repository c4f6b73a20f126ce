import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import { createTokenEstimator } from '../../../src/adapters/llm/estimate-tokens.ts';

function readText(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
}

function openTokenizer(name: string): (text: string) => number {
  const json: unknown = JSON.parse(readText(`node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`));
  const tokenizer = new Tokenizer(json as ConstructorParameters<typeof Tokenizer>[0], {});
  return (text) => tokenizer.encode(text).ids.length;
}

const sorts = {
  'a contract': readText('knowledge/contracts/norm-rms/contract.md'),
  'a header': readText('knowledge/contracts/norm-rms/norm_rms.h'),
  'a test program of digits': Array.from(
    { length: 200 },
    (_, line) => `{${line * 7919}, ${line ** 3}.${line}f},`,
  ).join('\n'),
  'prose with signs beyond ASCII': 'Δ ≤ 1e-8 · 漢字 — “é” ∑ᵢ xᵢ²\n'.repeat(60),
};
const text = 'for (int i = 0; i < n; ++i) sum += x[i] * x[i];\n'.repeat(100);

describe('tokens of a prompt, estimated before anything was counted', () => {
  // One takes each digit for a token, the other joins three.
  it.each(['llama2', 'qwen3'])('are no fewer than %s makes of it', (name) => {
    const count = openTokenizer(name);
    const estimator = createTokenEstimator();
    const compared = Object.entries(sorts).map(
      ([sort, sample]) => [sort, estimator.estimate([sample]) / count(sample)] as const,
    );
    expect(compared.filter(([, ratio]) => ratio < 1 || ratio > 4)).toEqual([]);
  });

  it('are half of the letters and blanks and all of the other bytes', () => {
    const estimator = createTokenEstimator();
    expect(estimator.estimate(['abcd efgh 12.'])).toBe(5 + 3 + 16);
    expect(estimator.estimate(['漢'.repeat(100)])).toBe(300 + 16);
  });
});

describe('tokens of a prompt, once an endpoint has counted some', () => {
  it('follow the highest proportion that was reported, and a margin', () => {
    const estimator = createTokenEstimator();
    estimator.learn([text], 1300);
    estimator.learn([text], 1200);
    expect(estimator.estimate([text])).toBe(Math.ceil(1300 * 1.05) + 16);
    estimator.learn([text], 2500);
    expect(estimator.estimate([text])).toBeGreaterThanOrEqual(2500 * 1.05);
  });

  it('take no lesson from a prompt that is mostly template', () => {
    const estimator = createTokenEstimator();
    const before = estimator.estimate([text]);
    estimator.learn(['hi'], 40);
    expect(estimator.estimate([text])).toBe(before);
  });

  it('take no lesson from a count that cannot be right', () => {
    const estimator = createTokenEstimator();
    const before = estimator.estimate([text]);
    estimator.learn([text], Number.MAX_SAFE_INTEGER);
    expect(estimator.estimate([text])).toBe(before);
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
