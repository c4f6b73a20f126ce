import { findUser } from './accounts.ts';
import { permissionOf } from './authorize-request.ts';
import { requireCommit } from './commit-routes.ts';
import { readRef } from './move-ref.ts';
import { renderPage } from './pagination.ts';
import { renderRepository, renderUser, repositoryApiUrl, repositoryHtmlUrl, timestamp } from './render.ts';
import { renderCommit } from './render-commit.ts';
import { GitHubError, numberParam, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import type { User } from './world.ts';

const repo = '/repos/{owner}/{repo}';

/** Repositories, branches and users. */
export const repositoryRoutes: readonly Route[] = [
  { method: 'GET', path: repo, handle: getRepository },
  { method: 'GET', path: `${repo}/branches`, needs: ['contents', 'read'], handle: listBranches },
  { method: 'GET', path: `${repo}/branches/{branch}`, needs: ['contents', 'read'], handle: getBranch },
  {
    method: 'GET',
    path: '/users/{username}',
    handle: async (context) => userReply(context, findUser(context.world, context.params.username ?? '')),
  },
  {
    method: 'GET',
    path: '/user/{account_id}',
    handle: async (context) =>
      userReply(context, context.world.users.get(numberParam(context, 'account_id'))),
  },
  { method: 'GET', path: '/user', handle: async (context) => userReply(context, senderOf(context)) },
];

async function getRepository(context: RequestContext): Promise<Reply> {
  const { world, repository, actor } = context;
  const role = actor.kind === 'user' ? permissionOf(repository, actor.user) : 'read';
  const reached = ['read', 'triage', 'write', 'maintain', 'admin'].indexOf(role);
  const names = ['pull', 'triage', 'push', 'maintain', 'admin'];
  const body = {
    ...renderRepository(world, repository),
    permissions: Object.fromEntries(names.map((name, level) => [name, level <= reached])),
    network_count: 0,
    subscribers_count: 0,
  };
  return { status: 200, body };
}

async function listBranches(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const format = '%(refname:lstrip=2) %(objectname)';
  const text = await world.git(repository, ['for-each-ref', `--format=${format}`, 'refs/heads/']);
  const branches = text.split('\n').filter((line) => line !== '');
  return renderPage(context, branches, (line) => {
    const [name = '', sha = ''] = line.split(' ');
    const url = `${repositoryApiUrl(world, repository)}/commits/${sha}`;
    return { name, commit: { sha, url }, protected: false };
  });
}

async function getBranch(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const name = context.params.branch ?? '';
  const sha = await readRef(world, repository, `refs/heads/${name}`);
  if (sha === undefined) throw new GitHubError(404, 'Branch not found');
  const url = `${repositoryApiUrl(world, repository)}/branches/${name}`;
  const body = {
    name,
    commit: renderCommit(world, repository, await requireCommit(context, sha, 404)),
    _links: { self: url, html: `${repositoryHtmlUrl(world, repository)}/tree/${name}` },
    protected: false,
    protection: {
      enabled: false,
      required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] },
    },
    protection_url: `${url}/protection`,
  };
  return { status: 200, body };
}

function userReply(context: RequestContext, user: User | undefined): Reply {
  if (user === undefined) throw new GitHubError(404, 'Not Found');
  const { world } = context;
  const since = timestamp(new Date(0));
  const body = {
    ...renderUser(world, user),
    name: user.login,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: since,
    updated_at: since,
  };
  return { status: 200, body };
}
