import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../src/plan/render-plan.ts';
import { validText, withLine } from '../constraints/read-case.ts';
import { measured, plan, unknown } from './sample-plan.ts';

describe('makePlan', () => {
  it('gives the same bytes for the same meaning, however the file is written', () => {
    const rewritten = withLine('name:', 'name: "tiny-cpu"   # the same').replace(
      'memory: 8GiB',
      'memory: 8192MiB',
    );
    expect(JSON.stringify(plan(rewritten, measured))).toBe(JSON.stringify(plan(validText, measured)));
    expect(renderPlan(plan(rewritten, measured))).toBe(renderPlan(plan(validText, measured)));
  });

  it('survives JSON without loss', () => {
    const made = plan(validText, measured);
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  });

  it('lists the files that the composer writes, code by name', () => {
    expect(plan(validText, unknown).files).toEqual([
      'CMakeLists.txt',
      'LICENSE',
      'README.md',
      'constraints.yaml',
      'config.h',
      'norm_rms.cpp',
      'norm_rms.h',
      'runtime_context.h',
      'provenance.yaml',
    ]);
  });

  it('costs nothing where knowledge covers all, and an unknown amount where it does not', () => {
    expect(plan(validText, unknown).cost).toEqual({
      ...{ modelTokens: 0, usd: 0, limitTokens: null, contracts: [] },
    });
    expect(plan(validText, unknown, ['missing']).cost).toEqual({
      ...{ modelTokens: null, usd: null, limitTokens: null, contracts: [] },
    });
  });

  it('bounds decoding by the bytes of one step and prefill by its work', () => {
    const { limit, arithmetic } = plan(validText, measured);
    // Mean context of 128 + 64 tokens: 160.5, read as 161 whole keys; one more row is written.
    expect(limit.bytesPerStep).toBe(arithmetic.weightBytesPerStep + 162 * arithmetic.kvBytesPerToken);
    expect(limit.decodeTokensPerSecond).toBeCloseTo(8e9 / limit.bytesPerStep, 9);
    expect(limit.ttftMs).toBeCloseTo((1000 * arithmetic.prefillFlops) / 50e9, 6);
    expect(limit.prefillTokensPerSecond).toBeCloseTo(128_000 / limit.ttftMs!, 9);
  });

  it('shares the weights of a step between sequences', () => {
    const text = validText
      .replace('max_batch: 1', 'max_batch: 4')
      .replace('output_tokens: 64', 'output_tokens: 64\n  concurrency: 4');
    const bandwidthOnly = { ...measured, flopsPerSecond: null };
    const [one, four] = [plan(validText, bandwidthOnly).limit, plan(text, bandwidthOnly).limit];
    expect(four.decodeTokensPerSecond).toBeGreaterThan(3.5 * one.decodeTokensPerSecond!);
    expect(four.decodeTokensPerSecond).toBeLessThan(4 * one.decodeTokensPerSecond!);
  });

  it('states no bound without a rate', () => {
    const { limit } = plan(validText, unknown);
    expect([limit.decodeTokensPerSecond, limit.prefillTokensPerSecond, limit.ttftMs]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it.each([
    ['    decode_tokens_per_second: ">= 7"', /the physical limit here is at most 6\.71 tokens\/s/],
    ['    ttft_ms_p50: "<= 2000"', /ttft_ms_p50 <= 2000: the physical limit here is at least 2,299 ms/],
    ['    peak_memory: "<= 1GB"', /at least 1\.11 GiB/],
  ])('names the goal%s that physics rules out', (line, expected) => {
    expect(plan(withLine('ttft_ms_p50:', line), measured).limit.unreachable).toEqual([
      expect.stringMatching(expected),
    ]);
  });

  it('leaves possible and relative goals alone', () => {
    const text = withLine(
      'ttft_ms_p50:',
      '    ttft_ms_p50: "<= 3000"',
      '    decode_tokens_per_second: ">= 6"',
      '    prefill_tokens_per_second: ">= 9x llama.cpp"',
    );
    expect(plan(text, measured).limit.unreachable).toEqual([]);
  });
});

describe('renderPlan', () => {
  it('reads like this', () => {
    expect(renderPlan(plan(validText, { ...measured, source: 'stated' }))).toMatchInlineSnapshot(`
      "## Plan: tiny-cpu
      Qwen/Qwen3-0.6B on cpu-x86_64 (avx2), 2 threads, bf16 weights. **Covered**: 2 contracts by 1 realization, 9 files; needs no model tokens.

      | Contract        | Version | Filled by      | Why |
      |-----------------|---------|----------------|---|
      | runtime.context | 1.0.0   | header-only    | because of runtime.context \\| and more |
      | norm.rms        | 1.0.0   | cpu-x86_64.cpp | because of norm.rms \\| and more |

      No tokenizer: this engine takes and gives token ids.

      | Memory      |         Size | From |
      |-------------|-------------:|---|
      | Weights     |     1.11 GiB | 596.0 M parameters in bf16 |
      | KV cache    |      224 MiB | 1 × 1,024 tokens × 224 KiB in f32 |
      | Activations |     15.6 MiB | one forward call |
      | **Total**   | **1.34 GiB** | 17 % of 8.00 GiB |

      | Physical limit | Work                            | Speed |
      |----------------|---------------------------------|---|
      | Decode         | 1.14 GiB and 1.23 GFLOP a token | at most 6.51 tokens/s |
      | Prefill        | 115 GFLOP for 128 tokens        | at most 55.7 tokens/s |
      | First token    | as prefill                      | at least 2,299 ms |

      With 8.00 GB/s and 50.0 GFLOP/s (stated).
      - **Cannot be met**: ttft_ms_p50 <= 2000: the physical limit here is at least 2,299 ms.
      "
    `);
  });

  it('says first what is missing', () => {
    const text = renderPlan(plan(validText, unknown, ['realization', 'missing']));
    expect(text.split('\n').slice(1, 3)).toEqual([
      'Qwen/Qwen3-0.6B on cpu-x86_64 (avx2), 2 threads, bf16 weights. **Not covered yet**; no engine can be made:',
      '- because of norm.rms | and more',
    ]);
    expect(text).toContain('No rate of this device is known');
  });

  it('says after what is missing what would cover it', () => {
    const gap = {
      missing: [{ contract: 'norm.rms', reason: 'norm.rms: no realization at all' }],
      smallest: [{ contract: 'norm.rms', need: 'realization', says: 'a realization of norm.rms' }],
      similar: [{ name: 'llama on cpu-x86_64 in f32', differs: ['numerics.weights = f32, not bf16'] }],
      write: ['`knowledge/contracts/norm-rms/realizations/x.cpp`'],
    } as const;
    const text = renderPlan({ ...plan(validText, unknown, ['realization', 'missing']), gap });
    expect(text).toContain(
      'What would cover it:\n- The least that would cover it: code for norm.rms.\n' +
        '- Covered already, and near: llama on cpu-x86_64 in f32 (numerics.weights = f32, not bf16).\n' +
        '- To write: `knowledge/contracts/norm-rms/realizations/x.cpp`',
    );
  });
});
