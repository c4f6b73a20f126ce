import { describe, expect, it } from 'vitest';
import { fingerprint, similarity } from '../../src/model/winnowing.ts';

const loop = `static float sum_row(const float* x, int64_t n) {
  vecf sums[2] = {};
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    sums[0] += load(x + i) * load(x + i);
    sums[1] += load(x + i + lanes) * load(x + i + lanes);
  }
  return sum_lanes(sums[0] + sums[1]);
}
`;
const parser = `static Json parse_value(Reader& reader) {
  switch (reader.peek()) {
    case '{': return parse_object(reader);
    case '[': return parse_array(reader);
    default: return parse_number(reader);
  }
}
`;

describe('winnowing', () => {
  it('finds a text in itself, however it is laid out and commented', () => {
    const other = loop
      .replace(/\n\s*/g, '\n\t\t')
      .replace('int64_t i = 0;', '// from the start\nint64_t i = 0;');
    expect(similarity(loop, other)).toBe(1);
  });

  it('sees nothing in common between texts that share words only', () => {
    expect(similarity(loop, parser)).toBe(0);
  });

  it('finds every run of 19 tokens wherever it stands', () => {
    const words = Array.from({ length: 19 }, (_, index) => `word${index}`).join(' ');
    for (const [before, after] of [
      ['a b c', 'd'],
      ['', 'x y z w'],
      ['p q r s t u v', ''],
    ]) {
      const around = `${before} ${words} ${after}`;
      const shared = [...fingerprint(around)].filter((hash) => fingerprint(words).has(hash));
      expect(shared.length).toBeGreaterThan(0);
    }
  });

  it('never finds a run shorter than 12 tokens', () => {
    const words = Array.from({ length: 11 }, (_, index) => `word${index}`).join(' ');
    const left = `a1 a2 a3 a4 a5 a6 a7 a8 a9 ${words} b1 b2 b3 b4 b5 b6 b7 b8 b9`;
    const right = `c1 c2 c3 c4 c5 c6 c7 c8 c9 ${words} d1 d2 d3 d4 d5 d6 d7 d8 d9`;
    expect(similarity(left, right)).toBe(0);
  });

  it('measures the share of the first text', () => {
    const both = `${loop}${parser}`;
    expect(similarity(loop, both)).toBeGreaterThan(0.8);
    const share = similarity(both, loop);
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.8);
  });

  it('tells a renamed text from a copied one', () => {
    expect(similarity(loop.replaceAll('sums', 'partial'), loop)).toBeLessThan(0.6);
  });

  it('leaves out what both had to begin from', () => {
    expect(similarity(`${loop}${parser}`, loop, loop)).toBeLessThan(0.1);
    expect(similarity('int x;', 'int x;')).toBe(0);
    expect(similarity('', loop)).toBe(0);
  });
});
