import type { Intent } from '../model/github.ts';
import { isOpen } from '../pipeline.ts';
import { done, type Handled, ignored } from './answer.ts';
import type { AppContext } from './app-context.ts';

/** Where the app was taken away, nothing can be said any more: open runs there end without a word. */
export async function handleInstallation(
  context: AppContext,
  intent: Intent & { readonly kind: 'installation-changed' },
): Promise<Handled> {
  const isGone = intent.action === 'deleted' || intent.action === 'suspend';
  if (!isGone && intent.removedRepositoryIds.length === 0)
    return done(`installation ${intent.action} (${intent.account})`);
  const open = await context.store.listRuns({ isOpen: true, limit: 1000 });
  // By the installation too: a repository that is reached by another one since is not lost with this one.
  const lost = open.filter(
    ({ repository }) =>
      repository.installationId === intent.installationId &&
      (isGone || intent.removedRepositoryIds.includes(repository.id)),
  );
  for (const run of lost) await endSilently(context, run.id);
  return done(`${lost.length} runs ended`);
}

export async function handleRepository(
  context: AppContext,
  intent: Intent & { readonly kind: 'repository-changed' },
): Promise<Handled> {
  if (intent.action !== 'deleted' && intent.action !== 'archived') {
    const { repository } = intent;
    return repository === undefined
      ? ignored(`repository ${intent.action}`)
      : done(`repository ${intent.action}: ${repository.owner}/${repository.name}`);
  }
  const open = await context.store.listRuns({ repositoryId: intent.repositoryId, isOpen: true, limit: 1000 });
  for (const run of open) await endSilently(context, run.id);
  return done(`${open.length} runs ended`);
}

/** `cancelled`, then over `conclude` at once: the repository takes no comment. */
async function endSilently(context: AppContext, runId: string): Promise<void> {
  await context.store.requestCancel(runId);
  await context.store.moveRun(runId, { type: 'cancelled' }, (run) => isOpen(run.state));
  await context.store.moveRun(runId, { type: 'concluded' }, (run) => run.state.next === 'conclude');
}
