import type { GpuDevice } from '../../model/catalog.ts';
import { DeviceReport } from '../../model/device-report.ts';
import { AppError } from '../../model/errors.ts';
import { findDeviceFaults, findFakeFaults, findOriginFaults, type KnownBundle } from './check-device.ts';
import { findSpeedFaults } from './check-speeds.ts';
import { findLineFaults, findStepsFaults } from './check-steps.ts';
import { findRequirementFaults } from './judge-requirements.ts';
import { findRepeatedKey } from './repeated-key.ts';
import { terminalText } from './terminal-text.ts';

/** What a report can be held against besides itself. */
export interface ReportSurroundings {
  /** Of the knowledge: what vendors state of their devices. */
  readonly devices?: readonly GpuDevice[];
  readonly bundle?: KnownBundle;
  /** Milliseconds since 1970. */
  readonly now?: number;
}

/**
 * The report of a device check, as far as it holds together: its form, and everything that follows from its own samples.
 * @throws AppError REPORT_REJECTED naming everything that is wrong
 */
export function readDeviceReport(text: string, surroundings: ReportSurroundings = {}): DeviceReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw rejected([`it is not JSON: ${(error as Error).message}`]);
  }
  const repeated = findRepeatedKey(text);
  if (repeated !== undefined) throw rejected([`the key "${repeated}" stands twice, or is none`]);
  const parsed = DeviceReport.safeParse(value);
  if (!parsed.success)
    throw rejected(
      parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`),
    );
  const faults = findFaults(parsed.data, surroundings);
  if (faults.length > 0) throw rejected(faults);
  return parsed.data;
}

function rejected(faults: readonly string[]): AppError {
  const shown = faults.slice(0, 20).map((fault) => `- ${terminalText(fault.slice(0, 300))}`);
  return new AppError('REPORT_REJECTED', ['This is no report of a device check:', ...shown].join('\n'));
}

function findFaults(report: DeviceReport, { devices, bundle, now }: ReportSurroundings): string[] {
  return [
    ...findOriginFaults(report, now ?? Date.now(), bundle),
    ...findStepsFaults(report),
    ...findSpeedFaults(report),
    ...findLineFaults(report),
    ...(report.device.isFake ? findFakeFaults(report) : findDeviceFaults(report, devices ?? [])),
    ...findRequirementFaults(report),
  ];
}
