import { statusOf } from '../adapters/github/github-errors.ts';
import { renderRefusal } from '../delivery/replies.ts';
import { AppError } from '../model/errors.ts';
import type { Intent } from '../model/github.ts';
import { repositoryUpdatedAt } from '../webhooks/repository-updated-at.ts';
import { toIntent } from '../webhooks/to-intent.ts';
import { done, type Handled, ignored } from './answer.ts';
import { type AppContext, clientOf } from './app-context.ts';
import { handleCheckButton } from './handle-check-button.ts';
import { handleCommand } from './handle-command.ts';
import { handleInstallation, handleRepository } from './handle-installation.ts';
import { handleIssue } from './handle-issue.ts';
import { handlePull, handlePullClosed } from './handle-pull.ts';
import { handleJob, handleWorkflow } from './handle-workflow.ts';

/** One webhook delivery that was accepted: payload → intent → what it starts. */
export async function handleDelivery(context: AppContext, deliveryId: string): Promise<void> {
  const { store } = context;
  const delivery = await store.findDelivery(deliveryId);
  if (delivery === undefined || delivery.outcome === 'done' || delivery.outcome === 'ignored') return;
  const intent = toIntent(delivery.event, delivery.payload);
  if ('repository' in intent && intent.repository !== undefined) {
    const updatedAt = repositoryUpdatedAt(delivery.payload);
    await store.noteRepository(intent.repository, { updatedAt, receivedAt: delivery.receivedAt });
  }
  const handled = await handleIntent(context, intent, deliveryId).catch((error: unknown) =>
    tellRefusal(context, intent, deliveryId, error),
  );
  context.log.info({ delivery: deliveryId, event: delivery.event, ...handled }, 'delivery handled');
  await store.finishDelivery(deliveryId, handled.outcome, handled.detail);
}

/** What a person can set right (a broken .github/metainfer.yml, a missing permission) is said where they asked. */
async function tellRefusal(
  context: AppContext,
  intent: Intent,
  deliveryId: string,
  error: unknown,
): Promise<Handled> {
  const isAsked = intent.kind === 'consider-issue' || intent.kind === 'consider-pull';
  const isForPeople =
    error instanceof AppError && (error.code === 'REPOSITORY_CONFIG_INVALID' || statusOf(error) === 403);
  if (!isAsked || !isForPeople) throw error;
  const { repository } = intent;
  const number = intent.kind === 'consider-issue' ? intent.issue : intent.pull;
  const once = { scope: deliveryId, key: 'refusal' };
  await clientOf(context, repository).createComment(once, number, renderRefusal(error.message));
  return done(`refused: ${error.code}`);
}

function handleIntent(context: AppContext, intent: Intent, deliveryId: string): Promise<Handled> {
  switch (intent.kind) {
    case 'consider-issue':
      return handleIssue(context, intent, deliveryId);
    case 'consider-pull':
      return handlePull(context, intent);
    case 'command':
      return handleCommand(context, intent, deliveryId);
    case 'check-button':
      return handleCheckButton(context, intent, deliveryId);
    case 'workflow-moved':
      return handleWorkflow(context, intent);
    case 'job-moved':
      return handleJob(context, intent);
    case 'pull-closed':
      return handlePullClosed(context, intent);
    case 'installation-changed':
      return handleInstallation(context, intent);
    case 'repository-changed':
      return handleRepository(context, intent);
    case 'ignored':
      return Promise.resolve(ignored(intent.because));
  }
}
