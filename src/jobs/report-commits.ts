import type { RunRecord } from '../model/run-record.ts';
import type { AppContext } from './app-context.ts';

/** Commits of report.json that the attempts of a run made, newest first. */
export async function findReportCommits(context: AppContext, run: RunRecord): Promise<readonly string[]> {
  const found: string[] = [];
  for (let attempt = run.state.attempt; attempt >= 1; attempt -= 1) {
    const effect = await context.store.effects.find(run.id, reportKey(attempt));
    if (typeof effect?.githubId === 'string') found.push(effect.githubId);
  }
  return found;
}

export function reportKey(attempt: number): string {
  return `report:${attempt}`;
}
