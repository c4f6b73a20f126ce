import type { DeviceReport, DeviceSpeed } from '../../model/device-report.ts';
import { terminalText } from './terminal-text.ts';

/** A device check for a person: what ran where, what failed, and the figures if there was a device. */
export function renderDeviceReport(report: DeviceReport): string {
  const { device, steps, speeds, requirements, isComplete, seconds } = report;
  const where = device.isFake
    ? 'FAKE: host emulation, arithmetic only; nothing ran on a device and nothing below is a speed of one'
    : device.gpu === null
      ? 'no device was found'
      : `${device.gpu.name}, driver ${device.gpu.driver}`;
  return [
    `Device check of ${report.startedAt}: ${where}`,
    `${Math.round(seconds)} s of ${report.budgetSeconds} s${isComplete ? '' : '; it was ended before its end'}`,
    '',
    ...steps.map(
      ({ step, subject, status, reason, isEmulated }) =>
        `${status.padEnd(11)} ${subject === null ? step : `${step} ${subject}`}${isEmulated ? ' (emulated)' : ''}${reason === null ? '' : `: ${reason}`}`,
    ),
    ...steps.flatMap(({ step, checks }) =>
      checks
        .filter(({ status }) => status === 'failed')
        .map(({ check, findings }) => `FAILED ${step}, ${check}: ${findings[0]?.message ?? ''}`),
    ),
    '',
    ...speeds.filter(({ isEmulated }) => !isEmulated).map(renderSpeed),
    ...requirements.map(
      ({ requirement, status, measured, wanted }) =>
        `${status}: ${requirement}${measured === null ? '' : ` (${measured.toPrecision(3)}, wanted ${wanted})`}`,
    ),
  ]
    .map(terminalText)
    .join('\n');
}

function renderSpeed(line: DeviceSpeed): string {
  const { shape, test, size, runner, tokensPerSecond, shareOfBandwidth, shareOfProducts } = line;
  const share = shareOfBandwidth ?? shareOfProducts;
  const of = shareOfBandwidth === null ? 'of the bf16 product rate' : 'of the bandwidth';
  const shown = share === null ? '' : `, ${(100 * share).toFixed(1)} % ${of}`;
  return `${shape} ${test} ${size}, ${runner}: ${tokensPerSecond.toFixed(1)} tokens/s${shown}`;
}
