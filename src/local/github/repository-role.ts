import { type Permission, permissions } from '../../model/github.ts';
import { hasRole, permissionOf } from './authorize-request.ts';
import { GitHubError, type RequestContext, type UserRole } from './router.ts';
import type { Repository, User } from './world.ts';

/** Whether the actor may do what needs this role; an installation's permissions were checked by the router. */
export function mayAct(context: RequestContext, role: UserRole): boolean {
  const { actor } = context;
  if (actor.kind === 'installation') return true;
  return actor.kind === 'user' && hasRole(context.repository, actor.user, role);
}

/**
 * What people may do to their own issues and comments, and collaborators to all.
 * @throws GitHubError 403 for other people
 */
export function requireAuthorOrRole(context: RequestContext, author: User, role: UserRole): void {
  const { actor } = context;
  if (actor.kind === 'user' && actor.user.id === author.id) return;
  if (!mayAct(context, role)) throw new GitHubError(403, 'Must have admin rights to Repository.');
}

/** GitHub's word for how the author of something stands to the repository. */
export function associationOf(repository: Repository, user: User): 'OWNER' | 'COLLABORATOR' | 'NONE' {
  if (repository.owner.id === user.id) return 'OWNER';
  return repository.collaborators.has(user.id) ? 'COLLABORATOR' : 'NONE';
}

/** A permission as GitHub's older field folds it: maintain is write, triage is read. */
export function foldedPermission(repository: Repository, user: User): 'admin' | 'write' | 'read' | 'none' {
  const permission = permissionOf(repository, user);
  if (permission === 'maintain') return 'write';
  return permission === 'triage' ? 'read' : permission;
}

/** Whether a role includes another. */
export function includesRole(role: Permission, wanted: Permission): boolean {
  return permissions.indexOf(role) >= permissions.indexOf(wanted);
}
