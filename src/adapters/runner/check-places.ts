import { type GateResult, type Report, timedGates } from '../../model/report.ts';
import { ArtifactRefusal } from './artifact-refusal.ts';

/** Need no device: all others must have run on it before an engine counts as verified. */
const compileGates: ReadonlySet<string> = new Set(['static', 'build']);

function refuse(reason: string): never {
  throw new ArtifactRefusal(reason);
}

/**
 * Holds where gates say that they ran against the machine that the report describes: an emulated gate, or a pass of a
 * machine without a device, is no verdict about the device.
 * @throws ArtifactRefusal
 */
export function checkPlaces(report: Report, platform: string): void {
  if (platform === 'cuda') checkDevice(report);
  else checkHostOnly(report);
}

function checkDevice(report: Report): void {
  const { cuda } = report.environment;
  if (cuda === undefined) refuse('report.json is of a CUDA engine and names no CUDA compiler');
  for (const gate of report.gates) {
    if (cuda.device === null && gate.ranOn === 'device')
      refuse(`gate ${gate.gate} of report.json ran on a device, and its machine has none`);
  }
  if (cuda.device === null && report.benchmark !== null)
    refuse('report.json has a benchmark, and its machine has no device');
  if (report.verdict !== 'passed') return;
  if (cuda.device === null) refuse('report.json says passed, and its machine has no device');
  const elsewhere = report.gates.filter(isElsewhere).map(({ gate }) => gate);
  if (elsewhere.length > 0)
    refuse(`report.json says passed, and gate ${elsewhere.join(', ')} did not run on the device`);
}

function isElsewhere({ gate, status, ranOn }: GateResult): boolean {
  if (status !== 'passed' || compileGates.has(gate)) return false;
  return timedGates.has(gate) ? ranOn !== undefined && ranOn !== 'device' : ranOn !== 'device';
}

function checkHostOnly(report: Report): void {
  if (report.environment.cuda !== undefined)
    refuse('report.json is of an engine without a device and names a CUDA compiler');
  for (const { gate, ranOn, status } of report.gates) {
    if (status === 'not-run' || (ranOn ?? 'host') !== 'host')
      refuse(`gate ${gate} of report.json is about a device, and its engine needs none`);
  }
}
