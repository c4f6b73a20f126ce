import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CommandLine } from '../fixtures/command-line.ts';
import { deviceReport } from '../local/device-check/good-report.ts';
import { refusalOf } from '../support/refusal-of.ts';

const cli = new CommandLine();
const bundle = join(cli.folder, 'bundle');
afterAll(() => cli.close());

describe('the device-check command', () => {
  it.each([
    [['--only', 'nothing'], '--only has "nothing"; steps are environment, build, gates, ceilings'],
    [['--only', 'build,'], '--only has ""'],
    [['--budget-seconds', '0'], '--budget-seconds is 0; expected a whole number from 1 on'],
    [['--budget-seconds', 'soon'], '--budget-seconds is soon'],
    [['--seed=-1'], '--seed is -1'],
  ])('refuses %j before it packs anything', async (options, says) => {
    const { exitCode, message } = await refusalOf(['device-check', '--fake', bundle, ...options], cli.cache);
    expect(exitCode).toBe(2);
    expect(message).toContain(says);
    expect(existsSync(bundle)).toBe(false);
  });

  it('ends with 0 for evidence, 1 for a report that is none and 3 for a forged one, and says the same as JSON', async () => {
    const good = deviceReport();
    const reports = [
      good,
      { ...good, isComplete: false },
      { ...good, steps: good.steps.filter(({ step }) => step !== 'gates') },
    ];
    const ends = [];
    for (const [index, report] of reports.entries()) {
      const path = join(cli.folder, `report-${index}.json`);
      writeFileSync(path, JSON.stringify(report));
      const { code, stdout } = await cli.run(['device-check', '--check', path, '--json']);
      const { isEvidence, error } = JSON.parse(stdout) as { isEvidence?: boolean; error?: { code: string } };
      ends.push([code, isEvidence, error?.code]);
    }
    expect(ends).toEqual([
      [0, true, undefined],
      [1, false, undefined],
      [3, undefined, 'REPORT_REJECTED'],
    ]);
  });

  it('refuses to hold a report against a folder that holds no bundle', async () => {
    const path = join(cli.folder, 'report.json');
    writeFileSync(path, JSON.stringify(deviceReport()));
    const { exitCode, message } = await refusalOf(['device-check', '--check', path, cli.folder], cli.cache);
    expect([exitCode, message]).toEqual([2, expect.stringContaining('holds no bundle')]);
  });
});
