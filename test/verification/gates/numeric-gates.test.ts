import { expect, test } from 'vitest';
import { runDeterminismGate } from '../../../src/verification/gates/determinism.ts';
import { edgeLengths, runEdgesGate } from '../../../src/verification/gates/edges.ts';
import { runEquivalenceGate } from '../../../src/verification/gates/equivalence.ts';
import { runLogitsGate } from '../../../src/verification/gates/logits.ts';
import { runTextGate } from '../../../src/verification/gates/text.ts';
import { runTraceGate } from '../../../src/verification/gates/trace.ts';
import { type Faults, fakeContext, fakeOracle } from '../fake-session.ts';

function nudge(values: Float32Array, index: number, by: number, isWanted: boolean): void {
  if (isWanted) values[index] = values[index]! + by;
}

const gates = {
  trace: runTraceGate,
  logits: runLogitsGate,
  edges: runEdgesGate,
  equivalence: runEquivalenceGate,
  text: runTextGate,
  determinism: runDeterminismGate,
};

test.each(Object.entries(gates))('gate %s passes an engine without faults', async (_, gate) => {
  expect((await gate(fakeContext())).findings).toEqual([]);
});

const wrong: readonly (readonly [string, keyof typeof gates, Faults, string, RegExp])[] = [
  [
    'one logit is off by 0.01',
    'logits',
    { row: (row, position) => nudge(row, 4, 0.01, position === 9) },
    'head.logits',
    /off by 1\.00e-2/,
  ],
  [
    'a logit is NaN',
    'logits',
    { row: (row, position) => nudge(row, 2, Number.NaN, position === 5) },
    'head.logits',
    /not finite: position 5/,
  ],
  [
    'an error lies beyond one forward call',
    'logits',
    { row: (row, position) => nudge(row, 0, 0.02, position >= 20) },
    'attention.core',
    /off by/,
  ],
  [
    'one run of positions stands out',
    'logits',
    { row: (row, position) => nudge(row, 1, 9e-4, position >= 8 && position < 12) },
    'attention.core',
    /positions 8 to 11 .* over 3 times/,
  ],
  [
    'embedding',
    'trace',
    { stage: (state, stage) => nudge(state, 7, 0.1, stage >= 0) },
    'embedding.token',
    /embedding is the first/,
  ],
  [
    'attention of layer 1',
    'trace',
    { stage: (state, stage) => nudge(state, 7, 0.1, stage >= 3) },
    'attention.block',
    /layer 1 after attention/,
  ],
  [
    'MLP of layer 0',
    'trace',
    { stage: (state, stage) => nudge(state, 0, 0.1, stage >= 2) },
    'mlp.gated',
    /layer 0 after MLP/,
  ],
  [
    'final norm',
    'trace',
    { stage: (state, stage) => nudge(state, 3, 0.1, stage === 5) },
    'norm.rms',
    /final norm/,
  ],
  [
    'a jump below the limit',
    'trace',
    { stage: (state, stage) => nudge(state, 0, 1e-4, stage >= 2) },
    'mlp.gated',
    /jumps/,
  ],
  [
    'NaN in a state',
    'trace',
    { stage: (state, stage) => nudge(state, 12, Number.NaN, stage >= 4) },
    'mlp.gated',
    /not finite at position 2/,
  ],
  ['poison reaches the logits', 'edges', { forgetsPoison: true }, 'kv.cache', /not finite/],
  ['nothing is refused', 'edges', { acceptsAnything: true }, 'decoder.model', /accepted instead of refused/],
  [
    'a row depends on the length',
    'edges',
    { row: (row, _, ids) => nudge(row, 0, ids.length * 1e-6, true) },
    'kv.cache',
    /differs from the first/,
  ],
  ['decode differs from prefill', 'equivalence', { decodeShift: true }, 'kv.cache', /decode/],
  [
    'a batch differs from its sequences',
    'equivalence',
    { batchShift: true },
    'decoder.model',
    /sequence 1 of a batch/,
  ],
  ['the seed is ignored', 'text', { ignoresSeed: true }, 'sampling.token', /two seeds/],
  ['filters are ignored', 'text', { ignoresFilters: true }, 'sampling.token', /top_k/],
  ['end of text is ignored', 'text', { ignoresEos: true }, 'text.generation', /end-of-text/],
  ['processes differ', 'determinism', { dependsOnProcess: true }, 'runtime.threading', /other logits/],
];

test.each(wrong)('%s: gate %s turns red', async (_, gate, faults, contract, message) => {
  const { findings } = await gates[gate](fakeContext(faults));
  expect(findings.map((finding) => finding.contract)).toContain(contract);
  expect(findings.some((finding) => message.test(finding.message))).toBe(true);
  // Whoever repairs it is told what was expected and what came.
  for (const { evidence } of findings) {
    expect(evidence.wanted ?? null).not.toBeNull();
    expect(evidence.got ?? null).not.toBeNull();
    expect(evidence.got).not.toEqual(evidence.wanted);
  }
});

test('edge lengths lie around windows, forward calls and the end of the context', () => {
  expect(edgeLengths(fakeContext())).toEqual([1, 2, 4, 5, 6, 15, 16, 17, 39, 40]);
});

test('the same run seed draws the same prompts, another seed draws others', async () => {
  const seen: number[][] = [];
  const spy = (runSeed: number) =>
    fakeContext(
      {},
      {
        runSeed,
        oracle: (ids) => {
          seen.push([...ids]);
          return fakeOracle(ids);
        },
      },
    );
  for (const seed of [1, 1, 2]) await runLogitsGate(spy(seed));
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]).not.toEqual(seen[2]);
});
