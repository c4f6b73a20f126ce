import {
  also,
  type Change,
  ceilingsWith,
  check,
  failed,
  requirementWith,
  speedLine,
  speedWith,
  stepWith,
} from './good-report.ts';

const slow = speedLine('qwen3-8b', 'decode', 0, { share: 0.02 });

const withoutClaims: Change = (report) => ({ ...report, requirements: [] });
const notSummed = also(
  stepWith('summary', { status: 'timed-out', reason: 'not done within 10 s', checks: [] }),
  withoutClaims,
);

/** Where a report holds together and shows nothing. */
export const worthless: readonly (readonly [string, RegExp, Change])[] = [
  ['the sanitizer failed', /sanitizer is failed/, stepWith('sanitizer', failed('memcheck linear.dense'))],
  [
    'a gate failed',
    /gates is failed/,
    also(stepWith('gates', failed('logits')), requirementWith(0, { status: 'missed', measured: 1 })),
  ],
  [
    'the unit gates were skipped',
    /units is skipped/,
    also(
      stepWith('units', { status: 'skipped', reason: 'not asked for', checks: [] }),
      requirementWith(0, { status: 'not-measured', measured: null, wanted: null }),
    ),
  ],
  ['the requirements were not worked out', /summary is timed-out/, notSummed],
  ['the run was ended', /ended before its end/, (report) => ({ ...report, isComplete: false })],
  [
    'a requirement is missed',
    /"share of the.*required" is missed/,
    also(
      speedWith(slow),
      (report) => ({
        ...report,
        steps: report.steps.map((entry) =>
          entry.subject !== 'qwen3-8b'
            ? entry
            : {
                ...entry,
                checks: entry.checks.map((one) =>
                  one.check === 'decode 0'
                    ? check('decode 0', { tokensPerSecond: slow.tokensPerSecond })
                    : one,
                ),
              },
        ),
      }),
      requirementWith(1, { status: 'missed', measured: 0.02 }),
      requirementWith(2, { status: 'missed', measured: 0.02 }),
    ),
  ],
  [
    'no unit compared anything',
    /unit 1 compared no case/,
    stepWith('units', { checks: [check('unit 1'), check('unit 2')] }),
  ],
  ['the device was not named again', /named again/, ceilingsWith({ gpuAfter: null })],
  [
    'samples are far apart',
    /decode 0 .* apart/,
    (report) => {
      const line = report.speeds[0]!;
      const samplesSeconds = [line.medianSeconds, line.medianSeconds * 0.9, line.medianSeconds * 1.6];
      return speedWith({
        samplesSeconds,
        spread: (samplesSeconds[2]! - samplesSeconds[1]!) / line.medianSeconds,
      })(report);
    },
  ],
  [
    'one sample is faster than the ceilings',
    /decode 0 .*faster than measured/,
    (report) => {
      const line = report.speeds[0]!;
      const samplesSeconds = [line.medianSeconds, line.medianSeconds * 0.1, line.medianSeconds];
      return speedWith({
        samplesSeconds,
        spread: (line.medianSeconds - samplesSeconds[1]!) / line.medianSeconds,
      })(report);
    },
  ],
  [
    'there is one sample',
    /decode 0 .*fewer than 3/,
    (report) => speedWith({ samplesSeconds: [report.speeds[0]!.medianSeconds], spread: 0 })(report),
  ],
];
