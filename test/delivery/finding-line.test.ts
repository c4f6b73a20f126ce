import { describe, expect, it } from 'vitest';
import { lineOf } from '../../src/delivery/findings.ts';
import { failedState, sampleEngine, sampleFinding, sampleView } from './sample-run.ts';

describe('the line that a finding is shown at', () => {
  const view = sampleView(failedState('VERDICT_FAILED', 'no', { engineTreeSha256: 'a'.repeat(64) }));
  const linesOf = (path: string) => sampleEngine.files.find((file) => file.path === path)!.text.split('\n');
  const wrong = { ...sampleFinding, gate: 'unit', file: null, line: null } as const;

  it('is its own, where it has one', () => {
    expect(lineOf(view, { ...sampleFinding, gate: 'build', line: 12 })).toBe(12);
  });

  it("is the definition of the contract's function, where running code was wrong", () => {
    for (const [file, definition] of [
      ['attention_core.cpp', 'void attention('],
      ['norm_rms.cpp', 'void rms_norm('],
      ['decoder_model.cpp', 'void forward('],
      ['linear_dense.cpp', 'void linear('],
      ['position_rope_frequencies.cpp', 'rope_frequencies('],
      ['text_tokenizer.cpp', 'load_tokenizer('],
    ] as const) {
      const line = lineOf(view, { ...wrong, contract: 'some.contract', file });
      expect.soft(linesOf(file)[line! - 1], file).toContain(definition);
    }
  });

  it('is none, where the text is at fault as a whole, the file is not of this engine, or it names no contract', () => {
    const at = { ...wrong, contract: 'norm.rms', file: 'norm_rms.cpp' } as const;
    expect(lineOf(view, at)).not.toBeNull();
    expect(lineOf(view, { ...at, gate: 'build' })).toBeNull();
    expect(lineOf(view, { ...at, gate: 'static' })).toBeNull();
    expect(lineOf(view, { ...at, file: 'other.cpp' })).toBeNull();
    expect(lineOf(view, { ...at, contract: null })).toBeNull();
  });
});
