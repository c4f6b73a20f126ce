import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noDeviceReason } from '../../../src/model/device-words.ts';
import type { GateName } from '../../../src/model/report.ts';
import { decideOutcome } from '../../../src/model/verdict.ts';
import { defaultEffort } from '../../../src/verification/effort.ts';
import type { GateContext } from '../../../src/verification/gate-context.ts';
import { binaryFor, gatePlace } from '../../../src/verification/gate-place.ts';
import { runGates } from '../../../src/verification/run-gates.ts';
import type { CudaToolchain } from '../../../src/verification/toolchain.ts';
import { fakeContext, fakeEngine } from '../fake-session.ts';

function cudaToolchain(mode: CudaToolchain['mode']): CudaToolchain {
  return {
    ...{ compiler: '/cuda/bin/nvcc', version: 'nvcc 13.0.0', folder: '/cuda', runtimeLibrary: '/cuda/rt.a' },
    ...{ flags: [], architectures: ['80', '90'], mode, deviceFiles: [], emulationFolder: '/emulation' },
    limits: { registersPerThread: 255, spillBytes: 0, sharedBytesPerBlock: 49_152 },
  };
}

/** An engine for CUDA, on a machine with or without a GPU. */
function cudaContext(mode: CudaToolchain['mode'], effort: Partial<GateContext['effort']> = {}): GateContext {
  const base = fakeContext();
  return {
    ...base,
    engine: { ...fakeEngine, onDevice: true, vectorWidth: 1 },
    toolchain: { ...base.toolchain, cuda: cudaToolchain(mode) },
    effort: { ...base.effort, ...effort },
  };
}

const wholeEngine: readonly GateName[] = ['logits', 'equivalence', 'determinism'];

test('without a GPU the gates of a large engine say nothing, and what rests on them says nothing either', async () => {
  const results = await runGates(cudaContext('compile-only'), { gates: ['ledger', ...wholeEngine] });
  expect(results.map(({ gate, status, reason, ranOn }) => [gate, status, reason, ranOn])).toEqual(
    ['ledger', ...wholeEngine].map((gate) => [gate, 'not-run', noDeviceReason, undefined]),
  );
  expect(decideOutcome(results, [])).toBe('not-run-on-device');
});

test('without a GPU a small engine runs in emulation, and the gates say so', async () => {
  const results = await runGates(cudaContext('compile-only', { emulate: true }), { gates: wholeEngine });
  expect(results.map(({ gate, status, ranOn }) => [gate, status, ranOn])).toEqual(
    wholeEngine.map((gate) => [gate, 'passed', 'emulation']),
  );
});

test('with a GPU the gates run there', async () => {
  const results = await runGates(cudaContext('device'), { gates: wholeEngine });
  expect(results.map(({ status, ranOn }) => [status, ranOn])).toEqual(
    wholeEngine.map(() => ['passed', 'device']),
  );
});

test('an engine for the host says nothing of where it ran', async () => {
  const results = await runGates(fakeContext(), { gates: wholeEngine });
  expect(results.every((result) => result.status === 'passed' && !('ranOn' in result))).toBe(true);
});

test('a red gate in emulation is red, and what needs a red gate is skipped though there is no GPU', async () => {
  const faulty = fakeContext({ ignoresSeed: true });
  const small = { ...cudaContext('compile-only', { emulate: true }), openEngine: faulty.openEngine };
  const [text] = await runGates(small, { gates: ['text'] });
  expect(text).toMatchObject({ status: 'failed', ranOn: 'emulation' });
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-places-'));
  writeFileSync(join(folder, 'stranger.txt'), 'belongs to no contract');
  const base = cudaContext('compile-only');
  const context = { ...base, engine: { ...base.engine, folder } };
  const results = await runGates(context, { gates: ['static', 'build', 'logits'] });
  rmSync(folder, { recursive: true });
  expect(results.map(({ status }) => status)).toEqual(['failed', 'skipped', 'skipped']);
});

test('nothing is timed in emulation, whatever the size of the engine', () => {
  const context = cudaContext('compile-only', { emulate: true });
  expect(
    (['static', 'build', 'unit', 'text', 'bench', 'physics'] as const).map((gate) =>
      gatePlace(gate, context),
    ),
  ).toEqual(['host', 'host', 'emulation', 'emulation', 'nowhere', 'nowhere']);
  expect(gatePlace('bench', cudaContext('device'))).toBe('device');
  expect(gatePlace('unit', cudaContext('compile-only'))).toBe('emulation');
  const { toolchain } = fakeContext();
  expect(gatePlace('unit', { ...context, toolchain })).toBe('nowhere');
});

test('gates start the emulated program only where the real one cannot run', () => {
  const binaries = { plain: '/plain', emulated: '/emulated' };
  expect(binaryFor({ ...cudaContext('compile-only'), binaries })).toBe('/emulated');
  expect(binaryFor({ ...cudaContext('device'), binaries })).toBe('/plain');
  expect(binaryFor({ ...fakeContext(), binaries })).toBe('/plain');
});

test('a model of a million weights is emulated, one of a hundred million is not', () => {
  const emulates = (hiddenSize: number, numLayers: number) => {
    const facts = { ...fakeEngine.facts, hiddenSize, numLayers, layerWindows: Array(numLayers).fill(0) };
    const sizes = { headDim: 32, numHeads: 6, numKvHeads: 2, intermediateSize: 3 * hiddenSize };
    const engine = { ...fakeEngine, onDevice: true, facts: { ...facts, ...sizes, vocabSize: 1024 } };
    return defaultEffort(engine, { cuda: cudaToolchain('compile-only') }).emulate;
  };
  expect(emulates(160, 4)).toBe(true);
  expect(emulates(1024, 8)).toBe(false);
  expect(defaultEffort(fakeEngine, {}).emulate).toBeUndefined();
});
