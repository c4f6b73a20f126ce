import { z } from 'zod';
import { signatureOf } from './commit-author.ts';
import type { Pull } from './conversation-data.ts';
import { findPull } from './find-issue.ts';
import { closeIssue } from './issue-changes.ts';
import { moveRef, readRef } from './move-ref.ts';
import { issuesClosedBy, mergeTree } from './pull-changes.ts';
import { mayAct } from './repository-role.ts';
import { parseBody } from './request-body.ts';
import { GitHubError, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import type { User } from './world.ts';
import { writeCommit } from './write-commit.ts';

const mergeSchema = z.object({
  commit_title: z.string().optional(),
  commit_message: z.string().optional(),
  sha: z.string().optional(),
  merge_method: z.enum(['merge', 'squash', 'rebase']).optional(),
});

type MergeOptions = z.infer<typeof mergeSchema>;

/** @throws GitHubError 405 and 409 as GitHub answers where it can't merge */
function requireMergeable(pull: Pull, options: MergeOptions): void {
  if (pull.issue.state === 'closed') throw new GitHubError(405, 'Pull Request is not mergeable');
  if (pull.isDraft) throw new GitHubError(405, 'Pull Request is still a draft');
  if (options.merge_method === 'rebase') {
    throw new GitHubError(405, 'Rebase merges are not allowed on this repository.');
  }
  if (options.sha !== undefined && options.sha !== pull.headSha) {
    throw new GitHubError(409, 'Head branch was modified. Review and try the merge again.');
  }
}

async function commitMerge(
  context: RequestContext,
  pull: Pull,
  options: MergeOptions,
  sender: User,
): Promise<string> {
  const { world, repository } = context;
  const tree = await mergeTree(world, repository, pull);
  const base = await readRef(world, repository, pull.baseRef);
  if (tree === undefined || base === undefined) throw new GitHubError(405, 'Pull Request is not mergeable');
  const isSquash = options.merge_method === 'squash';
  const title = isSquash
    ? `${pull.issue.title} (#${pull.number})`
    : `Merge pull request #${pull.number} from ${pull.headRepository.owner.login}/${pull.headRef}`;
  const text = options.commit_message ?? (isSquash ? '' : pull.issue.title);
  const message = `${options.commit_title ?? title}\n\n${text}`.trim();
  const signature = signatureOf(sender, world.now());
  return writeCommit(repository, {
    treeSha: tree,
    parents: isSquash ? [base] : [base, pull.headSha],
    message: `${message}\n`,
    author: signature,
    committer: signature,
  });
}

async function mergePull(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const pull = findPull(context);
  const options = parseBody(context, mergeSchema);
  const sender = senderOf(context);
  if (!mayAct(context, 'write')) throw new GitHubError(403, 'Must have push access to merge.');
  requireMergeable(pull, options);
  const sha = await commitMerge(context, pull, options, sender);
  pull.baseSha = (await readRef(world, repository, pull.baseRef)) ?? pull.baseSha;
  await moveRef(world, repository, { ref: `refs/heads/${pull.baseRef}`, to: sha, sender });
  pull.mergedAt = world.now();
  pull.mergedBy = sender;
  pull.mergeCommitSha = sha;
  await closeIssue(world, repository, pull.issue, sender, null);
  // Keywords count for merges into the default branch only.
  if (pull.baseRef === repository.defaultBranch) {
    for (const issue of issuesClosedBy(repository, pull)) {
      await closeIssue(world, repository, issue, sender, 'completed');
    }
  }
  return { status: 200, body: { sha, merged: true, message: 'Pull Request successfully merged' } };
}

const path = '/repos/{owner}/{repo}/pulls/{pull_number}/merge';

export const mergeRoutes: readonly Route[] = [
  {
    method: 'GET',
    path,
    needs: ['pull_requests', 'read'],
    async handle(context) {
      return { status: findPull(context).mergedAt === null ? 404 : 204 };
    },
  },
  // Merging writes contents: that is the permission GitHub asks for.
  { method: 'PUT', path, needs: ['contents', 'write'], userRole: 'write', handle: mergePull },
];
