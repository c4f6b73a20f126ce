import { findUser } from './accounts.ts';
import { permissionOf } from './authorize-request.ts';
import { renderUser } from './render.ts';
import { foldedPermission, includesRole, mayAct } from './repository-role.ts';
import { GitHubError, type Reply, type RequestContext, type Route } from './router.ts';
import type { Repository, User, World } from './world.ts';

/** GitHub's "collaborator": a user with what they may do. */
function renderCollaborator(world: World, repository: Repository, user: User): Record<string, unknown> {
  const role = permissionOf(repository, user);
  return {
    ...renderUser(world, user),
    permissions: {
      pull: includesRole(role, 'read'),
      triage: includesRole(role, 'triage'),
      push: includesRole(role, 'write'),
      maintain: includesRole(role, 'maintain'),
      admin: includesRole(role, 'admin'),
    },
    role_name: role,
  };
}

/** `permission` folds maintain to write and triage to read; `role_name` does not. */
async function getPermission(context: RequestContext): Promise<Reply> {
  const { world, repository, params } = context;
  if (!mayAct(context, 'write')) {
    throw new GitHubError(403, 'Must have push access to view collaborator permission.');
  }
  const user = findUser(world, params.username ?? '');
  if (user === undefined) throw new GitHubError(404, `${params.username} is not a user`);
  return {
    status: 200,
    body: {
      permission: foldedPermission(repository, user),
      user: renderCollaborator(world, repository, user),
      role_name: permissionOf(repository, user),
    },
  };
}

export const collaboratorRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators/{username}/permission',
    needs: ['metadata', 'read'],
    handle: getPermission,
  },
];
