import { describe, expect, it } from 'vitest';
import type { AgentWork, ContractWork, RepairFinding } from '../../src/model/agent-work.ts';
import type { RunEvent, RunState } from '../../src/model/run.ts';
import { nothingSpent } from '../../src/model/spending.ts';
import { generationTask } from '../../src/pipeline/agent-transitions.ts';
import { parseRunState, startRun, step } from '../../src/pipeline.ts';

const phases = { 'norm.rms': 'operations', 'linear.dense': 'operations', 'decoder.model': 'model' };
type ContractId = keyof typeof phases;

function finding(contract: string, source = 'unit'): RepairFinding {
  const place = { file: null, line: null, expected: '1', got: '2', clause: null };
  return { contract, source, message: `${contract} is wrong`, ...place };
}

function newWork(limits: Partial<AgentWork['limits']> = {}): AgentWork {
  return {
    contracts: Object.entries(phases).map(([contract, phase]): ContractWork => {
      const blank = { attempts: 0, totalAttempts: 0, findings: [], objections: [], fileSha256: null };
      return { contract, phase, status: 'open', ...blank };
    }),
    publishedPhases: [],
    round: 1,
    limits: {
      attemptsPerContract: 3,
      rounds: 2,
      optimizations: 0,
      spending: { softTokens: 800, hardTokens: 1000, softUsd: null, hardUsd: null },
      ...limits,
    },
    spent: nothingSpent,
    optimizations: 0,
    stop: null,
  };
}

function planned(origin: 'command-line' | 'github', work: AgentWork = newWork()): RunState {
  const state: RunState = {
    ...startRun('run-1', { fileName: 'a.yaml', text: 'name: tiny', origin }, '/engines/tiny'),
    next: 'plan',
  };
  const made = step(state, { type: 'plan-made', sha256: 'p0', missing: [], agents: work }).state;
  return origin === 'github' ? step(made, { type: 'announced', needsApproval: false }).state : made;
}

type Attempted = Extract<RunEvent, { type: 'contract-attempted' }>;

function attempted(
  contract: ContractId,
  outcome: Attempted['outcome'],
  more: Partial<Attempted> = {},
): Attempted {
  const findings = outcome === 'accepted' ? [] : [finding(contract)];
  const file = { fileSha256: 'f0', spent: nothingSpent, stop: null };
  return { type: 'contract-attempted', contract, outcome, findings, objections: [], ...file, ...more };
}

const allAccepted = (Object.keys(phases) as ContractId[]).map((contract) => attempted(contract, 'accepted'));
const generated: RunEvent = { type: 'engine-generated', treeSha256: 'e0', isComplete: true };

function moved(state: RunState, ...events: readonly RunEvent[]): RunState {
  return events.reduce((current, event) => step(current, event).state, state);
}

function verdict(redGates: readonly string[], guilty: readonly string[]) {
  const passed = redGates.length === 0;
  const lines = redGates.map((gate) => `${gate}: red`);
  return {
    ...{ passed, treeSha256: 'e0', reportPath: 'r.json' },
    ...{ guilty: [...guilty], redGates: [...redGates], findings: lines },
  };
}

const verified = (redGates: readonly string[], guilty: readonly string[] = []): RunEvent => ({
  type: 'verified',
  outcome: verdict(redGates, guilty),
});

const diagnosed = (...contracts: readonly string[]): RunEvent => ({
  type: 'diagnosed',
  suspects: contracts,
  findings: contracts.map((contract) => finding(contract)),
  spent: nothingSpent,
});

const workOf = (state: RunState, contract: ContractId): ContractWork =>
  state.agents!.contracts.find((entry) => entry.contract === contract)!;

describe('a run in which agents write', () => {
  it('attempts one contract at a time in dependency order, composes when none is open, and then verifies', () => {
    let state = planned('command-line');
    const asked: string[] = [];
    for (const event of allAccepted) {
      const task = generationTask(state);
      asked.push(task.kind === 'attempt' ? task.work.contract : task.kind);
      state = step(state, event).state;
      expect(state.next).toBe('generate');
    }
    expect(asked).toEqual(Object.keys(phases));
    expect(generationTask(state)).toEqual({ kind: 'compose', isComplete: true });
    state = step(state, generated).state;
    expect([state.next, state.attempt]).toEqual(['verify', 1]);
  });

  it('comes to the same state when it is saved and read again after every event', () => {
    const events = [...allAccepted, generated, verified(['logits']), diagnosed('decoder.model')];
    const direct = moved(planned('command-line'), ...events);
    const saved = events.reduce<RunState>(
      (state, event) => step(parseRunState(JSON.stringify(state)), event).state,
      planned('command-line'),
    );
    expect(saved).toEqual(direct);
  });

  it('tries a rejected contract again with the findings of the newest attempt', () => {
    const newer = { ...finding('norm.rms'), message: 'the newest' };
    const state = moved(
      planned('command-line'),
      attempted('norm.rms', 'rejected'),
      attempted('norm.rms', 'rejected', { findings: [newer] }),
    );
    expect(generationTask(state)).toMatchObject({
      kind: 'attempt',
      work: { contract: 'norm.rms', attempts: 2 },
    });
    expect(workOf(state, 'norm.rms').findings).toEqual([newer]);
  });

  it('stops at the limit of attempts, puts together what there is and says what a person can do', () => {
    const three = Array.from({ length: 3 }, () => attempted('norm.rms', 'rejected'));
    const stopped = moved(planned('command-line'), ...three);
    expect(generationTask(stopped)).toEqual({ kind: 'compose', isComplete: false });
    const state = moved(stopped, { ...generated, isComplete: false });
    expect(state).toMatchObject({ status: 'failed', failure: { code: 'VERDICT_FAILED', step: 'generate' } });
    expect(state.failure!.message).toContain('norm.rms was not right after 3 attempts');
    expect(state.failure!.message).toContain('norm.rms is wrong');
    expect(state.failure!.next).toContain('contract');
  });

  it('stops at once where the budget is used up, whatever is still open', () => {
    const stop = { reason: 'budget', message: '12 tokens are left.' };
    const state = moved(
      planned('command-line'),
      attempted('norm.rms', 'refused', { stop, fileSha256: null }),
      { ...generated, isComplete: false },
    );
    expect(state.failure).toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      message: expect.stringContaining('12 tokens'),
    });
    expect(workOf(state, 'norm.rms').status).toBe('stopped');
    expect(workOf(state, 'linear.dense').status).toBe('open');
  });

  it('finishes the phase above the soft limit and begins no other', () => {
    const spent = { ...nothingSpent, promptTokens: 900 };
    const within = moved(planned('command-line'), attempted('norm.rms', 'accepted', { spent }));
    expect(generationTask(within)).toMatchObject({ kind: 'attempt', work: { contract: 'linear.dense' } });
    const over = moved(within, attempted('linear.dense', 'accepted', { spent }));
    expect(generationTask(over)).toEqual({ kind: 'compose', isComplete: false });
    expect(over.agents!.stop).toMatchObject({ reason: 'soft-limit', contract: 'decoder.model' });
  });

  it('repairs what a whole-engine gate finds, with fresh attempts, for as many rounds as allowed', () => {
    const once = moved(planned('command-line'), ...allAccepted, generated, verified(['trace']));
    expect(once.next).toBe('diagnose');
    const reopened = moved(once, diagnosed('linear.dense'));
    expect(reopened).toMatchObject({ next: 'generate', agents: { round: 2 } });
    expect(workOf(reopened, 'linear.dense')).toMatchObject({ status: 'open', attempts: 0, totalAttempts: 1 });
    expect(workOf(reopened, 'norm.rms').status).toBe('accepted');
    const again = moved(
      reopened,
      attempted('linear.dense', 'accepted'),
      generated,
      verified(['trace'], ['linear.dense']),
    );
    expect(again).toMatchObject({ status: 'failed', failure: { step: 'verify' } });
    expect(again.failure!.next).toContain('linear.dense, which agents wrote');
  });

  it('counts a contract that only its own gates reject by attempts and not by rounds', () => {
    let state = moved(planned('github'), ...allAccepted.slice(0, 2));
    const reopened = { ...state, next: 'diagnose' as const, verification: verdict(['unit'], ['norm.rms']) };
    state = moved(reopened, diagnosed('norm.rms'));
    expect(state.agents!.round).toBe(1);
    expect(workOf(state, 'norm.rms')).toMatchObject({ status: 'open', attempts: 1 });
  });

  it('ends where the findings name only what knowledge filled', () => {
    const state = moved(
      planned('command-line'),
      ...allAccepted,
      generated,
      verified(['logits'], ['kv.cache']),
      diagnosed('kv.cache'),
    );
    expect(state).toMatchObject({ status: 'failed', failure: { step: 'diagnose' } });
    expect(state.failure!.next).toContain('kv.cache');
  });

  it('publishes each phase on GitHub before the next begins, and dispatches after the last', () => {
    const trail = {
      branch: 'b',
      baseBranch: 'main',
      enginePath: 'e',
      engineCommit: 'c',
      pullNumber: 1,
      pullNodeId: 'n',
    };
    const published: RunEvent = { type: 'published', trail };
    const first = moved(planned('github'), ...allAccepted.slice(0, 2));
    expect(generationTask(first)).toEqual({ kind: 'compose', isComplete: false });
    const out = moved(first, { ...generated, isComplete: false });
    expect([out.next, out.agents!.publishedPhases]).toEqual(['publish', ['operations']]);
    const second = moved(out, published);
    expect(second.next).toBe('generate');
    expect(generationTask(second)).toMatchObject({ kind: 'attempt', work: { contract: 'decoder.model' } });
    const last = moved(second, attempted('decoder.model', 'accepted'));
    expect(generationTask(last)).toEqual({ kind: 'compose', isComplete: true });
    expect(moved(last, generated, published).next).toBe('dispatch');
  });

  it('leaves the best state on the branch when it stops, and then says so', () => {
    const stop = { reason: 'budget', message: 'used up' };
    const trail = {
      branch: 'b',
      baseBranch: 'main',
      enginePath: 'e',
      engineCommit: 'c',
      pullNumber: 1,
      pullNodeId: 'n',
    };
    const state = moved(
      planned('github'),
      attempted('norm.rms', 'refused', { stop }),
      { ...generated, isComplete: false },
      { type: 'published', trail },
    );
    expect(state).toMatchObject({
      next: 'conclude',
      ending: 'failed',
      failure: { code: 'BUDGET_EXHAUSTED' },
    });
  });

  it('takes up what was not accepted with fresh attempts when it is retried', () => {
    const three = Array.from({ length: 3 }, () => attempted('norm.rms', 'rejected'));
    const failed = moved(planned('command-line'), ...three, { ...generated, isComplete: false });
    const state = moved(failed, { type: 'retried' });
    expect(state).toMatchObject({ status: 'running', next: 'generate', agents: { stop: null } });
    expect(workOf(state, 'norm.rms')).toMatchObject({ status: 'open', attempts: 0, totalAttempts: 3 });
  });

  it("takes a person's wish as a finding of its contract, on an ended run of agents only", () => {
    const done = { ...planned('github'), status: 'passed' as const, next: null };
    const ended = {
      ...done,
      agents: {
        ...done.agents!,
        contracts: done.agents!.contracts.map((entry) => ({ ...entry, status: 'accepted' as const })),
      },
    };
    const wish = finding('norm.rms', 'person');
    const state = moved(ended, { type: 'fix-requested', findings: [wish] });
    expect(state).toMatchObject({ status: 'running', next: 'generate' });
    expect(workOf(state, 'norm.rms')).toMatchObject({ status: 'open', findings: [wish] });
    expect(() => step(ended, { type: 'fix-requested', findings: [finding('kv.cache')] })).toThrow();
    expect(() => step(planned('github'), { type: 'fix-requested', findings: [wish] })).toThrow();
  });

  it('asks the optimizer after the benchmark as often as allowed, and keeps what is better', () => {
    const timed: RunEvent = { type: 'benchmarked', outcome: { passed: false, goals: ['too slow'] } };
    const start = planned('command-line', newWork({ optimizations: 2 }));
    const bench = moved(start, ...allAccepted, generated, verified([]), timed);
    expect(bench.next).toBe('optimize');
    const dropped = moved(bench, { type: 'optimized', kept: null, spent: nothingSpent, isLast: false });
    expect(dropped.next).toBe('optimize');
    const kept = {
      contract: 'norm.rms',
      fileSha256: 'f1',
      treeSha256: 'e1',
      verification: { ...verdict([], []), treeSha256: 'e1' },
      benchmark: { passed: true, goals: [] },
    };
    const state = moved(dropped, { type: 'optimized', kept, spent: nothingSpent, isLast: false });
    expect(state).toMatchObject({ status: 'passed', engineTreeSha256: 'e1' });
    expect(workOf(state, 'norm.rms').fileSha256).toBe('f1');
  });
});
