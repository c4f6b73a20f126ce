import {
  type DeviceCeilings,
  DeviceReport,
  type DeviceSpeed,
  type DeviceStep,
} from '../../model/device-report.ts';
import { AppError } from '../../model/errors.ts';

/** Figures are written in decimal; what is worked out again must agree this well. */
const agreement = 1e-6;
/** Of a gate's own limits: faster than measured allows is an error, not an achievement. */
const physicsMargin = 1.25;

/**
 * The report of a device check, as far as it holds together: its form, and everything that follows from its own samples.
 * @throws AppError REPORT_REJECTED naming everything that is wrong
 */
export function readDeviceReport(text: string): DeviceReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw rejected([`it is not JSON: ${(error as Error).message}`]);
  }
  const parsed = DeviceReport.safeParse(value);
  if (!parsed.success)
    throw rejected(
      parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`),
    );
  const faults = findFaults(parsed.data);
  if (faults.length > 0) throw rejected(faults);
  return parsed.data;
}

function rejected(faults: readonly string[]): AppError {
  const shown = faults.slice(0, 20).map((fault) => `- ${fault.slice(0, 300)}`);
  return new AppError('REPORT_REJECTED', ['This is no report of a device check:', ...shown].join('\n'));
}

function findFaults(report: DeviceReport): string[] {
  const { device, steps, speeds, ceilings } = report;
  return [
    ...steps.flatMap(findStepFaults),
    ...speeds.flatMap((line) => findSpeedFaults(line, ceilings)),
    ...(device.isFake ? findFakeFaults(report) : findDeviceFaults(report)),
    ...findRequirementFaults(report),
  ];
}

function findStepFaults({ step, subject, status, reason, checks }: DeviceStep): string[] {
  const name = subject === null ? step : `${step} ${subject}`;
  const faults = [];
  const silent = ['timed-out', 'interrupted', 'skipped', 'not-run'].includes(status) && !reason;
  if (silent) faults.push(`${name}: it was ${status}, and no reason is given`);
  const has = (wanted: string) => checks.some((check) => check.status === wanted);
  if (status === 'passed' && (has('failed') || !has('passed')))
    faults.push(`${name}: it is called passed, and its checks did not all pass`);
  if (status === 'failed' && !has('failed'))
    faults.push(`${name}: it is called failed without a failed check`);
  if (['pending', 'skipped'].includes(status) && checks.length > 0)
    faults.push(`${name}: it has checks and is called ${status}`);
  for (const check of checks) {
    if ((check.status === 'failed') !== check.findings.length > 0)
      faults.push(`${name}: ${check.check} is ${check.status} with ${check.findings.length} findings`);
    if (check.status === 'not-run' && !check.reason)
      faults.push(`${name}: ${check.check} was not run, and no reason is given`);
  }
  return faults;
}

function agree(left: number, right: number): boolean {
  return Math.abs(left - right) <= agreement * Math.max(Math.abs(left), Math.abs(right));
}

/** What a line says of its samples and of the ceilings, worked out again. */
function findSpeedFaults(line: DeviceSpeed, ceilings: DeviceCeilings | null): string[] {
  const name = `${line.shape} ${line.test} ${line.size} (${line.runner})`;
  const { medianSeconds, shareOfBandwidth, shareOfProducts } = line;
  const faults = [];
  if (!agree(medianSeconds, median(line.samplesSeconds)))
    faults.push(`${name}: the median is not that of its samples`);
  if (!agree(line.tokensPerSecond, (line.test === 'decode' ? 1 : line.size) / medianSeconds))
    faults.push(`${name}: tokens per second do not follow from the median`);
  if (shareOfBandwidth !== null || shareOfProducts !== null) {
    if (ceilings === null) return [...faults, `${name}: a share of ceilings that were not measured`];
    if (line.isEmulated) faults.push(`${name}: emulation has no share of anything`);
  }
  if (ceilings === null) return faults;
  const bandwidth = Math.max(ceilings.copyBytesPerSecond, ceilings.readBytesPerSecond);
  if (shareOfBandwidth !== null) {
    if (!agree(shareOfBandwidth, (line.bytes ?? 0) / medianSeconds / bandwidth))
      faults.push(`${name}: the share of the bandwidth does not follow from bytes and seconds`);
    if (shareOfBandwidth > physicsMargin) faults.push(`${name}: it is faster than the measured bandwidth`);
  }
  if (shareOfProducts !== null) {
    const rates = [
      ceilings.mmaFlopsPerSecond,
      Math.max(ceilings.mmaFlopsPerSecond, ceilings.matmulFlopsPerSecond ?? 0),
    ];
    // PyTorch's product is measured after the engine's own lines, and before those beside PyTorch.
    if (!rates.some((rate) => agree(shareOfProducts, (line.flops ?? 0) / medianSeconds / rate)))
      faults.push(`${name}: the share of the products does not follow from operations and seconds`);
    if (shareOfProducts > physicsMargin)
      faults.push(`${name}: it is faster than the measured rate of products`);
  }
  return faults;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Nothing of a run without a device may look measured. */
function findFakeFaults({ device, ceilings, speeds, steps, requirements }: DeviceReport): string[] {
  const faults = [];
  if (device.gpu !== null) faults.push('device: a fake run names a device');
  if (ceilings !== null) faults.push('ceilings: a fake run measures none');
  if (speeds.some(({ isEmulated }) => !isEmulated))
    faults.push('speeds: a fake run has a figure that is not emulated');
  if (requirements.some(({ status }) => status !== 'not-measured'))
    faults.push('requirements: a fake run meets and misses none');
  const emulated = new Set(['gates', 'speed', 'units']);
  if (steps.some(({ step, checks, isEmulated }) => emulated.has(step) && checks.length > 0 && !isEmulated))
    faults.push('steps: a fake run has gates that are not emulated');
  return faults;
}

function findDeviceFaults({ device, steps, speeds, ceilings }: DeviceReport): string[] {
  const faults = [];
  if (steps.some(({ isEmulated }) => isEmulated)) faults.push('steps: a run on a device emulates none');
  if (speeds.some(({ isEmulated }) => isEmulated)) faults.push('speeds: a run on a device emulates none');
  const measured = ceilings !== null || speeds.length > 0;
  if (device.gpu === null && measured) faults.push('device: figures of a device that is not named');
  return faults;
}

/** Of requirements that are called met: the gates' counts and the shares are held against steps and speeds. */
function findRequirementFaults({ requirements, steps, speeds }: DeviceReport): string[] {
  return requirements.flatMap(({ requirement, status, measured, wanted }) => {
    if (status !== 'met') return [];
    const fault = `requirements: "${requirement}" is called met`;
    if (measured === null || wanted === null) return [`${fault} without a figure`];
    if (requirement.startsWith('all gates green')) {
      const needed = steps.filter(({ step }) => ['build', 'gates', 'speed', 'units'].includes(step));
      const isGreen = needed.length >= 4 && needed.every((step) => step.status === 'passed');
      return isGreen ? [] : [`${fault}, and not every gate passed`];
    }
    if (requirement.startsWith('share of the measured bandwidth')) {
      const shares = speeds
        .filter(({ test, runner }) => test === 'decode' && runner === 'engine')
        .flatMap(({ shape, shareOfBandwidth }) =>
          requirement.includes(`at ${shape} shapes`) ? (shareOfBandwidth ?? []) : [],
        );
      return shares.length > 0 && Math.min(...shares) >= wanted ? [] : [`${fault}, and no decode shows it`];
    }
    return measured >= wanted ? [] : [`${fault} at ${measured} of ${wanted}`];
  });
}

/**
 * Why a report that holds together is no evidence of what engines do on a device; undefined where it is.
 */
export function whyNoEvidence({ device, steps }: DeviceReport): string | undefined {
  if (device.isFake) return 'it is of a fake run: host emulation, arithmetic only, and no device';
  if (device.gpu === null) return 'no device was found';
  const isBuilt = steps.some(({ step, status }) => step === 'build' && status === 'passed');
  return isBuilt ? undefined : 'the engines were not built';
}
