import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../src/plan/render-plan.ts';
import { measured, plan } from './sample-plan.ts';

const examples = join(import.meta.dirname, '../../knowledge/examples');
const small = readFileSync(join(examples, 'qwen3-0.6b-h200.yaml'), 'utf8');
const large = readFileSync(join(examples, 'qwen3-8b-h200.yaml'), 'utf8');
const unnamed = small.replace('  device: h200\n', '');

/** The file with one line changed. */
function change(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the file does not hold ${from}`);
  return text.replace(from, to);
}

describe('the limit of a GPU', () => {
  it('is that of the named device, and says where its rates come from', () => {
    const { limit, arithmetic, gpu } = plan(large);
    expect(limit.device).toEqual({ bytesPerSecond: 4.8e12, flopsPerSecond: 989.4e12, source: 'stated' });
    expect(gpu?.device).toEqual({ id: 'h200', name: 'NVIDIA H200', memoryBytes: 141e9 });
    // Mean context of 512 + 128 tokens: 576.5, read as 577 whole keys; one more row is written.
    expect(limit.bytesPerStep).toBe(arithmetic.weightBytesPerStep + 578 * arithmetic.kvBytesPerToken);
    expect(limit.decodeTokensPerSecond).toBeCloseTo(4.8e12 / limit.bytesPerStep, 6);
  });

  it.each([
    ['bf16', 3],
    ['f16', 5],
  ])('counts each product with a weight in %s as %i, and attention once', (format, products) => {
    const { limit, arithmetic, gpu } = plan(change(large, 'weights: bf16', `weights: ${format}`));
    const head = 151_936 * 4096;
    const matrices = 2 * ((arithmetic.matmulParameters - head) * 512 + head);
    const attention = arithmetic.prefillFlops - matrices;
    expect(gpu?.productsPerWeight).toBe(products);
    expect(limit.ttftMs).toBeCloseTo((1000 * (products * matrices + attention)) / 989.4e12, 6);
  });

  it('is unknown without a device, whose ids are told', () => {
    const made = plan(unnamed);
    expect(made.limit.device.source).toBe('unknown');
    expect(made.limit.decodeTokensPerSecond).toBeNull();
    expect(renderPlan(made)).toContain('write `hardware.device`: h100, h200;');
  });

  it('is what was measured, where something was', () => {
    const made = plan(small, measured);
    expect(made.limit.device).toEqual(measured);
    expect(made.limit.decodeTokensPerSecond).toBeCloseTo(8e9 / made.limit.bytesPerStep, 9);
    expect(renderPlan(made)).toContain('GB/s and 0.0500 TFLOP/s in bf16 (measured).');
  });

  it('is not that of the memory where the cache may hold what a step reads', () => {
    const tiny = change(small, 'id: Qwen/Qwen3-0.6B', 'id: HuggingFaceTB/SmolLM2-135M').replace(
      'max_context: 4608',
      'max_context: 1024',
    );
    // 269 MB and the cache of 50 MiB; the same on a card with 72 MiB.
    expect(plan(tiny).limit).toMatchObject({ isCached: false });
    const onCard = plan(tiny.replace('arch: sm_90\n  device: h200', 'device: rtx4090'));
    expect(onCard.limit).toMatchObject({ isCached: true, decodeTokensPerSecond: null });
    expect(onCard.limit.ttftMs).toBeGreaterThan(0);
    expect(renderPlan(onCard)).toContain('so memory bandwidth sets no limit.');
  });

  it('rules out goals that the stated bandwidth forbids', () => {
    const goal = (bound: string) => change(large, '">= 155"', `">= ${bound}"`);
    expect(plan(goal('300')).limit.unreachable).toEqual([]);
    expect(plan(goal('330')).limit.unreachable).toEqual([
      'decode_tokens_per_second >= 330: the physical limit here is at most 317 tokens/s.',
    ]);
  });
});

describe('the text of a plan for a GPU', () => {
  it('reads like this', () => {
    const labels = ['self-hosted', 'gpu'];
    expect(renderPlan(plan(small), { runnerLabels: labels })).toMatchInlineSnapshot(`
      "## Plan: qwen3-0-6b-h200
      Qwen/Qwen3-0.6B on cuda (sm_90, NVIDIA H200), 4 host threads, bf16 weights. **Covered**: 2 contracts by 1 realization, 9 files; needs no model tokens.

      | Contract        | Version | Filled by      | Why |
      |-----------------|---------|----------------|---|
      | runtime.context | 1.0.0   | header-only    | because of runtime.context \\| and more |
      | norm.rms        | 1.0.0   | cpu-x86_64.cpp | because of norm.rms \\| and more |

      No tokenizer: this engine takes and gives token ids.

      | Memory    |         Size | From |
      |-----------|-------------:|---|
      | Weights   |     1.11 GiB | 596.0 M parameters in bf16 |
      | KV cache  |     3.94 GiB | 4 × 4,608 tokens × 224 KiB in f32 |
      | Workspace |     59.7 MiB | one forward call |
      | **Total** | **5.11 GiB** | 32 % of 16.0 GiB; the device has 131 GiB |

      | Physical limit | Work                            | Speed |
      |----------------|---------------------------------|---|
      | Decode         | 1.23 GiB and 1.32 GFLOP a token | at most 3,624 tokens/s |
      | Prefill        | 481 GFLOP for 512 tokens        | at most 366,028 tokens/s |
      | First token    | as prefill                      | at least 1.40 ms |

      With 4,800 GB/s and 989 TFLOP/s in bf16 (stated; device NVIDIA H200). Activations stay f32: a product with a weight takes 3 products of bf16, so 330 TFLOP/s of such products at most.

      **On a device** only a GPU that runs its code (of those listed: h100, h200) can say whether the engine is right and how fast it is; a job for it asks for a runner with the labels \`self-hosted\`, \`gpu\`. Without one, verification compiles it, checks its sources and what its kernels use, and runs their arithmetic in host emulation; the verdict is then "not run on a device".
      "
    `);
  });

  it('names no labels where nobody knows them', () => {
    const text = renderPlan(plan(small));
    expect(text).toContain('**On a device** only a GPU that runs its code (of those listed: h100, h200)');
    expect(text).not.toContain('label');
  });

  it('says nothing of GPUs for a processor', () => {
    const cpu = readFileSync(join(examples, 'qwen3-0.6b.yaml'), 'utf8');
    expect(renderPlan(plan(cpu), { runnerLabels: ['self-hosted'] })).not.toMatch(/GPU|device\*\*|Workspace/);
  });
});
