import type { AblationPlan, AblationResult } from '../../../src/local/ablation/ablation-plan.ts';
import type { GenerationRecord } from '../../../src/model/generation-record.ts';
import { nothingSpent } from '../../../src/model/spending.ts';

export const samplePlan: AblationPlan = {
  schema: 'metainfer/ablation/v1',
  files: [
    {
      name: 'tiny-qwen3',
      path: '/somewhere/tiny-qwen3.yaml',
      text: 'apiVersion: metainfer/v1\n',
      sources: [{ path: '/somewhere/norm.cpp', sha256: 'a'.repeat(64) }],
    },
  ],
  modes: ['zero-reference', 'knowledge-first', 'source-reference'],
  repeats: 4,
  model: {
    endpoint: 'localhost:8000',
    models: { implementer: 'large', reviewer: 'small' },
    settings: { temperature: 0.7, review: true },
  },
  knowledgeSha256: 'b'.repeat(64),
  programVersion: '0.1.0',
};

/** A record with `calls` calls of 1,000 prompt and 200 output tokens each. */
export function sampleRecord(calls: number, more: Partial<GenerationRecord> = {}): GenerationRecord {
  const spent = {
    ...nothingSpent,
    calls,
    promptTokens: calls * 1000,
    completionTokens: calls * 200,
    usd: calls * 0.004,
  };
  return {
    mode: 'zero-reference',
    models: { implementer: 'large' },
    endpoint: 'localhost:8000',
    isRealModel: true,
    seconds: calls * 10,
    spent,
    byRole: { implementer: spent },
    byPhase: {},
    byContract: {},
    attempts: [],
    firstPass: { accepted: 20, contracts: 25 },
    rejections: { unit: 2 },
    repairs: [{ contract: 'norm.rms', gate: 'unit', seconds: 12, calls: 2 }],
    linesByAgents: 1500,
    linesTotal: 2000,
    similarity: [{ file: 'norm_rms.cpp', nearest: 'norm/avx2.cpp', kind: 'realization', share: 0.1 }],
    optimizations: [],
    ...more,
  };
}

export function sampleResult(
  mode: AblationResult['mode'],
  repeat: number,
  calls: number,
  more: Partial<AblationResult> = {},
): AblationResult {
  return {
    schema: 'metainfer/ablation-run/v1',
    file: 'tiny-qwen3',
    mode,
    repeat,
    end: 'passed',
    reason: null,
    seconds: calls * 12,
    sittings: 1,
    record: sampleRecord(calls),
    ...more,
  };
}

/** Four runs a mode: knowledge-first asks nothing, source-reference asks about half as much. */
export const sampleResults: readonly AblationResult[] = [1, 2, 3, 4].flatMap((repeat) => [
  sampleResult('zero-reference', repeat, 60 + 5 * repeat),
  sampleResult('knowledge-first', repeat, 0, { seconds: 40 + repeat, record: null }),
  sampleResult('source-reference', repeat, 30 + 3 * repeat),
]);
