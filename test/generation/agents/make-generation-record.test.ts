import { describe, expect, it } from 'vitest';
import {
  type GenerationTraces,
  makeGenerationRecord,
} from '../../../src/generation/agents/make-generation-record.ts';
import type { AgentFile, AgentWork, ContractAttempt } from '../../../src/model/agent-work.ts';
import type { RecordedCall } from '../../../src/model/completion-ledger.ts';
import { GenerationRecord } from '../../../src/model/generation-record.ts';
import { nothingSpent } from '../../../src/model/spending.ts';

function attempt(
  contract: string,
  number: number,
  rejectedBy: readonly string[],
  more: Partial<ContractAttempt> = {},
): ContractAttempt {
  return {
    contract,
    phase: 'operations',
    round: 1,
    number,
    outcome: rejectedBy.length === 0 ? 'accepted' : 'rejected',
    rejectedBy: [...rejectedBy],
    told: [],
    seconds: 10,
    calls: 2,
    lines: 3,
    ...more,
  };
}

function call(role: RecordedCall['role'], more: Partial<RecordedCall> = {}): RecordedCall {
  return {
    key: `${role}-${more.contract}-${more.startedAt}`,
    role,
    contract: 'norm.rms',
    phase: 'operations',
    model: role === 'reviewer' ? 'small' : 'large',
    messages: [],
    reservedTokens: 5000,
    reservedUsd: 0.5,
    startedAt: '2026-11-30T10:00:00Z',
    finished: {
      text: '',
      finishReason: 'stop',
      usage: { promptTokens: 1000, cachedTokens: 200, completionTokens: 300 },
      usd: 0.01,
      seconds: 4,
      failure: null,
    },
    ...more,
  };
}

function file(contract: string, text: string): AgentFile {
  const origin = { model: 'large', requestSha256: 'f'.repeat(64), attempt: 1 };
  return { contract, path: `${contract}.cpp`, text, sha256: `${contract}:${text.length}`, origin };
}

function workOf(files: readonly AgentFile[]): AgentWork {
  return {
    contracts: files.map(({ contract, sha256 }) => ({
      contract,
      phase: 'operations',
      status: 'accepted',
      attempts: 1,
      totalAttempts: 1,
      findings: [],
      objections: [],
      fileSha256: sha256,
    })),
    publishedPhases: [],
    round: 1,
    limits: {
      attemptsPerContract: 3,
      rounds: 2,
      optimizations: 0,
      spending: { softTokens: 1, hardTokens: 1, softUsd: null, hardUsd: null },
    },
    spent: nothingSpent,
    optimizations: 0,
    stop: null,
  };
}

function record(changes: Partial<GenerationTraces> & { attempts?: ContractAttempt[] }): GenerationRecord {
  const { attempts = [], ...traces } = changes;
  return GenerationRecord.parse(
    makeGenerationRecord({
      mode: 'zero-reference',
      work: workOf([]),
      papers: { versions: [], attempts, optimizations: [] },
      calls: [call('implementer')],
      endpoint: 'localhost:8000',
      isReal: true,
      seconds: 60,
      linesTotal: 100,
      references: [],
      similarity: () => 0,
      ...traces,
    }),
  );
}

describe('what a record says was spent', () => {
  it('is the sum of the calls, by role, phase and contract', () => {
    const { spent, byRole, byContract, models } = record({
      calls: [call('implementer'), call('reviewer'), call('diagnoser', { contract: null, phase: 'engine' })],
    });
    expect(spent).toEqual({
      calls: 3,
      promptTokens: 3000,
      cachedTokens: 600,
      completionTokens: 900,
      unreportedTokens: 0,
      usd: 0.03,
    });
    expect(Object.keys(byRole)).toEqual(['implementer', 'reviewer', 'diagnoser']);
    expect([byContract['norm.rms']!.calls, byContract.engine!.calls]).toEqual([2, 1]);
    expect(models).toEqual({ implementer: 'large', reviewer: 'small', diagnoser: 'large' });
  });

  it('takes a call for spent as reserved where it never came back or reported nothing', () => {
    const silent = { ...call('implementer').finished!, usage: null, usd: null };
    const { spent } = record({
      calls: [call('implementer', { finished: null }), call('implementer', { finished: silent })],
    });
    expect(spent).toMatchObject({ calls: 2, promptTokens: 0, unreportedTokens: 10_000, usd: 1 });
  });

  it('has no sum of money where one model has no price', () => {
    const free = { ...call('implementer').finished!, usd: null };
    const { spent } = record({ calls: [call('implementer'), call('implementer', { finished: free })] });
    expect(spent.usd).toBeNull();
  });
});

describe('the first-pass count', () => {
  const attempts = [
    attempt('a', 1, []),
    attempt('b', 1, ['unit']),
    attempt('b', 2, [], { told: ['unit'] }),
    attempt('c', 1, []),
    attempt('c', 1, [], { round: 2, told: ['logits'] }),
    attempt('d', 1, []),
    attempt('d', 1, [], { round: 2, told: ['person'] }),
  ];

  it('leaves out what a gate rejected later, and not what a person asked for', () => {
    expect(record({ attempts }).firstPass).toEqual({ accepted: 2, contracts: 4 });
  });

  it('does not exist for a stand-in, or where nothing was asked', () => {
    expect(record({ attempts, isReal: false })).toMatchObject({ firstPass: null, isRealModel: false });
    const double = { ...call('implementer').finished!, fingerprint: 'test-double/1' };
    const calls = [call('implementer', { finished: double })];
    expect(record({ attempts, calls })).toMatchObject({ firstPass: null, isRealModel: false });
    expect(record({ calls: [] })).toMatchObject({ firstPass: null, isRealModel: false, endpoint: null });
  });
});

describe('rejections and repairs', () => {
  it('count every source, also a gate that saw the whole engine', () => {
    const { rejections } = record({
      attempts: [
        attempt('a', 1, ['build', 'unit']),
        attempt('a', 2, ['answer'], { outcome: 'refused' }),
        attempt('a', 3, [], { told: ['answer'] }),
        attempt('a', 1, [], { round: 2, told: ['trace'] }),
      ],
    });
    expect(rejections).toEqual({ answer: 1, build: 1, trace: 1, unit: 1 });
  });

  it('take the attempts after the failing gate up to the next acceptance', () => {
    const { repairs } = record({
      attempts: [
        attempt('a', 1, ['unit'], { seconds: 100, calls: 9 }),
        attempt('b', 1, []),
        attempt('a', 2, ['build'], { told: ['unit'], seconds: 20, calls: 1 }),
        attempt('a', 3, [], { told: ['build'], seconds: 30, calls: 2 }),
        attempt('b', 1, [], { round: 2, told: ['logits'], seconds: 7, calls: 4 }),
      ],
    });
    expect(repairs).toEqual([
      { contract: 'a', gate: 'unit', seconds: 50, calls: 3 },
      { contract: 'b', gate: 'logits', seconds: 7, calls: 4 },
    ]);
  });

  it('leave out a contract that never came right, an unusable answer and a wish', () => {
    const { repairs } = record({
      attempts: [
        attempt('a', 1, ['unit']),
        attempt('a', 2, ['unit'], { told: ['unit'] }),
        attempt('b', 1, ['answer'], { outcome: 'refused' }),
        attempt('b', 2, [], { told: ['answer'] }),
        attempt('c', 1, []),
        attempt('c', 1, [], { round: 2, told: ['person'] }),
      ],
    });
    expect(repairs).toEqual([]);
  });
});

describe('lines and similarity', () => {
  const old = file('a', 'one\n');
  const files = [file('a', 'one\ntwo\n'), file('b', 'three')];

  it('are those of the versions that count', () => {
    const papers = { versions: [old, ...files], attempts: [], optimizations: [] };
    expect(record({ work: workOf(files), papers }).linesByAgents).toBe(3);
  });

  it('name the nearest reference of each kind for each file', () => {
    const { similarity } = record({
      work: workOf(files),
      papers: { versions: files, attempts: [], optimizations: [] },
      references: [
        { name: 'norm/avx2.cpp', kind: 'realization', text: 'x' },
        { name: 'norm/plain.cpp', kind: 'realization', text: 'two' },
        { name: 'ref/llama.cpp', kind: 'source-reference', text: 'three' },
      ],
      similarity: (text, reference) => (text.includes(reference) ? 0.5 : 0),
    });
    expect(similarity.map(({ file: path, nearest, share }) => [path, nearest, share])).toEqual([
      ['a.cpp', 'norm/plain.cpp', 0.5],
      ['a.cpp', 'ref/llama.cpp', 0],
      ['b.cpp', 'norm/avx2.cpp', 0],
      ['b.cpp', 'ref/llama.cpp', 0.5],
    ]);
  });
});
