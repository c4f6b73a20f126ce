import { signatureOf } from './commit-author.ts';
import { renderPage } from './pagination.ts';
import { readDiff, renderPullFile } from './pull-diff.ts';
import { type Commit, readCommit, readCommits, resolveCommit, type Signature } from './read-commits.ts';
import { repositoryApiUrl, repositoryHtmlUrl } from './render.ts';
import { renderCommit, renderGitCommit } from './render-commit.ts';
import { bodyOf, GitHubError, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import { writeCommit } from './write-commit.ts';

const repo = '/repos/{owner}/{repo}';

export const commitRoutes: readonly Route[] = [
  { method: 'POST', path: `${repo}/git/commits`, needs: ['contents', 'write'], handle: createCommit },
  {
    method: 'GET',
    path: `${repo}/git/commits/{commit_sha}`,
    needs: ['contents', 'read'],
    handle: async (context) => {
      const commit = await requireCommit(context, context.params.commit_sha ?? '', 404);
      return { status: 200, body: renderGitCommit(context.world, context.repository, commit) };
    },
  },
  { method: 'GET', path: `${repo}/commits`, needs: ['contents', 'read'], handle: listCommits },
  { method: 'GET', path: `${repo}/commits/{ref}`, needs: ['contents', 'read'], handle: getCommit },
  { method: 'GET', path: `${repo}/compare/{basehead}`, needs: ['contents', 'read'], handle: compare },
];

async function createCommit(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const { message, tree, parents = [], author, committer } = bodyOf(context);
  if (typeof message !== 'string' || typeof tree !== 'string') {
    throw new GitHubError(422, 'Invalid request.\n\n"message" and "tree" must be supplied.');
  }
  if (!Array.isArray(parents)) throw new GitHubError(422, 'Invalid request.\n\n"parents" is not an array.');
  await requireObjects(context, tree, parents.map(String));
  const own = signatureOf(senderOf(context), world.now());
  const by = readSignature(author) ?? own;
  const commit = { treeSha: tree, parents: parents.map(String), message, author: by };
  const sha = await writeCommit(repository, { ...commit, committer: readSignature(committer) ?? by });
  return { status: 201, body: renderGitCommit(world, repository, await readCommit(world, repository, sha)) };
}

function readSignature(value: unknown): Signature | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, email, date } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof email !== 'string') {
    throw new GitHubError(422, 'Invalid request.\n\n"name" and "email" of an author must be supplied.');
  }
  return { name, email, date: typeof date === 'string' ? new Date(date) : new Date() };
}

async function requireObjects(
  context: RequestContext,
  tree: string,
  parents: readonly string[],
): Promise<void> {
  const shas = [tree, ...parents];
  const areShas = shas.every((sha) => /^[0-9a-f]{40}$/.test(sha));
  const args = ['cat-file', '--batch-check=%(objecttype)'];
  const text = areShas ? await context.world.git(context.repository, args, `${shas.join('\n')}\n`) : '';
  const [treeType, ...parentTypes] = text.trim().split('\n');
  if (treeType !== 'tree') throw new GitHubError(422, 'Tree SHA does not exist');
  if (parentTypes.some((type) => type !== 'commit')) {
    throw new GitHubError(422, 'Parent SHA does not exist or is not a commit object');
  }
}

/** One commit by SHA, branch or tag. @throws GitHubError with the status that its route answers */
export async function requireCommit(
  context: RequestContext,
  name: string,
  status: 404 | 422,
): Promise<Commit> {
  const sha = await resolveCommit(context.world, context.repository, name);
  if (sha === undefined) {
    throw new GitHubError(status, status === 404 ? 'Not Found' : `No commit found for SHA: ${name}`);
  }
  return readCommit(context.world, context.repository, sha);
}

async function listCommits(context: RequestContext): Promise<Reply> {
  const { world, repository, query } = context;
  const start = await requireCommit(context, query.get('sha') ?? repository.defaultBranch, 404);
  const path = query.get('path');
  const commits = await readCommits(world, repository, [start.sha, ...(path === null ? [] : ['--', path])]);
  return renderPage(context, commits, (commit) => renderCommit(world, repository, commit));
}

async function getCommit(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const commit = await requireCommit(context, context.params.ref ?? '', 422);
  const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const files = await readDiff(world, repository, `${commit.parents[0] ?? emptyTree}..${commit.sha}`);
  const additions = files.reduce((sum, file) => sum + file.additions, 0);
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
  const body = {
    ...renderCommit(world, repository, commit),
    stats: { additions, deletions, total: additions + deletions },
    files: files.map((file) => renderPullFile(world, repository, commit.sha, file)),
  };
  return { status: 200, body };
}

/** `base...head`: what head has beyond the merge base. */
async function compare(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const [left, right, ...more] = (context.params.basehead ?? '').split('...');
  if (!left || !right || more.length > 0) throw new GitHubError(404, 'Not Found');
  const base = await requireCommit(context, left, 404);
  const head = await requireCommit(context, right, 404);
  const common = (
    await world.git(repository, ['merge-base', base.sha, head.sha]).catch(() => {
      throw new GitHubError(404, `No common ancestor between ${left} and ${right}.`);
    })
  ).trim();
  const ahead = await readCommits(world, repository, ['--reverse', head.sha, `^${base.sha}`]);
  const behind = await readCommits(world, repository, [base.sha, `^${head.sha}`]);
  const files = await readDiff(world, repository, `${common}..${head.sha}`);
  const url = `${repositoryApiUrl(world, repository)}/compare/${left}...${right}`;
  const html = `${repositoryHtmlUrl(world, repository)}/compare/${left}...${right}`;
  const shown = await renderPage(context, ahead, (commit) => renderCommit(world, repository, commit));
  const body = {
    url,
    html_url: html,
    permalink_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    base_commit: renderCommit(world, repository, base),
    merge_base_commit: renderCommit(world, repository, await requireCommit(context, common, 404)),
    status: compareStatus(ahead.length, behind.length),
    ahead_by: ahead.length,
    behind_by: behind.length,
    total_commits: ahead.length,
    commits: shown.body,
    files: files.slice(0, 300).map((file) => renderPullFile(world, repository, head.sha, file)),
  };
  return { ...shown, body };
}

function compareStatus(ahead: number, behind: number): string {
  if (ahead > 0 && behind > 0) return 'diverged';
  if (ahead > 0) return 'ahead';
  return behind > 0 ? 'behind' : 'identical';
}
