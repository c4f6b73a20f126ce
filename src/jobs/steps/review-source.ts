import { renderPlanReview } from '../../delivery/render-plan-review.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { type AppContext, clientOf } from '../app-context.ts';
import { makeRunView } from '../run-view.ts';

/** What is wrong with a pull request's constraint file, inline on its lines. */
export async function reviewSource(context: AppContext, run: RunRecord): Promise<void> {
  const client = clientOf(context, run.repository);
  const pull = await client.readPull(run.source.number);
  const files = await client.listPullFiles(run.source.number);
  const review = renderPlanReview(await makeRunView(context, run), files, 'waits-for-approval');
  await client.createReview({ scope: run.id, key: 'problems' }, run.source.number, pull.headSha, review);
}
