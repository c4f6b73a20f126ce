import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderGoals } from '../../src/delivery/goals.ts';
import { emulationWords, noDeviceReason, notRunWords } from '../../src/model/device-words.ts';
import { evaluateGoals, judgeFidelity } from '../../src/model/judge-goals.ts';
import { type GateResult, Report, type ReportDevice } from '../../src/model/report.ts';
import { decideOutcome } from '../../src/model/verdict.ts';
import { addBenchmark } from '../../src/verification/make-report.ts';
import { renderFigures, renderReport } from '../../src/verification/render-report.ts';
import { describeCuda, readDevice } from '../../src/verification/report-device.ts';
import { benchmarkOutcome, verificationOutcome } from '../../src/verification/report-outcomes.ts';
import { notRun } from '../../src/verification/run-gates.ts';
import type { CudaToolchain } from '../../src/verification/toolchain.ts';

const measured = Report.parse(
  JSON.parse(readFileSync(new URL('../fixtures/reports/qwen3-0-6b.json', import.meta.url), 'utf8')),
);
const fidelity = { mean_kld: 1e-6, top1_agreement: 0.99 };

/** As a machine without a GPU reports a large engine for CUDA: what compiles is green, units ran in emulation. */
function withoutDevice(change: (gate: GateResult) => GateResult = (gate) => gate): Report {
  const gates = measured.gates
    .filter(({ gate }) => gate !== 'bench' && gate !== 'physics')
    .map((gate) => {
      if (gate.gate === 'static' || gate.gate === 'build') return gate;
      return gate.gate === 'unit' ? { ...gate, ranOn: 'emulation' as const } : notRun(gate.gate);
    })
    .map(change);
  const goals = judgeFidelity(fidelity, gates);
  const cuda = { compiler: 'nvcc 13.0.88', flags: ['-O3', 'sm_80', 'sm_90'], device: null };
  const environment = { ...measured.environment, cuda };
  const verdict = decideOutcome(gates, goals);
  return Report.parse({ ...measured, environment, gates, goals, verdict, benchmark: null });
}

test('a report without a device is neither passed nor failed, and names every gate that it says nothing about', () => {
  const report = withoutDevice();
  expect(report.verdict).toBe('not-run-on-device');
  const outcome = verificationOutcome(report, 'report.json');
  expect(outcome).toMatchObject({ passed: false, redGates: [], guilty: [], findings: [] });
  expect(outcome.notRun).toEqual([
    ...['ledger', 'trace', 'logits', 'edges', 'equivalence', 'text', 'determinism'],
  ]);
  expect(report.goals.map(({ status, note }) => [status, note])).toEqual(
    report.goals.map(() => ['not-measured', notRunWords]),
  );
});

test('fidelity that an emulated engine reached is not called met without a word about where', () => {
  const emulated = withoutDevice((gate) => {
    const before = measured.gates.find((own) => own.gate === gate.gate)!;
    return gate.gate === 'logits' ? { ...before, ranOn: 'emulation' } : gate;
  });
  expect(emulated.goals.map(({ status }) => status)).toEqual(['met', 'met']);
  expect(renderReport(emulated).match(/\| met \(host emulation: arithmetic only\) \|/g)).toHaveLength(2);
  expect(renderGoals(emulated).match(/✅ met \(host emulation: arithmetic only\)/g)).toHaveLength(2);
});

test('the page says what was not run on a device, and what ran in host emulation only', () => {
  const page = renderReport(withoutDevice());
  expect(page).toContain(': not run on a device\n');
  expect(page).toContain(
    'Not run on a device: ledger, trace, logits, edges, equivalence, text, determinism.\n',
  );
  expect(page).toContain(`In ${emulationWords}: unit.\n`);
  expect(page).toContain(`| unit | passed (${emulationWords}) |`);
  expect(page).toContain(`| logits | ${notRunWords} |`);
  expect(page).toContain(`- GPU: none here (${notRunWords}); nvcc 13.0.88 `);
  const figures = renderFigures(withoutDevice());
  expect(figures).toContain(`unit (${emulationWords})`);
  expect(figures).toContain('Not run on a device: ledger,');
});

test('a page of an engine for the host mentions neither device nor emulation', () => {
  for (const page of [renderReport(measured), renderFigures(measured)])
    expect(page).not.toMatch(/device|emulation|GPU/i);
  expect(verificationOutcome(measured, 'x')).not.toHaveProperty('notRun');
  expect(benchmarkOutcome(measured)).not.toHaveProperty('notRun');
});

test('a red gate stays red where others did not run', () => {
  const finding = {
    gate: 'unit',
    contract: 'norm.rms',
    file: null,
    line: null,
    message: 'off',
    evidence: {},
  };
  const report = withoutDevice((gate) =>
    gate.gate === 'unit' ? { ...gate, status: 'failed', findings: [finding as never] } : gate,
  );
  expect(report.verdict).toBe('failed');
  expect(verificationOutcome(report, 'x')).toMatchObject({ redGates: ['unit'], guilty: ['norm.rms'] });
});

test('a goal that is missed in emulation is missed', () => {
  const logits = measured.gates.find(({ gate }) => gate === 'logits')!;
  const off = { ...logits, ranOn: 'emulation' as const, measurements: { mean_kld: 1, top1_agreement: 1 } };
  const goals = judgeFidelity(fidelity, [off]);
  expect(goals.map(({ status }) => status)).toEqual(['missed', 'met']);
  expect(decideOutcome([off, notRun('bench')], goals)).toBe('failed');
});

test('without a device no goal of speed is met, and none is missed', () => {
  const asked = [
    { metric: 'ttft_ms_p50', comparison: '<=', value: 9, unit: 'ms', written: '<= 9 ms' },
  ] as const;
  const report = addBenchmark(withoutDevice(), {
    gates: [notRun('bench'), notRun('physics')],
    goals: evaluateGoals(asked, null, notRunWords),
    benchmark: null,
  });
  expect(report.verdict).toBe('not-run-on-device');
  expect(report.goals.at(-1)).toMatchObject({ status: 'not-measured', note: notRunWords });
  const outcome = benchmarkOutcome(report);
  expect(outcome).toMatchObject({ passed: false, notRun: ['bench', 'physics'] });
  expect(outcome.goals).toContain(`bench did not run: ${noDeviceReason}`);
});

test('the device of a report is the first that the driver names, and only where engines can use it', async () => {
  const cuda = { mode: 'device' } as CudaToolchain;
  const found = { name: 'NVIDIA H200', driver: '580.65', computeCapability: '9.0', memory: '143771 MiB' };
  const device: ReportDevice = {
    ...{ name: 'NVIDIA H200', driver: '580.65', computeCapability: '9.0' },
    memoryBytes: 143_771 * 2 ** 20,
  };
  const other = { ...found, name: 'another' };
  expect(await readDevice({ cuda }, async () => [found, other])).toEqual(device);
  expect(await readDevice({ cuda }, async () => undefined)).toBeNull();
  expect(await readDevice({ cuda: { ...cuda, mode: 'compile-only' } }, async () => [found])).toBeNull();
  expect(await readDevice({}, async () => [found])).toBeNull();
  const toolchain = { cuda: { ...cuda, version: 'nvcc 13.0.88', flags: ['-O3'], architectures: ['90'] } };
  expect(describeCuda(toolchain, device)).toEqual({
    cuda: { compiler: 'nvcc 13.0.88', flags: ['-O3', 'sm_90'], device },
  });
  expect(describeCuda({}, null)).toEqual({});
});
