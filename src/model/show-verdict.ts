import { emulationWords, notRunWords } from './device-words.ts';
import type { GateResult, Report, VerdictOutcome } from './report.ts';

export const verdictWords: Readonly<Record<VerdictOutcome, string>> = {
  passed: 'passed',
  failed: 'failed',
  'not-run-on-device': notRunWords,
};

const verdictCodes = { passed: 0, failed: 1, 'not-run-on-device': 5 } as const;

/** Exit code of a command that judged an engine: only a pass is 0. */
export function verdictExitCode(verdict: VerdictOutcome): 0 | 1 | 5 {
  return verdictCodes[verdict];
}

/** Where the code under test of a gate ran; empty for engines of the CPU, which have one place alone. */
export function placeWords({ status, ranOn }: Pick<GateResult, 'status' | 'ranOn'>): string {
  if (status === 'not-run') return 'not run';
  if (status !== 'passed' && status !== 'failed') return '';
  return ranOn === undefined ? '' : rooms[ranOn];
}

const rooms = {
  host: 'host',
  device: 'device',
  emulation: emulationWords,
} as const;

/** What was checked where, and what was not, a line each; plain text, nothing from outside in it. */
export function listCoverage({ gates }: Pick<Report, 'gates'>): readonly string[] {
  const named = (isOf: (gate: GateResult) => boolean): string =>
    gates
      .filter(isOf)
      .map(({ gate }) => gate)
      .join(', ');
  const didRun = ({ status }: GateResult) => status === 'passed' || status === 'failed';
  const rows = [
    ['Checked on the device', named((gate) => didRun(gate) && gate.ranOn === 'device')],
    ['Checked on the host', named((gate) => didRun(gate) && (gate.ranOn ?? 'host') === 'host')],
    [
      'Checked in host emulation (arithmetic only)',
      named((gate) => didRun(gate) && gate.ranOn === 'emulation'),
    ],
    ['Not checked, because it takes a device', named(({ status }) => status === 'not-run')],
  ] as const;
  return rows.filter(([, names]) => names !== '').map(([what, names]) => `${what}: ${names}.`);
}
