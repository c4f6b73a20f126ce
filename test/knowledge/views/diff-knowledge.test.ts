import { beforeAll, describe, expect, it } from 'vitest';
import { diffKnowledge } from '../../../src/knowledge/views/diff-knowledge.ts';
import { renderDiff } from '../../../src/knowledge/views/render-diff.ts';
import { changeKnowledge, openRealKnowledge } from './real-knowledge.ts';

let real: Awaited<ReturnType<typeof openRealKnowledge>>;
beforeAll(async () => {
  real = await openRealKnowledge();
});

const norm = 'contracts/norm-rms';
const row = 'qwen3: tied head, RoPE plain, QK norm, tokenizer gpt2';

describe('the difference of two knowledge bases', () => {
  it('is nothing between equal ones, and says so', () => {
    expect(diffKnowledge(real.view, real.view)).toEqual({
      ...{ contracts: [], facts: [], cells: [] },
      effect: expect.stringMatching(/^Nothing changed/),
    });
  });

  it('names each part that changed, and the cell that is no longer verified', () => {
    const after = changeKnowledge(real, {
      [`${norm}/contract.md`]: (text) => text.replace('version: 1.0.0', 'version: 1.0.1'),
      [`${norm}/gate.yaml`]: (text) => `${text}\n`,
      [`${norm}/reference.ts`]: (text) => `${text}\n`,
      [`${norm}/shim.cpp`]: (text) => `${text}\n`,
      [`${norm}/realizations/cuda.cu`]: (text) => `${text}\n`,
    });
    const diff = diffKnowledge(real.view, after);
    expect(diff.contracts).toEqual([
      {
        ...{ contract: 'norm.rms', change: 'changed', from: '1.0.0', to: '1.0.1' },
        parts: ['text', 'gate', 'shim', 'reference', 'cuda.cu changed'],
      },
    ]);
    expect(diff.cells).toEqual([
      { row, platform: 'cpu-x86_64', weights: 'bf16', from: 'verified', to: 'composed' },
    ]);
    expect(diff.effect).toBe(
      `One kind of engine is no longer verified, until their runs are repeated: ${row} on cpu-x86_64 in bf16. ` +
        'Engines made from now on have other code for norm.rms. ' +
        'What is right is decided otherwise, or said more sharply, for norm.rms.',
    );
    expect(renderDiff(diff)).toContain(
      'norm.rms 1.0.0 -> 1.0.1: text, gate, shim, reference, cuda.cu changed',
    );
  });

  it('counts the kinds of engine that a removed realization takes away, and gives them back', () => {
    const less = changeKnowledge(real, { 'contracts/position-rope-frequencies/realizations/yarn.cpp': null });
    const gone = diffKnowledge(real.view, less);
    expect(gone.contracts).toEqual([expect.objectContaining({ parts: ['yarn.cpp removed'] })]);
    const onCpu = gone.cells.filter(({ platform, to }) => platform === 'cpu-x86_64' && to === 'agents only');
    expect(onCpu.length).toBeGreaterThan(0);
    expect(onCpu.every(({ row: name }) => name.includes('RoPE yarn'))).toBe(true);
    expect(gone.effect).toContain('will need agents');
    expect(diffKnowledge(less, real.view).effect).toContain('can now be made without a model call');
  });

  it('tells evidence alone from a change of engines', () => {
    const after = changeKnowledge(real, {
      'contracts/text-stop/evidence.yaml': (text) => text.replace(/threads: 2/, 'threads: 3'),
    });
    const { contracts, effect } = diffKnowledge(real.view, after);
    expect(contracts).toEqual([expect.objectContaining({ contract: 'text.stop', parts: ['evidence'] })]);
    expect(effect).toBe('Requests give the same engines as before; what is recorded about them changed.');
  });

  it('names facts that changed', () => {
    const after = changeKnowledge(real, {
      'models/qwen3.yaml': (text) =>
        text.replace('max_position_embeddings: 40960', 'max_position_embeddings: 40961'),
    });
    expect(diffKnowledge(real.view, after).facts).toEqual(
      expect.arrayContaining([expect.stringMatching(/^model Qwen\/.* changed$/)]),
    );
  });
});
