import type { GateResult, GoalVerdict, Report } from './report.ts';

/** How every page says that a GPU's code ran on the host instead: nothing but its arithmetic was checked. */
export const emulationWords = 'host emulation: arithmetic only';

/** How every page says that nothing ran on a GPU. */
export const notRunWords = 'not run on a device';

/** Why a gate of an engine for CUDA was left out on a machine without a GPU. */
export const noDeviceReason = `no CUDA device on this machine: ${notRunWords}`;

/** What must stand beside a gate's outcome; undefined where it stands for itself. */
export function deviceRemark({ status, ranOn }: Pick<GateResult, 'status' | 'ranOn'>): string | undefined {
  if (status === 'not-run') return notRunWords;
  return ranOn === 'emulation' ? emulationWords : undefined;
}

/** What must stand beside a goal that was decided without a GPU: only fidelity can be, from logits of an emulated engine. */
export function goalRemark(
  { metric, status }: Pick<GoalVerdict, 'metric' | 'status'>,
  { gates }: Pick<Report, 'gates'>,
): string | undefined {
  const logits = gates.find(({ gate }) => gate === 'logits');
  if (status === 'not-measured' || logits === undefined || !metric.startsWith('fidelity.')) return undefined;
  return deviceRemark(logits);
}
