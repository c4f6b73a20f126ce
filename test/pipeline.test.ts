import { describe, expect, it } from 'vitest';
import type { Constraints } from '../src/model/constraints.ts';
import type { RunEvent, RunState } from '../src/model/run.ts';
import { effectsOf, exitCodeOf, parseRunState, startRun, step } from '../src/pipeline.ts';

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
  { type: 'engine-generated', treeSha256: 'e0' },
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
