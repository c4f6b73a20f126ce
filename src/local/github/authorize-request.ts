import type { Permission } from '../../model/github.ts';
import { type Actor, GitHubError, type PermissionNeed, type Route, type UserRole } from './router.ts';
import type { Repository, User } from './world.ts';

const roles: readonly Permission[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];
/** Anybody who sees a repository may write these. */
const openToReaders = new Set(['issues', 'pull_requests']);

/** A user's permission: what was granted, else read where the repository is public. */
export function permissionOf(repository: Repository, user: User): Permission {
  return repository.collaborators.get(user.id) ?? (repository.isPrivate ? 'none' : 'read');
}

export function hasRole(repository: Repository, user: User, role: UserRole): boolean {
  return roles.indexOf(permissionOf(repository, user)) >= roles.indexOf(role);
}

/** Whether the actor sees the repository at all; GitHub answers 404 where not. */
export function canSee(repository: Repository, actor: Actor): boolean {
  if (actor.kind === 'installation') return actor.repositoryIds.has(repository.id) || !repository.isPrivate;
  if (actor.kind === 'user') return hasRole(repository, actor.user, 'read');
  return !repository.isPrivate || actor.kind === 'app';
}

/** @throws GitHubError as GitHub answers what the actor may not do */
export function authorizeRequest(route: Route, actor: Actor, repository: Repository | undefined): void {
  if (route.access === 'anyone') return;
  requireKind(route, actor);
  if (route.access !== undefined) return;
  if (actor.kind === 'anonymous') {
    if (route.method !== 'GET') throw new GitHubError(401, 'Requires authentication');
    return;
  }
  if (actor.kind === 'installation') requirePermission(route, actor, repository);
  if (actor.kind === 'user' && repository !== undefined) requireRole(route, actor.user, repository);
}

function requireKind(route: Route, actor: Actor): void {
  if (route.access === 'app' && actor.kind !== 'app') {
    throw new GitHubError(401, 'A JSON web token could not be decoded');
  }
  if (route.access === 'installation' && actor.kind !== 'installation') {
    throw new GitHubError(
      403,
      'You must authenticate with an installation access token in order to list repositories for an installation.',
    );
  }
  if (route.access === undefined && actor.kind === 'app') {
    throw new GitHubError(
      401,
      "Requires authentication. An app's JSON web token does not work here; use an installation token.",
    );
  }
}

function requirePermission(
  route: Route,
  actor: Actor & { readonly kind: 'installation' },
  repository: Repository | undefined,
): void {
  const needs = [...(route.needs === undefined ? [] : [route.needs]), ...(route.orNeeds ?? [])];
  if (needs.length === 0) return;
  const isInstalled = repository === undefined || actor.repositoryIds.has(repository.id);
  const isPublicRead = route.method === 'GET' && repository !== undefined && !repository.isPrivate;
  if (!isInstalled && isPublicRead) return;
  if (isInstalled && needs.some((need) => isGranted(actor.permissions, need))) return;
  throw new GitHubError(403, 'Resource not accessible by integration', undefined, {
    'x-accepted-github-permissions': needs.map(([permission, level]) => `${permission}=${level}`).join('; '),
  });
}

/** Whether a granted permission set covers a need; write covers read. */
export function isGranted(
  permissions: Readonly<Record<string, string>>,
  [permission, level]: PermissionNeed,
): boolean {
  const granted = permissions[permission];
  return granted === level || granted === 'write' || granted === 'admin';
}

function requireRole(route: Route, user: User, repository: Repository): void {
  const isOpen = route.needs === undefined || openToReaders.has(route.needs[0]) || route.needs[1] === 'read';
  const role = route.userRole ?? (isOpen ? 'read' : 'write');
  if (hasRole(repository, user, role)) return;
  if (route.needs?.[0] === 'contents') throw new GitHubError(404, 'Not Found');
  throw new GitHubError(403, 'Must have admin rights to Repository.');
}
