import { z } from 'zod';
import { findRepository } from './accounts.ts';
import type { Issue, Pull } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { addIssue, checkTexts, emitIssueEvent } from './issue-changes.ts';
import { appOf } from './issues.ts';
import { readRef } from './move-ref.ts';
import { keepHead } from './pull-changes.ts';
import { renderPull } from './render-pull.ts';
import { parseBody, validationFailed } from './request-body.ts';
import { type Reply, type RequestContext, senderOf } from './router.ts';
import type { Repository, World } from './world.ts';

const newPullSchema = z.object({
  title: z.string(),
  head: z.string(),
  base: z.string(),
  body: z.string().nullish(),
  draft: z.boolean().optional(),
  maintainer_can_modify: z.boolean().optional(),
});

interface Branch {
  readonly repository: Repository;
  readonly ref: string;
  readonly sha: string;
}

/** `branch`, or `owner:branch` of this repository or of a fork with the same name. */
async function findHead(world: World, base: Repository, head: string): Promise<Branch | undefined> {
  const colon = head.indexOf(':');
  const owner = colon < 0 ? base.owner.login : head.slice(0, colon);
  const ref = head.slice(colon + 1);
  const repository = findRepository(world, owner, base.name);
  const sha = repository && (await readRef(world, repository, `refs/heads/${ref}`));
  return repository === undefined || sha === undefined ? undefined : { repository, ref, sha };
}

/** @throws GitHubError 422 as GitHub answers to branches that make no pull request */
async function requireBranches(
  context: RequestContext,
  wanted: { readonly head: string; readonly base: string },
): Promise<{ readonly head: Branch; readonly base: Branch }> {
  const { world, repository } = context;
  const baseSha = await readRef(world, repository, `refs/heads/${wanted.base}`);
  if (baseSha === undefined) {
    throw validationFailed({ resource: 'PullRequest', field: 'base', code: 'invalid' });
  }
  const head = await findHead(world, repository, wanted.head);
  if (head === undefined) {
    throw validationFailed({ resource: 'PullRequest', field: 'head', code: 'invalid' });
  }
  const base = { repository, ref: wanted.base, sha: baseSha };
  await requireNewCommits(world, head, base);
  requireNoDuplicate(head, base);
  return { head, base };
}

async function requireNewCommits(world: World, head: Branch, base: Branch): Promise<void> {
  const custom = (message: string) => validationFailed({ resource: 'PullRequest', code: 'custom', message });
  if (head.repository !== base.repository) {
    const branch = `refs/heads/${head.ref}`;
    await world.git(base.repository, ['fetch', '--quiet', '--no-tags', head.repository.folder, branch]);
  }
  const isRelated = await world.git(base.repository, ['merge-base', base.sha, head.sha]).then(
    () => true,
    () => false,
  );
  if (!isRelated) throw custom(`The ${head.ref} branch has no history in common with ${base.ref}`);
  const count = await world.git(base.repository, ['rev-list', '--count', `${base.sha}..${head.sha}`]);
  if (Number(count) === 0) {
    const name = (branch: Branch) =>
      head.repository === base.repository ? branch.ref : `${branch.repository.owner.login}:${branch.ref}`;
    throw custom(`No commits between ${name(base)} and ${name(head)}`);
  }
}

function requireNoDuplicate(head: Branch, base: Branch): void {
  const isThere = [...base.repository.pulls.values()].some(
    (pull) =>
      pull.issue.state === 'open' &&
      pull.headRepository === head.repository &&
      pull.headRef === head.ref &&
      pull.baseRef === base.ref,
  );
  if (!isThere) return;
  const message = `A pull request already exists for ${head.repository.owner.login}:${head.ref}.`;
  throw validationFailed({ resource: 'PullRequest', code: 'custom', message });
}

function addPull(
  world: World,
  issue: Issue,
  branches: { readonly head: Branch; readonly base: Branch },
  isDraft: boolean,
): Pull {
  const id = world.nextId();
  const { head, base } = branches;
  const pull: Pull = {
    id,
    nodeId: nodeId('PR', id),
    number: issue.number,
    issue,
    headRepository: head.repository,
    headRef: head.ref,
    headSha: head.sha,
    baseRef: base.ref,
    baseSha: base.sha,
    isDraft,
    mergedAt: null,
    mergedBy: null,
    mergeCommitSha: null,
    requestedReviewers: [],
    reviews: [],
    reviewComments: [],
  };
  base.repository.pulls.set(pull.number, pull);
  return pull;
}

/** `POST …/pulls`. */
export async function openPull(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const sender = senderOf(context);
  const wanted = parseBody(context, newPullSchema);
  const { title, body = null } = wanted;
  checkTexts('PullRequest', { title, body });
  const branches = await requireBranches(context, wanted);
  const issue = addIssue(world, repository, { user: sender, viaApp: appOf(context), title, body });
  const pull = addPull(world, issue, branches, wanted.draft ?? false);
  await keepHead(world, repository, branches.head, pull.number);
  await emitIssueEvent(world, repository, issue, 'opened', sender);
  return { status: 201, body: await renderPull(world, repository, pull) };
}
