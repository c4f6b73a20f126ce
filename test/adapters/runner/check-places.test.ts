import { describe, expect, it } from 'vitest';
import { readArtifact } from '../../../src/adapters/runner/read-artifact.ts';
import { Report } from '../../../src/model/report.ts';
import { onDeviceReport, unrunReport } from '../../fixtures/unrun-report.ts';
import { craftZip } from './craft-zip.ts';
import { expected, json, judged, report } from './sample-artifact.ts';

const unrun = Report.parse(unrunReport(report));
const onDevice = Report.parse(onDeviceReport(report));

async function reasonOf(claimed: Report, platform: string): Promise<string> {
  const entries = [json('result.json', judged), json('report.json', claimed)];
  const read = await readArtifact(craftZip(entries), { ...expected, platform });
  return read.ok ? `accepted: ${read.report?.verdict}` : read.reason;
}

const withGate = (of: Report, name: string, changes: object): Report => ({
  ...of,
  gates: of.gates.map((gate) => (gate.gate === name ? { ...gate, ...changes } : gate)),
});

describe('a report of a CUDA engine', () => {
  it('is accepted without a device as not run on a device, and with one as passed', async () => {
    expect(await reasonOf(unrun, 'cuda')).toBe('accepted: not-run-on-device');
    expect(await reasonOf(onDevice, 'cuda')).toBe('accepted: passed');
  });

  const cases: readonly [string, Report, RegExp][] = [
    [
      'passed over gates that did not run',
      { ...unrun, verdict: 'passed' },
      /its gates and goals say not-run/,
    ],
    ['failed though nothing did', { ...unrun, verdict: 'failed' }, /its gates and goals say not-run/],
    [
      'passed on a machine without a device',
      { ...onDevice, environment: unrun.environment },
      /gate ledger of report.json ran on a device, and its machine has none/,
    ],
    [
      'passed by emulation alone, and calls it no device',
      {
        ...report,
        gates: report.gates.map((gate) => ({ ...gate, ranOn: 'emulation' as const })),
        environment: onDevice.environment,
      },
      /says passed, and its gates and goals say not-run-on-device/,
    ],
    [
      'passed with one emulated gate',
      withGate(onDevice, 'logits', { ranOn: 'emulation' }),
      /says passed, and its gates and goals say not-run-on-device/,
    ],
    [
      'passed without a word on where',
      { ...report, environment: onDevice.environment },
      /did not run on the device/,
    ],
    [
      'a benchmark without a device',
      { ...unrun, benchmark: report.benchmark },
      /gate bench of report.json is not-run|has a benchmark, and its machine has no device/,
    ],
    [
      'a gate that was not run, without a reason',
      withGate(unrun, 'trace', { reason: null }),
      /without a reason/,
    ],
    [
      'a gate that was not run, with findings',
      withGate(unrun, 'trace', {
        findings: [{ gate: 'trace', contract: null, file: null, line: null, message: 'x', evidence: {} }],
      }),
      /trace of report.json is not-run with 1 finding/,
    ],
    [
      'passed with one gate on the host',
      withGate(onDevice, 'logits', { ranOn: 'host' }),
      /says passed, and gate logits did not run on the device/,
    ],
    [
      'not run, and leaves gates out',
      { ...unrun, gates: unrun.gates.filter(({ gate }) => gate !== 'unit' && gate !== 'text') },
      /says not-run-on-device without gate unit, text/,
    ],
    ['no CUDA compiler', report, /names no CUDA compiler/],
  ];
  it.each(cases)('is refused where it says %s', async (_, claimed, reason) => {
    expect(await reasonOf(claimed, 'cuda')).toMatch(reason);
  });

  it('keeps a failure beside gates that did not run', async () => {
    const finding = { gate: 'unit' as const, contract: 'norm.rms', file: 'norm_rms.cu', line: 3 };
    const findings = [{ ...finding, message: 'off', evidence: {} }];
    const red = withGate(unrun, 'unit', { status: 'failed', findings });
    expect(await reasonOf(red, 'cuda')).toMatch(/says not-run-on-device, and its gates and goals say failed/);
    expect(await reasonOf({ ...red, verdict: 'failed' }, 'cuda')).toBe('accepted: failed');
  });
});

describe('a report of an engine for the CPU', () => {
  it.each([
    ['gates that were not run', { ...unrun, environment: report.environment }],
    ['a CUDA compiler', { ...report, environment: onDevice.environment }],
    ['a gate on a device', withGate(report, 'logits', { ranOn: 'device' })],
    ['an emulated gate', withGate(report, 'unit', { ranOn: 'emulation' })],
  ])('is refused where it has %s', async (_, claimed) => {
    expect(await reasonOf(claimed, 'cpu-x86_64')).toMatch(
      /needs none|names a CUDA compiler|its gates and goals say not-run/,
    );
  });
});
