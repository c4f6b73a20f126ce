import type { z } from 'zod';
import type { Intent } from '../model/github.ts';
import { unusedAction } from './conversation-intents.ts';
import { type InstallationEvent, type RepositoryChange, repositoryOf } from './payload-shapes.ts';

const repositoryActions = [
  'archived',
  'deleted',
  'edited',
  'privatized',
  'publicized',
  'renamed',
  'transferred',
  'unarchived',
];

/** `installation` and `installation_repositories`: every action tells what the app may reach now. */
export function intentOfInstallation(action: string, event: z.infer<typeof InstallationEvent>): Intent {
  const { installation, repositories, repositories_added: added, repositories_removed: removed } = event;
  const gone = action === 'deleted' ? (repositories ?? []) : (removed ?? []);
  const fresh = action === 'deleted' ? [] : (added ?? repositories ?? []);
  return {
    kind: 'installation-changed',
    installationId: installation.id,
    action,
    account: installation.account?.login ?? installation.account?.slug ?? '',
    added: fresh.map(({ full_name: name }) => name),
    removedRepositoryIds: gone.map(({ id }) => id),
  };
}

/** A repository that changed its name, owner, visibility or default branch, or is gone. */
export function intentOfRepository(action: string, event: z.infer<typeof RepositoryChange>): Intent {
  if (!repositoryActions.includes(action)) return unusedAction('repository', action);
  const repository = 'installation' in event ? { repository: repositoryOf(event) } : {};
  return { kind: 'repository-changed', repositoryId: event.repository.id, action, ...repository };
}
