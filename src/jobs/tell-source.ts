import type { RunRecord } from '../model/run-record.ts';
import { type AppContext, clientOf } from './app-context.ts';
import { issueScope } from './run-view.ts';

/** The sticky comment on the issue or pull request that asked: one for each constraint file there. */
export async function tellSource(context: AppContext, run: RunRecord, body: string): Promise<void> {
  const { repository, source } = run;
  const key = source.path === null ? 'status' : `status:${source.path}`;
  const once = { scope: issueScope(repository, source.number), key };
  await clientOf(context, repository).upsertComment(once, source.number, body);
}
