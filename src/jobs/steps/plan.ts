import { AppError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run.ts';
import type { RunRecord } from '../../model/run-record.ts';
import { type PreparedEngine, prepareEngine } from '../../preparation/prepare-engine.ts';
import type { AppContext } from '../app-context.ts';
import { acceptRequest } from '../constraint-request.ts';

export async function plan(context: AppContext, run: RunRecord): Promise<RunEvent> {
  const prepared = await prepareRun(context, run);
  await context.store.saveDocument(run.id, 'plan', prepared.plan);
  return { type: 'plan-made', sha256: prepared.planSha256, missing: prepared.plan.missing };
}

export async function prepareRun(context: AppContext, run: RunRecord): Promise<PreparedEngine> {
  const { text, fileName } = run.state.input;
  return prepareEngine(await acceptRequest(context, text, fileName), context.catalog);
}

/** The plan made again; it must be the one that was announced. @throws AppError RUN_STATE_INVALID */
export async function prepareAgain(context: AppContext, run: RunRecord): Promise<PreparedEngine> {
  const prepared = await prepareRun(context, run);
  if (prepared.planSha256 === run.state.planSha256) return prepared;
  throw new AppError(
    'RUN_STATE_INVALID',
    'The knowledge changed since this plan was made, and it comes out differently now. Ask for it anew with `/metainfer generate` after an edit of the constraint file.',
  );
}
