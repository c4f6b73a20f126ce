import type { SeenRunner } from '../delivery/run-view.ts';
import type { RepositoryRef } from '../model/github.ts';
import type { AppContext } from './app-context.ts';

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
