import { randomBytes } from 'node:crypto';
import { isGranted } from './authorize-request.ts';
import { renderRepository, timestamp } from './render.ts';
import { bodyOf, GitHubError, type RequestContext } from './router.ts';
import type { Installation, Repository } from './world.ts';

const lifetimeMilliseconds = 3_600_000;

/**
 * Makes a token that lives for an hour; `repositories`, `repository_ids` and `permissions` of the body narrow it.
 * @throws GitHubError 422 where more is asked for than the installation has
 */
export function createInstallationToken(
  context: RequestContext,
  installation: Installation,
): Record<string, unknown> {
  const { world } = context;
  const body = bodyOf(context);
  const permissions = narrowPermissions(installation, body.permissions);
  const chosen = narrowRepositories(context, installation, body);
  const token = `ghs_${randomBytes(18).toString('hex')}`;
  const expiresAt = new Date(world.now().getTime() + lifetimeMilliseconds);
  const repositoryIds =
    chosen === undefined ? installation.repositoryIds : new Set(chosen.map(({ id }) => id));
  world.tokens.set(token, { kind: 'installation', installation, permissions, repositoryIds, expiresAt });
  return {
    token,
    expires_at: timestamp(expiresAt),
    permissions,
    repository_selection: 'selected',
    ...(chosen === undefined
      ? {}
      : { repositories: chosen.map((repository) => renderRepository(world, repository)) }),
  };
}

function narrowPermissions(installation: Installation, wanted: unknown): Readonly<Record<string, string>> {
  if (wanted === undefined) return installation.permissions;
  if (typeof wanted !== 'object' || wanted === null) throw new GitHubError(422, 'Invalid request.');
  for (const [permission, level] of Object.entries(wanted)) {
    if ((level === 'read' || level === 'write') && isGranted(installation.permissions, [permission, level])) {
      continue;
    }
    throw new GitHubError(422, 'The permissions requested are not granted to this installation.');
  }
  return { ...(wanted as Record<string, string>), metadata: 'read' };
}

function narrowRepositories(
  context: RequestContext,
  installation: Installation,
  body: Readonly<Record<string, unknown>>,
): readonly Repository[] | undefined {
  const { repositories: names, repository_ids: ids } = body;
  if (!Array.isArray(names) && !Array.isArray(ids)) return undefined;
  const own = [...context.world.repositories.values()].filter(({ id }) => installation.repositoryIds.has(id));
  const wanted: readonly unknown[] = [
    ...(Array.isArray(names) ? names : []),
    ...(Array.isArray(ids) ? ids : []),
  ];
  return wanted.map((entry) => {
    const found = own.find(({ id, name }) => id === entry || name === entry);
    if (found !== undefined) return found;
    throw new GitHubError(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  });
}
