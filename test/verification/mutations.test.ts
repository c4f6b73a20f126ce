import { describe, expect, it } from 'vitest';
import { stripCommentsAndStrings } from '../../src/model/cpp-text.ts';
import { applyMutation, listMutations } from '../../src/verification/mutations.ts';

const source = `#include <cmath>
// a + b stays
static_assert(1 + 1 == 2);
float norm(const float* x, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    sum += x[i] * x[i];
  }
  clear(x);
  total = sum + 1.5f;
  return "x + 1"[0] + std::sqrt(sum / n);
}
`;

describe('stripping comments and strings', () => {
  it('keeps every offset and line break', () => {
    const text = 'a /* b\n c */ "d\\" // e" f // g\n\'"\' R"x(h)" )x" 1\'000 i';
    const stripped = stripCommentsAndStrings(text);
    expect(stripped.length).toBe(text.length);
    expect(stripped.replace(/\s+/g, ' ')).toBe("a f 1'000 i");
    expect(stripped.split('\n').length).toBe(text.split('\n').length);
  });
});

describe('mechanical mutations', () => {
  const mutations = listMutations(source);
  const described = mutations.map(
    (mutation) => `${mutation.line} ${mutation.kind}: ${mutation.original} → ${mutation.replacement}`,
  );

  it('cover operators, constants, indices and statements', () => {
    expect(described).toContain('6 operator: < → <=');
    expect(described).toContain('7 operator: += → -=');
    expect(described).toContain('7 index: i → (i) + 1');
    expect(described).toContain('10 constant: 1.5f → 1.8750000f');
    expect(described).toContain('9 dropped-statement: clear(x); → ;');
    expect(described).toContain('10 dropped-statement: total = sum + 1.5f; → ;');
    expect(described).toContain('11 operator: / → *');
  });

  it('leave comments, strings, preprocessor lines, declarations and static_asserts alone', () => {
    expect(mutations.filter((mutation) => mutation.line <= 3)).toEqual([]);
    expect(described.filter((text) => text.includes('float sum'))).toEqual([]);
  });

  it('each change the text at their place only', () => {
    for (const mutation of mutations) {
      const changed = applyMutation(source, mutation);
      expect(changed).not.toBe(source);
      expect(source.slice(mutation.start, mutation.end)).toBe(mutation.original);
      expect(changed.split('\n').filter((line, index) => line !== source.split('\n')[index]).length).toBe(1);
    }
  });
});
