import { signatureOf } from './commit-author.ts';
import { requireCommit } from './commit-routes.ts';
import { moveRef, readRef } from './move-ref.ts';
import { type Entry, readEntry, readFolder, renderEntry } from './read-content.ts';
import { renderGitCommit } from './render-commit.ts';
import { bodyOf, GitHubError, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import { refuseWorkflowPaths } from './workflow-guard.ts';
import { writeCommit } from './write-commit.ts';
import { writeTree } from './write-tree.ts';

const path = '/repos/{owner}/{repo}/contents/{path}';

export const contentRoutes: readonly Route[] = [
  { method: 'GET', path, needs: ['contents', 'read'], handle: getContent },
  { method: 'PUT', path, needs: ['contents', 'write'], handle: putContent },
];

async function getContent(context: RequestContext): Promise<Reply> {
  const { repository, query } = context;
  const ref = query.get('ref') ?? repository.defaultBranch;
  const commit = await requireCommit(context, ref.replace(/^refs\/(heads|tags)\//, ''), 404).catch(() => {
    throw new GitHubError(404, `No commit found for the ref ${ref}`);
  });
  const wanted = (context.params.path ?? '').replace(/^\/+|\/+$/g, '');
  if (wanted === '') return renderFolder(context, commit.sha, '', ref);
  const entry = await readEntry(context.world, repository, commit.sha, wanted);
  if (entry === undefined) throw new GitHubError(404, 'Not Found');
  if (entry.type === 'dir') return renderFolder(context, commit.sha, wanted, ref);
  return renderFile(context, entry, ref);
}

async function renderFolder(
  context: RequestContext,
  sha: string,
  folder: string,
  ref: string,
): Promise<Reply> {
  const entries = await readFolder(context.world, context.repository, sha, folder);
  return {
    status: 200,
    body: entries.map((entry) => renderEntry(context.world, context.repository, entry, ref)),
  };
}

/** GitHub gives the content up to 1 MB; above, an empty one with encoding "none", and the raw form only. */
async function renderFile(context: RequestContext, entry: Entry, ref: string): Promise<Reply> {
  const { world, repository } = context;
  const bytes = await world.gitBytes(repository, ['cat-file', 'blob', entry.sha]);
  if (/\braw\b/.test(String(context.headers.accept ?? ''))) {
    return {
      status: 200,
      headers: { 'content-type': 'application/vnd.github.raw; charset=utf-8' },
      raw: bytes,
    };
  }
  const isLarge = bytes.length > 1024 * 1024;
  const body = {
    ...renderEntry(world, repository, entry, ref),
    content: isLarge ? '' : bytes.toString('base64').replace(/.{60}/g, '$&\n'),
    encoding: isLarge ? 'none' : 'base64',
  };
  return { status: 200, body };
}

/** Creates a file, or with the `sha` of what is there now, replaces it. */
async function putContent(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const { message, content, sha, branch = repository.defaultBranch } = bodyOf(context);
  const file = context.params.path ?? '';
  if (typeof message !== 'string' || typeof content !== 'string' || typeof branch !== 'string') {
    throw new GitHubError(422, 'Invalid request.\n\n"message" and "content" must be supplied.');
  }
  refuseWorkflowPaths(context, [file]);
  const head = await readRef(world, repository, `refs/heads/${branch}`);
  if (head === undefined) throw new GitHubError(404, `Branch ${branch} not found`);
  const current = await readEntry(world, repository, head, file);
  if (current !== undefined && sha === undefined) {
    throw new GitHubError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.');
  }
  if (sha !== undefined && current?.sha !== sha) {
    throw new GitHubError(409, `${file} does not match ${String(sha)}`);
  }
  const commit = await commitFile(context, { head, file, message, bytes: Buffer.from(content, 'base64') });
  const sender = senderOf(context);
  await moveRef(world, repository, { ref: `refs/heads/${branch}`, to: commit, sender });
  const entry = await readEntry(world, repository, commit, file);
  const body = {
    content: renderEntry(world, repository, entry!, branch),
    commit: renderGitCommit(world, repository, await requireCommit(context, commit, 404)),
  };
  return { status: current === undefined ? 201 : 200, body };
}

async function commitFile(
  context: RequestContext,
  change: {
    readonly head: string;
    readonly file: string;
    readonly message: string;
    readonly bytes: Buffer;
  },
): Promise<string> {
  const { world, repository } = context;
  const entry = { path: change.file, mode: '100644', content: { bytes: change.bytes } } as const;
  const treeSha = await writeTree(repository, change.head, [entry]);
  const by = signatureOf(senderOf(context), world.now());
  const { message } = change;
  return writeCommit(repository, {
    treeSha,
    parents: [change.head],
    message,
    author: by,
    committer: by,
  });
}
