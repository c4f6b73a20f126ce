import type { RunnerNeed, SeenRunner } from '../delivery/run-view.ts';
import type { RepositoryRef } from '../model/github.ts';
import type { RunRecord } from '../model/run-record.ts';
import type { AppContext } from './app-context.ts';
import { readRepositoryConfig } from './ask-permission.ts';

/** A runner that took a job within this time counts as one that serves the job's labels. */
const seenWithinDays = 7;

/**
 * Whether a runner of the repository has taken a job with these labels lately. The app may not list runners (that needs
 * the administration permission), so it knows those that took a job.
 */
export async function findServedLabels(
  context: AppContext,
  repository: RepositoryRef,
  labels: readonly string[],
): Promise<{ readonly isServed: boolean; readonly seenRunners: readonly SeenRunner[] }> {
  const seenRunners = await context.store.seenRunners(repository.id);
  const since = context.now().getTime() - seenWithinDays * 86_400_000;
  const isServed = seenRunners.some(
    (runner) => runner.at.getTime() > since && labels.every((label) => runner.labels.includes(label)),
  );
  return { isServed, seenRunners };
}

/** What the run's job will ask of a runner; undefined where the operator lists no labels for its target. */
export async function findRunnerNeed(context: AppContext, run: RunRecord): Promise<RunnerNeed | undefined> {
  const { hardware } = run.state.constraints!;
  const labels = context.labelsFor({
    'hardware.platform': hardware.platform,
    'hardware.arch': hardware.arch,
  });
  if (labels === undefined) return undefined;
  const { runner } = await readRepositoryConfig(context, run.repository);
  const all = [...labels, ...runner.extra_labels];
  return { labels: all, ...(await findServedLabels(context, run.repository, all)) };
}
