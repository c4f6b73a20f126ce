import { z } from 'zod';
import type { Pull } from './conversation-data.ts';
import { findPull } from './find-issue.ts';
import { checkTexts, patchIssue } from './issue-changes.ts';
import { sortByTime } from './issues.ts';
import { readRef } from './move-ref.ts';
import { openPull } from './open-pull.ts';
import { renderPage } from './pagination.ts';
import { changeBase, isMergeable, moveHead } from './pull-changes.ts';
import { diffBase, readPullFiles, renderPullFile } from './pull-diff.ts';
import { readCommits } from './read-commits.ts';
import { renderCommit } from './render-commit.ts';
import { renderPull, renderSimplePull } from './render-pull.ts';
import { requireAuthorOrRole } from './repository-role.ts';
import { parseBody, validationFailed } from './request-body.ts';
import { type PermissionNeed, type Reply, type RequestContext, type Route, senderOf } from './router.ts';

const read: PermissionNeed = ['pull_requests', 'read'];
const write: PermissionNeed = ['pull_requests', 'write'];
/** GitHub lists no more. */
const maxFiles = 3000;
const maxCommits = 250;

/** `draft` is no parameter: only GraphQL marks a pull request as ready. */
const patchSchema = z.object({
  title: z.string().optional(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']).optional(),
  base: z.string().optional(),
});

/** A `head` without an owner filters nothing, on GitHub too. */
function isListed(context: RequestContext, pull: Pull): boolean {
  const { query } = context;
  const state = query.get('state') ?? 'open';
  const head = query.get('head');
  const base = query.get('base');
  const label = `${pull.headRepository.owner.login}:${pull.headRef}`;
  return (
    (state === 'all' || pull.issue.state === state) &&
    (head === null || !head.includes(':') || head === label) &&
    (base === null || pull.baseRef === base)
  );
}

async function listPulls(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const listed = [...repository.pulls.values()].filter((pull) => isListed(context, pull));
  const issues = sortByTime(
    context,
    listed.map((pull) => pull.issue),
  );
  return renderPage(context, issues, (issue) =>
    renderSimplePull(world, repository, repository.pulls.get(issue.number)!),
  );
}

async function getPull(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const mergeable = pull.issue.state === 'open' ? await isMergeable(world, repository, pull) : null;
  return { status: 200, body: await renderPull(world, repository, pull, mergeable) };
}

async function updatePull(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const patch = parseBody(context, patchSchema);
  const sender = senderOf(context);
  requireAuthorOrRole(context, pull.issue.user, 'triage');
  checkTexts('PullRequest', patch);
  if (patch.state === 'open' && pull.issue.state === 'closed') await prepareReopening(context, pull);
  if (patch.base !== undefined && patch.base !== pull.baseRef) {
    const sha = await readRef(world, repository, `refs/heads/${patch.base}`);
    if (sha === undefined) {
      throw validationFailed({ resource: 'PullRequest', field: 'base', code: 'invalid' });
    }
    await changeBase(world, repository, pull, { ref: patch.base, sha }, sender);
  }
  const { title, body, state } = patch;
  await patchIssue(world, repository, pull.issue, { title, body, state }, sender);
  return { status: 200, body: await renderPull(world, repository, pull) };
}

/** @throws GitHubError 422 for merged pull requests and those whose branch is gone */
async function prepareReopening(context: RequestContext, pull: Pull): Promise<void> {
  const refuse = (reason: string) =>
    validationFailed({
      resource: 'PullRequest',
      code: 'custom',
      field: 'state',
      message: `state cannot be changed. ${reason}`,
    });
  if (pull.mergedAt !== null) throw refuse('The pull request cannot be reopened.');
  const sha = await readRef(context.world, pull.headRepository, `refs/heads/${pull.headRef}`);
  if (sha === undefined) throw refuse(`The ${pull.headRef} branch has been deleted.`);
  if (sha !== pull.headSha) await moveHead(context.world, context.repository, pull, sha);
}

async function listFiles(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const files = await readPullFiles(world, repository, pull);
  return renderPage(context, files.slice(0, maxFiles), (file) =>
    renderPullFile(world, repository, pull.headSha, file),
  );
}

async function listCommits(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const range = `${await diffBase(world, repository, pull)}..${pull.headSha}`;
  const commits = await readCommits(world, repository, ['--reverse', '--topo-order', range]);
  return renderPage(context, commits.slice(0, maxCommits), (commit) =>
    renderCommit(world, repository, commit),
  );
}

const one = '/repos/{owner}/{repo}/pulls/{pull_number}';

export const pullRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/{owner}/{repo}/pulls', needs: read, handle: listPulls },
  { method: 'POST', path: '/repos/{owner}/{repo}/pulls', needs: write, handle: openPull },
  { method: 'GET', path: one, needs: read, handle: getPull },
  { method: 'PATCH', path: one, needs: write, handle: updatePull },
  { method: 'GET', path: `${one}/files`, needs: read, handle: listFiles },
  { method: 'GET', path: `${one}/commits`, needs: read, handle: listCommits },
];
