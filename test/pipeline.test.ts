import { describe, expect, it } from 'vitest';
import type { Constraints } from '../src/model/constraints.ts';
import type { RunEvent, RunState } from '../src/model/run.ts';
import { exitCodeOf } from '../src/pipeline/exit-code.ts';
import { effectsOf, parseRunState, startRun, step } from '../src/pipeline.ts';

const constraints = {
  apiVersion: 'metainfer/v1',
  name: 'tiny',
  model: { id: 'Qwen/Qwen3-0.6B' },
  weights: { source: 'synthetic', seed: 7 },
  hardware: { platform: 'cpu-x86_64', arch: 'avx2', threads: 2, devices: 1, memory: 8e9 },
  numerics: { weights: 'bf16', kv_cache: 'f32', activations: 'f32' },
  parallelism: { tensor: 1 },
  serving: { interface: 'cli', max_context: 1024, max_batch: 1, kv: 'contiguous' },
  workload: { prompt_tokens: 128, output_tokens: 64, concurrency: 1 },
  goals: { optimize: 'latency', require: [], fidelity: { mean_kld: 1e-6, top1_agreement: 0.99 } },
  generation: { mode: 'knowledge-first', budget: {} },
} satisfies Constraints;

const happyPath: readonly RunEvent[] = [
  { type: 'constraints-accepted', constraints, sha256: 'c0' },
  { type: 'plan-made', sha256: 'p0', missing: [] },
  { type: 'engine-generated', treeSha256: 'e0', isComplete: true },
  {
    type: 'verified',
    outcome: { passed: true, treeSha256: 'e0', reportPath: 'report.json', guilty: [], findings: [] },
  },
  { type: 'benchmarked', outcome: { passed: true, goals: [] } },
];

function fresh(): RunState {
  return startRun(
    'run-1',
    { fileName: 'a.yaml', text: 'name: tiny', origin: 'command-line' },
    '/engines/tiny',
  );
}

function runThrough(events: readonly RunEvent[], from: RunState = fresh()): RunState {
  return events.reduce((state, event) => step(state, event).state, from);
}

describe('a run', () => {
  it('performs constraints, plan, generate, verify and bench in this order and then passes', () => {
    const performed: string[] = [];
    let state = fresh();
    for (const event of happyPath) {
      performed.push(
        ...effectsOf(state).map((effect) => (effect.type === 'perform' ? effect.step : effect.type)),
      );
      state = step(state, event).state;
    }
    expect(performed).toEqual(['constraints', 'plan', 'generate', 'verify', 'bench']);
    expect([state.status, state.next, exitCodeOf(state)]).toEqual(['passed', null, 0]);
    expect(effectsOf(state)).toEqual([{ type: 'announce-end' }]);
  });

  it('comes to the same end when it is saved and read again after every step', () => {
    const direct = runThrough(happyPath);
    const saved = happyPath.reduce(
      (state, event) => parseRunState(JSON.stringify(step(state, event).state)),
      fresh(),
    );
    expect(saved).toEqual(direct);
  });

  it('ends at the plan, with exit code 2, when knowledge lacks a contract', () => {
    const state = runThrough([
      happyPath[0]!,
      { type: 'plan-made', sha256: 'p0', missing: ['linear.dense: no realization for q8_0'] },
    ]);
    expect(state.failure).toMatchObject({ step: 'plan', code: 'NOT_COVERED' });
    expect(state.failure?.message).toContain('q8_0');
    expect(exitCodeOf(state)).toBe(2);
  });

  it('ends at verification, with exit code 1 and the guilty contract, and never reaches bench', () => {
    const outcome = {
      passed: false,
      treeSha256: 'e0',
      reportPath: 'r',
      guilty: ['position.rope'],
      findings: ['trace: layer 0'],
    };
    const state = runThrough([...happyPath.slice(0, 3), { type: 'verified', outcome }]);
    expect([state.status, state.next, exitCodeOf(state)]).toEqual(['failed', null, 1]);
    expect(state.failure?.next).toContain('position.rope');
    expect(() => step(state, happyPath[4]!)).toThrow(/has ended/);
  });

  it('ends with exit code 1 when a goal is missed', () => {
    const state = runThrough([
      ...happyPath.slice(0, 4),
      { type: 'benchmarked', outcome: { passed: false, goals: ['ttft_ms_p50 901 > 900'] } },
    ]);
    expect([state.failure?.code, exitCodeOf(state)]).toEqual(['VERDICT_FAILED', 1]);
    expect(state.failure?.message).toContain('ttft_ms_p50');
  });

  it('keeps the failing step and takes its exit code from the error table', () => {
    const state = runThrough([
      happyPath[0]!,
      { type: 'step-failed', code: 'TOOL_MISSING', message: 'g++ is missing' },
    ]);
    expect([state.failure?.step, exitCodeOf(state)]).toEqual(['plan', 3]);
  });

  it('can be cancelled before any step and takes nothing afterwards', () => {
    for (let length = 0; length < happyPath.length; length++) {
      const state = runThrough([...happyPath.slice(0, length), { type: 'cancelled' }]);
      expect(state.status).toBe('cancelled');
      expect(() => step(state, happyPath[0]!)).toThrow(/cancelled/);
    }
  });

  it('refuses an event that belongs to another step', () => {
    expect(() => step(fresh(), happyPath[2]!)).toThrow(/waits for "constraints"/);
  });

  it('does not change the state that it was given', () => {
    const state = fresh();
    const before = JSON.stringify(state);
    step(state, happyPath[0]!);
    expect(JSON.stringify(state)).toBe(before);
  });

  it('refuses a saved state that is not one, by field', () => {
    expect(() => parseRunState('{')).toThrow(/not JSON/);
    expect(() => parseRunState('{"version":1}')).toThrow(/id/);
  });
});

const trail = {
  branch: 'metainfer/7-tiny',
  baseBranch: 'main',
  enginePath: 'engines/tiny',
  engineCommit: 'a'.repeat(40),
  pullNumber: 8,
  pullNodeId: 'PR_8',
};
const passed = { passed: true, treeSha256: 'e0', reportPath: 'report.json', guilty: [], findings: [] };
const upToDispatch: readonly RunEvent[] = [
  { type: 'constraints-accepted', constraints, sha256: 'c0' },
  { type: 'plan-made', sha256: 'p0', missing: [] },
  { type: 'announced', needsApproval: false },
  { type: 'engine-generated', treeSha256: 'e0', isComplete: true },
  { type: 'published', trail },
  { type: 'dispatched', requestId: 'run-2-1', workflowRunId: null, checkRunId: 5 },
];

function freshFromGithub(): RunState {
  return startRun('run-2', { fileName: 'issue 7', text: 'name: tiny', origin: 'github' }, 'engines/tiny');
}

describe('a run through GitHub', () => {
  it('plans, announces, generates, publishes, dispatches, waits, judges, concludes and then passes', () => {
    const events: readonly RunEvent[] = [
      ...upToDispatch,
      { type: 'workflow-ended', workflowRunId: 99, conclusion: 'success' },
      { type: 'judged', verification: passed, benchmark: { passed: true, goals: [] } },
      { type: 'concluded' },
    ];
    const performed: string[] = [];
    let state = freshFromGithub();
    for (const event of events) {
      performed.push(
        ...effectsOf(state).map((effect) => (effect.type === 'perform' ? effect.step : effect.type)),
      );
      state = step(state, event).state;
    }
    expect(performed).toEqual([
      'constraints',
      'plan',
      'announce',
      'generate',
      'publish',
      'dispatch',
      'judge',
      'conclude',
    ]);
    expect([state.status, state.attempt, state.github?.workflowRunId]).toEqual(['passed', 1, 99]);
    expect(parseRunState(JSON.stringify(state))).toEqual(state);
  });

  it('waits for an approval where one is needed, and takes it once', () => {
    const waiting = runThrough(
      [...upToDispatch.slice(0, 2), { type: 'announced', needsApproval: true }],
      freshFromGithub(),
    );
    expect([waiting.status, waiting.waitingFor, effectsOf(waiting)]).toEqual(['waiting', 'approval', []]);
    const approved = step(waiting, { type: 'approved' }).state;
    expect([approved.status, approved.next, approved.waitingFor]).toEqual(['running', 'generate', undefined]);
    expect(() => step(approved, { type: 'approved' })).toThrow('does not wait for approval');
  });

  it('says what stopped it before it ends, whether a step failed, a person cancelled or a newer file came', () => {
    const waiting = runThrough(upToDispatch, freshFromGithub());
    const stops: readonly (readonly [RunEvent, string])[] = [
      [{ type: 'step-failed', code: 'RUNNER_FAILED', message: 'no result' }, 'failed'],
      [{ type: 'cancelled' }, 'cancelled'],
      [{ type: 'superseded' }, 'superseded'],
    ];
    for (const [event, status] of stops) {
      const stopped = step(waiting, event).state;
      expect([stopped.status, stopped.next]).toEqual(['running', 'conclude']);
      expect(step(stopped, { type: 'concluded' }).state.status).toBe(status);
    }
  });

  it('ends as it was going to when the telling itself fails', () => {
    const cancelled = step(runThrough(upToDispatch, freshFromGithub()), { type: 'cancelled' }).state;
    const ended = step(cancelled, { type: 'step-failed', code: 'GITHUB_UNAVAILABLE', message: 'x' }).state;
    expect([ended.status, ended.next]).toEqual(['cancelled', null]);
  });

  it('retries from the dispatch once an engine is published, else from the start, and only after it ended', () => {
    const open = runThrough(upToDispatch, freshFromGithub());
    expect(() => step(open, { type: 'retried' })).toThrow('cannot be retried');
    const failed = runThrough(
      [{ type: 'step-failed', code: 'RUNNER_FAILED', message: 'no result' }, { type: 'concluded' }],
      open,
    );
    const again = step(failed, { type: 'retried', baseline: 'none' }).state;
    expect([again.status, again.next, again.failure, again.baseline]).toEqual([
      'running',
      'dispatch',
      undefined,
      'none',
    ]);
    const dispatched = step(again, {
      type: 'dispatched',
      requestId: 'run-2-2',
      workflowRunId: 100,
      checkRunId: 6,
    });
    expect([dispatched.state.attempt, dispatched.state.github?.requestId]).toEqual([2, 'run-2-2']);
    const early = runThrough(
      [{ type: 'step-failed', code: 'CONSTRAINTS_INVALID', message: 'bad' }, { type: 'concluded' }],
      freshFromGithub(),
    );
    expect(step(early, { type: 'retried' }).state.next).toBe('constraints');
  });

  it('fails on a red gate and on a missed goal, each with what to do', () => {
    const judging = runThrough(
      [...upToDispatch, { type: 'workflow-ended', workflowRunId: 99, conclusion: 'failure' }],
      freshFromGithub(),
    );
    const red = { ...passed, passed: false, guilty: ['attention.rope'], findings: ['trace: attention.rope'] };
    const failed = step(judging, { type: 'judged', verification: red, benchmark: null }).state;
    expect([failed.ending, failed.failure?.next]).toEqual([
      'failed',
      expect.stringContaining('attention.rope'),
    ]);
    const slow = step(judging, {
      type: 'judged',
      verification: passed,
      benchmark: { passed: false, goals: ['goal decode: missed'] },
    }).state;
    expect([slow.ending, slow.failure?.message]).toEqual([
      'failed',
      expect.stringContaining('goal decode: missed'),
    ]);
  });
});
