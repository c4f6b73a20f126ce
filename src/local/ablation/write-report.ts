import { join } from 'node:path';
import { writeWhole } from './ablation-folder.ts';
import type { AblationPlan, AblationResult } from './ablation-plan.ts';
import { type AblationReport, makeAblationReport } from './ablation-report.ts';
import { plotAblation } from './plot-ablation.ts';
import { renderAblation } from './render-ablation.ts';

/** Writes report.json, report.md and a plot for each constraint file, each whole or as it was. */
export async function writeAblationReport(
  folder: string,
  plan: AblationPlan,
  results: readonly AblationResult[],
): Promise<AblationReport> {
  const report = makeAblationReport(plan, results);
  await writeWhole(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  for (const { name } of plan.files) {
    if (report.cells.some(({ file, finished }) => file === name && finished > 0))
      await writeWhole(join(folder, `${name}.svg`), await plotAblation(report, name));
  }
  await writeWhole(join(folder, 'report.md'), renderAblation(report));
  return report;
}
