import { repositoryApiUrl } from './render.ts';
import { bodyOf, GitHubError, type Reply, type RequestContext, type Route } from './router.ts';
import { refuseWorkflowPaths } from './workflow-guard.ts';
import { writeObject } from './write-object.ts';
import { type TreeChange, writeTree } from './write-tree.ts';

const git = '/repos/{owner}/{repo}/git';
const modes = ['100644', '100755', '120000', '040000', '160000'] as const;
/** GitHub truncates listings beyond this many entries. */
const maxEntries = 100_000;

export const treeRoutes: readonly Route[] = [
  { method: 'POST', path: `${git}/trees`, needs: ['contents', 'write'], handle: createTree },
  { method: 'GET', path: `${git}/trees/{tree_sha}`, needs: ['contents', 'read'], handle: getTree },
  { method: 'POST', path: `${git}/blobs`, needs: ['contents', 'write'], handle: createBlob },
  { method: 'GET', path: `${git}/blobs/{file_sha}`, needs: ['contents', 'read'], handle: getBlob },
];

async function createTree(context: RequestContext): Promise<Reply> {
  const { tree, base_tree: base } = bodyOf(context);
  if (!Array.isArray(tree)) throw new GitHubError(422, 'Invalid request.\n\n"tree" wasn\'t supplied.');
  if (tree.length === 0) throw new GitHubError(422, 'Invalid tree info');
  const changes = tree.map(readChange);
  await requireObjects(context, changes);
  refuseWorkflowPaths(
    context,
    changes.map(({ path }) => path),
  );
  const baseTree = typeof base === 'string' ? await resolveTree(context, base) : undefined;
  if (baseTree === undefined && typeof base === 'string') {
    throw new GitHubError(422, 'base_tree is not a valid tree oid');
  }
  const sha = await writeTree(context.repository, baseTree, changes);
  return { status: 201, body: await renderTree(context, sha, false) };
}

function readChange(entry: unknown): TreeChange {
  const { path, mode, sha, content } = (entry ?? {}) as Record<string, unknown>;
  const known = modes.find((candidate) => candidate === mode);
  if (typeof path !== 'string' || path === '') throw new GitHubError(422, 'tree.path is missing');
  if (path.startsWith('/')) throw new GitHubError(422, 'tree.path cannot start with a slash');
  if (path.split('/').some((part) => ['', '.', '..'].includes(part) || /^\.git$/i.test(part))) {
    throw new GitHubError(422, 'tree.path contains a malformed path component');
  }
  if (known === undefined) throw new GitHubError(422, 'tree.mode is not a valid file mode');
  if (typeof content === 'string' && sha !== undefined) {
    throw new GitHubError(422, 'Must supply either tree.sha or tree.content, not both');
  }
  if (typeof content === 'string') return { path, mode: known, content: { bytes: Buffer.from(content) } };
  if (typeof sha === 'string') return { path, mode: known, content: { sha } };
  if (sha === null) return { path, mode: known, content: null };
  throw new GitHubError(422, 'Must supply tree.sha or tree.content');
}

async function requireObjects(context: RequestContext, changes: readonly TreeChange[]): Promise<void> {
  const shas = changes.flatMap(({ content }) => (content !== null && 'sha' in content ? [content.sha] : []));
  if (shas.length === 0) return;
  const types = await checkObjects(context, shas);
  const missing = shas.find((_, index) => !/^(blob|tree|commit)$/.test(types[index] ?? ''));
  if (missing !== undefined) throw new GitHubError(422, `tree.sha ${missing} is not a valid blob`);
}

/** Type and SHA of each object that a name stands for; something else where it stands for none. */
async function checkObjects(
  context: RequestContext,
  names: readonly string[],
  format = '%(objecttype)',
): Promise<readonly string[]> {
  const lines = names.map((name) => `${name.replace(/\s/g, '?')}\n`).join('');
  const text = await context.world.git(context.repository, ['cat-file', `--batch-check=${format}`], lines);
  return text.split('\n');
}

/** A tree by its SHA, a commit's SHA, a branch or a tag. */
async function resolveTree(context: RequestContext, name: string): Promise<string | undefined> {
  if (/[:^~?*[\\]/.test(name)) return undefined;
  const names = [`refs/heads/${name}^{tree}`, `refs/tags/${name}^{tree}`, `${name}^{tree}`];
  const answers = await checkObjects(context, names, '%(objectname)');
  return answers.find((answer) => /^[0-9a-f]{40}$/.test(answer));
}

async function getTree(context: RequestContext): Promise<Reply> {
  const sha = await resolveTree(context, context.params.tree_sha ?? '');
  if (sha === undefined) throw new GitHubError(404, 'Not Found');
  return { status: 200, body: await renderTree(context, sha, context.query.has('recursive')) };
}

async function renderTree(
  context: RequestContext,
  sha: string,
  isRecursive: boolean,
): Promise<Record<string, unknown>> {
  const { world, repository } = context;
  const url = `${repositoryApiUrl(world, repository)}/git`;
  const args = ['ls-tree', '-z', '-l', ...(isRecursive ? ['-r', '-t'] : []), sha];
  const entries = (await world.git(repository, args)).split('\0').filter((line) => line !== '');
  return {
    sha,
    url: `${url}/trees/${sha}`,
    tree: entries.slice(0, maxEntries).map((line) => {
      const tab = line.indexOf('\t');
      const [mode = '', type = '', object = '', size = '-'] = line.slice(0, tab).split(/ +/);
      return {
        path: line.slice(tab + 1),
        mode,
        type,
        sha: object,
        ...(size === '-' ? {} : { size: Number(size) }),
        url: `${url}/${type}s/${object}`,
      };
    }),
    truncated: entries.length > maxEntries,
  };
}

async function createBlob(context: RequestContext): Promise<Reply> {
  const { content, encoding = 'utf-8' } = bodyOf(context);
  if (typeof content !== 'string')
    throw new GitHubError(422, 'Invalid request.\n\n"content" wasn\'t supplied.');
  if (encoding !== 'utf-8' && encoding !== 'base64') throw new GitHubError(422, 'Invalid encoding');
  const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const sha = await writeObject(context.repository, 'blob', bytes);
  const url = `${repositoryApiUrl(context.world, context.repository)}/git/blobs/${sha}`;
  return { status: 201, body: { sha, url } };
}

async function getBlob(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const sha = context.params.file_sha ?? '';
  if (!/^[0-9a-f]{40}$/.test(sha)) {
    throw new GitHubError(422, 'The sha parameter must be exactly 40 characters and contain only [0-9a-f].');
  }
  const bytes = await world.gitBytes(repository, ['cat-file', 'blob', sha]).catch(() => {
    throw new GitHubError(404, 'Not Found');
  });
  const body = {
    sha,
    node_id: `B_${sha}`,
    size: bytes.length,
    url: `${repositoryApiUrl(world, repository)}/git/blobs/${sha}`,
    content: bytes.toString('base64'),
    encoding: 'base64',
  };
  return { status: 200, body };
}
