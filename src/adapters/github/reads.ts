import type { Reaction } from '../../model/delivery.ts';
import { AppError } from '../../model/errors.ts';
import { type Permission, permissions } from '../../model/github.ts';
import { statusOf } from './github-errors.ts';
import type { ReactionTarget, RepositoryClient } from './repository-client.ts';
import { orUndefined, type RepositorySession } from './repository-session.ts';

const largestFileBytes = 1024 * 1024;

/** Text of a file at a ref; undefined where there is none, or something else (a folder, a submodule) is there. */
export async function readFile(
  session: RepositorySession,
  path: string,
  ref?: string,
): Promise<string | undefined> {
  const answer = await orUndefined(
    session.call((octokit) =>
      octokit.rest.repos.getContent({ ...session.place, path, ...(ref === undefined ? {} : { ref }) }),
    ),
  );
  const file = answer?.data;
  if (file === undefined || Array.isArray(file) || file.type !== 'file') return undefined;
  if (file.size > largestFileBytes || file.encoding !== 'base64') {
    const { owner, name } = session.repository;
    throw new AppError(
      'CONSTRAINTS_INVALID',
      `${path} in ${owner}/${name} has ${file.size} bytes; at most ${largestFileBytes} are read. Make it smaller.`,
    );
  }
  return Buffer.from(file.content, 'base64').toString('utf8');
}

/** What lies directly in a folder; GitHub lists at most 1,000 entries. */
export async function listFolder(
  session: RepositorySession,
  path: string,
  ref: string,
): ReturnType<RepositoryClient['listFolder']> {
  const answer = await orUndefined(
    session.call((octokit) => octokit.rest.repos.getContent({ ...session.place, path, ref })),
  );
  return Array.isArray(answer?.data)
    ? answer.data.map((entry) => ({ path: entry.path, isFolder: entry.type === 'dir' }))
    : [];
}

export async function readIssue(
  session: RepositorySession,
  number: number,
): ReturnType<RepositoryClient['readIssue']> {
  const { data } = await session.call((octokit) =>
    octokit.rest.issues.get({ ...session.place, issue_number: number }),
  );
  return {
    body: data.body ?? '',
    state: data.state,
    labels: data.labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
    isPull: data.pull_request !== undefined,
    authorId: data.user?.id ?? 0,
  };
}

interface GitHubPermission {
  readonly permission: string;
  readonly role_name: string;
  readonly user: {
    readonly id: number;
    readonly permissions?: Readonly<Record<string, boolean | undefined>>;
  } | null;
}

/** A custom role counts as the strongest base role whose flag it has. */
function toPermission({ permission, role_name, user }: GitHubPermission): Permission {
  const known = permissions.find((it) => it === role_name);
  if (known !== undefined) return known;
  const flags = user?.permissions ?? {};
  const byFlag: readonly (readonly [string, Permission])[] = [
    ['admin', 'admin'],
    ['maintain', 'maintain'],
    ['push', 'write'],
    ['triage', 'triage'],
    ['pull', 'read'],
  ];
  const strongest = byFlag.find(([flag]) => flags[flag] === true)?.[1];
  return strongest ?? permissions.find((it) => it === permission) ?? 'none';
}

/** Names change hands: a login that now belongs to another account has no permission here. */
export async function permissionOf(
  session: RepositorySession,
  user: { readonly id: number; readonly login: string },
): Promise<Permission> {
  const answer = await orUndefined(
    session.call((octokit) =>
      octokit.rest.repos.getCollaboratorPermissionLevel({ ...session.place, username: user.login }),
    ),
  );
  if (answer === undefined || answer.data.user?.id !== user.id) return 'none';
  return toPermission(answer.data);
}

/** As the installation stands now, not as the token at hand has it. */
export async function grantedPermissions(
  session: RepositorySession,
): Promise<Readonly<Record<string, string>>> {
  const { data } = await session.callAsApp((octokit) =>
    octokit.rest.apps.getRepoInstallation({ ...session.place }),
  );
  return data.permissions as Readonly<Record<string, string>>;
}

/** GitHub answers the same reaction twice with the first one, so this may be repeated. */
export async function react(
  session: RepositorySession,
  target: ReactionTarget,
  reaction: Reaction,
): Promise<void> {
  const { place } = session;
  await session.call<unknown>((octokit) => {
    const { reactions } = octokit.rest;
    if (target.kind === 'issue') {
      return reactions.createForIssue({ ...place, issue_number: target.number, content: reaction });
    }
    return target.kind === 'issue-comment'
      ? reactions.createForIssueComment({ ...place, comment_id: target.id, content: reaction })
      : reactions.createForPullRequestReviewComment({ ...place, comment_id: target.id, content: reaction });
  });
}

/** GitHub makes the label where the repository has none of that name. */
export async function addLabel(session: RepositorySession, number: number, label: string): Promise<void> {
  await session.call((octokit) =>
    octokit.rest.issues.addLabels({ ...session.place, issue_number: number, labels: [label] }),
  );
}

export async function removeLabel(session: RepositorySession, number: number, label: string): Promise<void> {
  try {
    await session.call((octokit) =>
      octokit.rest.issues.removeLabel({ ...session.place, issue_number: number, name: label }),
    );
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}
