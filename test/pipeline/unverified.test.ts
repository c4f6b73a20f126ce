import { describe, expect, it } from 'vitest';
import type { AgentWork } from '../../src/model/agent-work.ts';
import { type BenchmarkOutcome, RunState, type VerificationOutcome } from '../../src/model/run.ts';
import { nothingSpent } from '../../src/model/spending.ts';
import { exitCodeOf } from '../../src/pipeline/exit-code.ts';
import { effectsOf, parseRunState, step } from '../../src/pipeline.ts';

const verification: VerificationOutcome = {
  ...{ passed: false, treeSha256: 'e0', reportPath: 'report.json', guilty: [] },
  ...{ redGates: [], notRun: ['trace', 'logits'], findings: [] },
};
const emulated: VerificationOutcome = { ...verification, passed: true, notRun: [] };
const benchmark: BenchmarkOutcome = {
  ...{ passed: false, notRun: ['bench', 'physics'] },
  goals: ['goal decode_tokens_per_second >= 100: not-measured'],
};
const agents: AgentWork = {
  ...{ round: 1, stop: null, publishedPhases: ['leaf'], optimizations: 0 },
  contracts: [
    {
      ...{ contract: 'norm.rms', phase: 'leaf', status: 'accepted', attempts: 1, totalAttempts: 1 },
      ...{ findings: [], objections: [], fileSha256: 'f'.repeat(64) },
    },
  ],
  limits: {
    ...{ attemptsPerContract: 4, rounds: 3, optimizations: 5 },
    spending: { softTokens: 1e6, hardTokens: 2e6, softUsd: null, hardUsd: null },
  },
  spent: nothingSpent,
};

function at(next: 'verify' | 'bench' | 'judge', changes: Partial<RunState> = {}): RunState {
  return RunState.parse({
    ...{ version: 1, id: 'run-1', status: 'running', next, folder: '/engines/tiny', attempt: 1 },
    input: {
      ...{ fileName: 'a.yaml', text: 'name: tiny' },
      origin: next === 'judge' ? 'github' : 'command-line',
    },
    ...(next === 'judge'
      ? {
          github: {
            ...{ branch: 'b', baseBranch: 'main', enginePath: 'engines/tiny', engineCommit: 'a' },
            ...{ pullNumber: 8, pullNodeId: 'P', requestId: 'run-1-1', workflowRunId: 9, checkRunId: 5 },
          },
        }
      : {}),
    ...changes,
  });
}

describe('a run on a machine without a device', () => {
  it('goes on to the timed gates, which have no device either, and ends as unverified with exit code 5', () => {
    const verified = step(at('verify'), { type: 'verified', outcome: verification }).state;
    expect(verified.next).toBe('bench');
    const { state } = step(verified, { type: 'benchmarked', outcome: benchmark });
    expect([state.status, state.next, state.failure, exitCodeOf(state)]).toEqual([
      ...['unverified', null, undefined, 5],
    ]);
    expect(effectsOf(state)).toEqual([{ type: 'announce-end' }]);
    expect(parseRunState(JSON.stringify(state))).toEqual(state);
  });

  it('ends so too where every other gate passed in emulation', () => {
    const { state } = step(at('bench', { verification: emulated }), {
      type: 'benchmarked',
      outcome: benchmark,
    });
    expect([state.status, exitCodeOf(state)]).toEqual(['unverified', 5]);
  });

  it('neither repairs nor tunes what no device ran, though agents wrote it', () => {
    const written = { ...at('verify'), agents };
    const verified = step(written, { type: 'verified', outcome: verification }).state;
    const { state } = step(verified, { type: 'benchmarked', outcome: benchmark });
    expect([verified.next, state.status]).toEqual(['bench', 'unverified']);
  });

  it('fails where something failed beside it, and is repaired where agents wrote that', () => {
    const red = {
      ...verification,
      redGates: ['unit'],
      guilty: ['norm.rms'],
      findings: ['unit: norm.rms: off'],
    };
    const failed = step(at('verify'), { type: 'verified', outcome: red }).state;
    expect([failed.status, failed.failure?.code, exitCodeOf(failed)]).toEqual([
      ...['failed', 'VERDICT_FAILED', 1],
    ]);
    const repaired = step({ ...at('verify'), agents }, { type: 'verified', outcome: red }).state;
    expect(repaired.next).toBe('diagnose');
    const missed = { ...verification, findings: ['goal fidelity.mean_kld <= 1e-6: missed (0.1)'] };
    expect(step(at('verify'), { type: 'verified', outcome: missed }).state.status).toBe('failed');
  });

  it('says so on GitHub first, and can be judged again there', () => {
    const outcomes = [
      { verification, benchmark: null },
      { verification: emulated, benchmark },
    ];
    for (const outcome of outcomes) {
      const judged = step({ ...at('judge'), agents }, { type: 'judged', ...outcome }).state;
      expect([judged.next, judged.ending, judged.failure]).toEqual(['conclude', 'unverified', undefined]);
      const ended = step(judged, { type: 'concluded' }).state;
      expect([ended.status, ended.next]).toEqual(['unverified', null]);
      const again = step(ended, { type: 'retried' }).state;
      expect([again.next, again.ending, again.verification, again.benchmark]).toEqual([
        ...['dispatch', undefined, undefined, undefined],
      ]);
    }
  });
});
