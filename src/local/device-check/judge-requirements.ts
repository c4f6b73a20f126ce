import {
  type DeviceReport,
  type DeviceRequirement,
  type DeviceSpeed,
  deviceRequirements,
} from '../../model/device-report.ts';
import { agree } from './agree.ts';

const { largeShape, gates, share, shareGoal, torch } = deviceRequirements;
/** Steps whose checks are gates. */
export const gateSteps: readonly string[] = ['build', 'gates', 'speed', 'units'];

type Judged = Omit<DeviceRequirement, 'note'>;
type Status = DeviceRequirement['status'];

/** The requirements of a report, worked out from its steps and speeds as device/summary.py does. */
export function judgeRequirements(report: DeviceReport): Judged[] {
  const lowest = lowestShare(report.speeds);
  return [
    judgeGates(report),
    judgeLeast(share.title, lowest, share.wanted),
    judgeLeast(shareGoal.title, lowest, shareGoal.wanted),
    judgeLeast(torch.title, lowestRatio(report.speeds), torch.wanted),
  ];
}

function judgeGates({ device, steps }: DeviceReport): Judged {
  const needed = steps.filter(({ step }) => gateSteps.includes(step));
  const red = needed.flatMap(({ checks }) => checks).filter(({ status }) => status === 'failed').length;
  const judged = (status: Status, measured: number | null) => ({
    ...{ requirement: gates.title, status, measured },
    wanted: measured === null ? null : gates.wanted,
  });
  if (device.isFake) return judged('not-measured', null);
  if (red > 0) return judged('missed', red);
  return needed.every(({ status }) => status === 'passed') ? judged('met', 0) : judged('not-measured', null);
}

function judgeLeast(requirement: string, measured: number | null, wanted: number): Judged {
  const status = measured === null ? 'not-measured' : measured >= wanted ? 'met' : 'missed';
  return { requirement, status, measured, wanted };
}

function lowestShare(speeds: readonly DeviceSpeed[]): number | null {
  const shares = speeds
    .filter(({ shape, runner, test }) => shape === largeShape && runner === 'engine' && test === 'decode')
    .flatMap(({ shareOfBandwidth }) => shareOfBandwidth ?? []);
  return shares.length === 0 ? null : Math.min(...shares);
}

/** Of the engine beside PyTorch to the faster of PyTorch's ways. */
function lowestRatio(speeds: readonly DeviceSpeed[]): number | null {
  const ratios = speeds
    .filter(({ test, runner }) => test === 'decode' && runner === 'engine, beside torch')
    .flatMap((line) => {
      const peers = speeds.filter(
        ({ runner, shape, test, size }) =>
          runner.startsWith('torch') && shape === line.shape && test === line.test && size === line.size,
      );
      if (peers.length === 0) return [];
      return line.tokensPerSecond / Math.max(...peers.map(({ tokensPerSecond }) => tokensPerSecond));
    });
  return ratios.length === 0 ? null : Math.min(...ratios);
}

/** Requirements that stand in a report, held against what its steps and speeds give. */
export function findRequirementFaults(report: DeviceReport): string[] {
  const { requirements, steps } = report;
  const isSummed = steps.some(({ step, status }) => step === 'summary' && status === 'passed');
  if (requirements.length === 0)
    return isSummed ? ['requirements: there are none, and the summary is called passed'] : [];
  const expected = judgeRequirements(report);
  const titles = expected.map(({ requirement }) => requirement);
  const written = requirements.map(({ requirement }) => requirement);
  if (written.join('\n') !== titles.join('\n')) return [describeTitles(written, titles)];
  return requirements.flatMap((entry, index) => compareRequirement(entry, expected[index]!));
}

function describeTitles(written: readonly string[], titles: readonly string[]): string {
  const unknown = written.find((title) => !titles.includes(title));
  if (unknown !== undefined) return `requirements: "${unknown}" is none of this check's`;
  const missing = titles.find((title) => !written.includes(title));
  if (missing !== undefined) return `requirements: "${missing}" is missing`;
  return 'requirements: they do not stand there once each, in their order';
}

function compareRequirement(written: DeviceRequirement, expected: Judged): string[] {
  const place = `requirements: "${expected.requirement}"`;
  const same = (left: number | null, right: number | null) =>
    left === null || right === null ? left === right : agree(left, right);
  if (written.status !== expected.status)
    return [`${place} is called ${written.status}; steps and speeds give ${expected.status}`];
  if (!same(written.wanted, expected.wanted))
    return [`${place} wants ${written.wanted} instead of ${expected.wanted}`];
  if (!same(written.measured, expected.measured))
    return [`${place} has ${written.measured}; steps and speeds give ${expected.measured}`];
  return [];
}
