import { z } from 'zod';
import type { CommitStatus } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { renderPage } from './pagination.ts';
import { readCommits, resolveCommit } from './read-commits.ts';
import { renderMinimalRepository, renderUser, repositoryApiUrl, timestamp } from './render.ts';
import { renderCommit } from './render-commit.ts';
import { parseBody } from './request-body.ts';
import {
  GitHubError,
  type PermissionNeed,
  type Reply,
  type RequestContext,
  type Route,
  senderOf,
} from './router.ts';
import type { Repository, World } from './world.ts';

const statusSchema = z.object({
  state: z.enum(['error', 'failure', 'pending', 'success']),
  target_url: z.string().nullish(),
  description: z.string().max(140).nullish(),
  context: z.string().optional(),
});

function renderStatus(world: World, repository: Repository, status: CommitStatus): Record<string, unknown> {
  return {
    url: `${repositoryApiUrl(world, repository)}/statuses/${status.sha}`,
    avatar_url: renderUser(world, status.creator).avatar_url,
    id: status.id,
    node_id: status.nodeId,
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: timestamp(status.createdAt),
    updated_at: timestamp(status.createdAt),
  };
}

async function createStatus(context: RequestContext): Promise<Reply> {
  const { world, repository, params } = context;
  const wanted = parseBody(context, statusSchema);
  const given = params.sha ?? '';
  const sha = /^[0-9a-f]{40}$/.test(given) ? await resolveCommit(world, repository, given) : undefined;
  if (sha === undefined) throw new GitHubError(422, `No commit found for SHA: ${given}`);
  const id = world.nextId();
  const creator = senderOf(context);
  const status: CommitStatus = {
    id,
    nodeId: nodeId('SC', id),
    sha,
    state: wanted.state,
    context: wanted.context ?? 'default',
    description: wanted.description ?? null,
    targetUrl: wanted.target_url ?? null,
    creator,
    createdAt: world.now(),
  };
  repository.statuses.push(status);
  await emitStatus(world, repository, status);
  const body = { ...renderStatus(world, repository, status), creator: renderUser(world, creator) };
  return { status: 201, body };
}

async function emitStatus(world: World, repository: Repository, status: CommitStatus): Promise<void> {
  const [commit] = await readCommits(world, repository, ['-1', status.sha]);
  const { url, node_id, ...rest } = renderStatus(world, repository, status);
  const payload = {
    ...rest,
    sha: status.sha,
    name: `${repository.owner.login}/${repository.name}`,
    commit: renderCommit(world, repository, commit!),
    branches: await branchesAt(world, repository, status.sha),
  };
  world.emit(repository, 'status', payload, status.creator);
}

/** GitHub names at most ten. */
async function branchesAt(world: World, repository: Repository, sha: string): Promise<unknown[]> {
  const args = ['for-each-ref', '--count=10', '--contains', sha];
  const text = await world.git(repository, [
    ...args,
    '--format=%(refname:strip=2) %(objectname)',
    'refs/heads',
  ]);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', head = ''] = line.split(' ');
      const url = `${repositoryApiUrl(world, repository)}/commits/${head}`;
      return { name, commit: { sha: head, url }, protected: false };
    });
}

/** @throws GitHubError 404 */
async function statusesOf(context: RequestContext): Promise<{ sha: string; statuses: CommitStatus[] }> {
  const { world, repository, params } = context;
  const sha = await resolveCommit(world, repository, params.ref ?? '');
  if (sha === undefined) throw new GitHubError(404, 'Not Found');
  return { sha, statuses: repository.statuses.filter((status) => status.sha === sha).reverse() };
}

async function getCombined(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const { sha, statuses } = await statusesOf(context);
  const seen = new Set<string>();
  const newest = statuses.filter((status) => !seen.has(status.context) && seen.add(status.context));
  const states = newest.map((status) => status.state);
  const isBad = states.includes('error') || states.includes('failure');
  const isOpen = states.length === 0 || states.includes('pending');
  const url = `${repositoryApiUrl(world, repository)}/commits/${sha}`;
  const body = {
    state: isBad ? 'failure' : isOpen ? 'pending' : 'success',
    statuses: newest.map((status) => renderStatus(world, repository, status)),
    sha,
    total_count: newest.length,
    repository: renderMinimalRepository(world, repository),
    commit_url: url,
    url: `${url}/status`,
  };
  return { status: 200, body };
}

async function listStatuses(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const { statuses } = await statusesOf(context);
  return renderPage(context, statuses, (status) => ({
    ...renderStatus(world, repository, status),
    creator: renderUser(world, status.creator),
  }));
}

const needs: PermissionNeed = ['statuses', 'read'];

export const statusRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/repos/{owner}/{repo}/statuses/{sha}',
    needs: ['statuses', 'write'],
    handle: createStatus,
  },
  { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}/status', needs, handle: getCombined },
  { method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}/statuses', needs, handle: listStatuses },
];
