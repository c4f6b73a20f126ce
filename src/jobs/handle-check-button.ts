import { renderRefusal } from '../delivery/replies.ts';
import type { Intent } from '../model/github.ts';
import { isOpen } from '../pipeline.ts';
import { done, type Handled, ignored } from './answer.ts';
import { type AppContext, clientOf } from './app-context.ts';
import { askPermission } from './ask-permission.ts';
import { repeat } from './do-command.ts';
import { stopRun } from './request-run.ts';

/** Retry, Cancel and GitHub's own "Re-run" of our check. A check has no thread, so a refusal is said on the pull request. */
export async function handleCheckButton(
  context: AppContext,
  intent: Intent & { readonly kind: 'check-button' },
  deliveryId: string,
): Promise<Handled> {
  const { repository, actor, externalId, action } = intent;
  // The check's external id is the run's: it comes from our store, and is looked up there again.
  const run = externalId === null ? undefined : await context.store.findRun(externalId);
  if (run === undefined || run.repository.id !== repository.id) return ignored('a check of no run of ours');
  if (actor.isBot) return ignored('pressed by a bot');
  const answer = await askPermission(context, { repository, actor, capability: 'runner', isApproved: false });
  const isOwn = action === 'cancel' && run.requestedBy.id === actor.id;
  if (!answer.allowed && !isOwn) {
    const number = run.state.github?.pullNumber ?? run.source.number;
    const once = { scope: deliveryId, key: 'refusal' };
    await clientOf(context, repository).createComment(once, number, renderRefusal(answer.message));
    return done('refused');
  }
  const text = `@${actor.login} pressed ${action === 'retry' ? 'Retry' : 'Cancel'}`;
  if (action === 'cancel') {
    if (!isOpen(run.state)) return ignored('nothing to cancel');
    await context.store.addTimeline(run.id, { kind: 'person', text, url: null });
    await stopRun(context, run, null);
    return done(`cancelled run ${run.number}`);
  }
  if (isOpen(run.state)) return ignored('under way already');
  await context.store.addTimeline(run.id, { kind: 'person', text, url: null });
  await repeat(context, run);
  return done(`retried run ${run.number}`);
}
