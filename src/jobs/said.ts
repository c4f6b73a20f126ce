import { AppError } from '../model/errors.ts';
import type { RunRecord } from '../model/run-record.ts';
import type { AppContext } from './app-context.ts';

/**
 * One of the things that are said at a run's end. Where GitHub refuses it for good (a pull request that is closed, a
 * comment on a locked issue), the run's history says so, and the rest is said all the same.
 */
export async function said(context: AppContext, run: RunRecord, say: () => Promise<unknown>): Promise<void> {
  try {
    await say();
  } catch (error) {
    if (!(error instanceof AppError) || error.source !== 'user') throw error;
    context.log.warn({ err: error, run: run.number }, 'part of the end could not be said');
    const [text = ''] = error.message.split('\n');
    await context.store.addTimeline(run.id, { kind: 'problem', text, url: null });
  }
}
