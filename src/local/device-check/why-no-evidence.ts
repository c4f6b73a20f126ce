import { type DeviceReport, type DeviceStep, deviceRequirements } from '../../model/device-report.ts';
import { bestBandwidth, bestProducts, lineName, physicsMargin } from './check-speeds.ts';
import { nameOf } from './check-steps.ts';
import { knownShapes } from './known-shapes.ts';

/** What code for sm_80 and for sm_90 runs on. */
const builtFor = /^(?:8\.\d|9\.0)$/;
/** Of the median: samples further apart say little about it. */
const mostSpread = 0.5;
const leastSamples = 3;

/**
 * Why a report that holds together is no evidence of what engines do on a device; undefined where it is.
 */
export function whyNoEvidence(report: DeviceReport): string | undefined {
  const { device, steps, isComplete } = report;
  if (device.isFake) return 'it is of a fake run: host emulation, arithmetic only, and no device';
  if (device.gpu === null) return 'no device was found';
  const isBuilt = steps.some(({ step, status }) => step === 'build' && status === 'passed');
  if (!isBuilt) return 'the engines were not built';
  if (!builtFor.test(device.gpu.computeCapability))
    return `the engines are built for no device of compute capability ${device.gpu.computeCapability}`;
  if (!isComplete) return 'the run was ended before its end';
  return whyNoWholeRun(report) ?? whyNoRequirement(report) ?? whyNoMeasurement(report);
}

function whyNoWholeRun({ steps, environment }: DeviceReport): string | undefined {
  const bad = steps.find((step) => !isDone(step, environment.computeSanitizer === true));
  if (bad !== undefined) return `${nameOf(bad)} is ${bad.status}`;
  const missing = Object.keys(knownShapes).find((id) => !steps.some(({ subject }) => subject === id));
  if (missing !== undefined) return `the speed of ${missing} was not measured`;
  const units = steps.find(({ step }) => step === 'units')?.checks ?? [];
  const empty = units.find(({ figures }) => typeof figures.cases !== 'number' || figures.cases < 1);
  return empty === undefined ? undefined : `units: ${empty.check} compared no case`;
}

/** A machine may have no sanitizer and no PyTorch; what it has must have run to its end. */
function isDone({ step, status }: DeviceStep, hasSanitizer: boolean): boolean {
  const isOptional = step === 'torch' || (step === 'sanitizer' && !hasSanitizer);
  return status === 'passed' || (status === 'not-run' && isOptional);
}

function whyNoRequirement({ requirements, speeds }: DeviceReport): string | undefined {
  const { gates, share, torch } = deviceRequirements;
  const hasTorch = speeds.some(({ runner }) => runner !== 'engine');
  for (const { title } of [gates, share, ...(hasTorch ? [torch] : [])]) {
    const status = requirements.find(({ requirement }) => requirement === title)?.status;
    if (status !== 'met') return `the requirement "${title}" is ${status ?? 'not there'}`;
  }
  return undefined;
}

function whyNoMeasurement({ speeds, ceilings }: DeviceReport): string | undefined {
  if (ceilings === null) return 'the ceilings were not measured';
  if (ceilings.gpuAfter === null) return 'the device was not named again after its ceilings were measured';
  for (const line of speeds) {
    const { samplesSeconds, bytes, flops, runner } = line;
    const fastest = Math.min(...samplesSeconds);
    const share = Math.max(
      (bytes ?? 0) / fastest / bestBandwidth(ceilings),
      (flops ?? 0) / fastest / bestProducts(ceilings),
    );
    if (share > physicsMargin) return `${lineName(line)} has a sample that is faster than measured ceilings`;
    if (samplesSeconds.length < leastSamples)
      return `${lineName(line)} has fewer than ${leastSamples} samples`;
    if (line.spread > mostSpread && runner === 'engine')
      return `${lineName(line)} has samples that are ${Math.round(100 * line.spread)} % of their median apart`;
  }
  return undefined;
}
