import { moveRef, readRef } from './move-ref.ts';
import { renderPage } from './pagination.ts';
import { repositoryApiUrl } from './render.ts';
import { bodyOf, GitHubError, type Reply, type RequestContext, type Route, senderOf } from './router.ts';
import { refuseWorkflowChange } from './workflow-guard.ts';

const refs = '/repos/{owner}/{repo}/git';

export const refRoutes: readonly Route[] = [
  { method: 'GET', path: `${refs}/ref/{ref}`, needs: ['contents', 'read'], handle: getRef },
  { method: 'GET', path: `${refs}/matching-refs/{ref}`, needs: ['contents', 'read'], handle: listRefs },
  { method: 'POST', path: `${refs}/refs`, needs: ['contents', 'write'], handle: createRef },
  { method: 'PATCH', path: `${refs}/refs/{ref}`, needs: ['contents', 'write'], handle: updateRef },
  { method: 'DELETE', path: `${refs}/refs/{ref}`, needs: ['contents', 'write'], handle: deleteRef },
];

interface Ref {
  readonly ref: string;
  readonly sha: string;
  readonly type: string;
}

async function readRefs(context: RequestContext, prefix: string): Promise<readonly Ref[]> {
  const format = '%(refname) %(objectname) %(objecttype)';
  const text = await context.world.git(context.repository, ['for-each-ref', `--format=${format}`]);
  return text
    .split('\n')
    .filter((line) => line.startsWith(prefix))
    .map((line) => {
      const [ref = '', sha = '', type = ''] = line.split(' ');
      return { ref, sha, type };
    });
}

function renderRef(context: RequestContext, { ref, sha, type }: Ref): Record<string, unknown> {
  const url = `${repositoryApiUrl(context.world, context.repository)}/git`;
  return {
    ref,
    node_id: `REF_${Buffer.from(`${context.repository.id}:${ref}`).toString('base64url')}`,
    url: `${url}/${ref}`,
    object: { sha, type, url: `${url}/${type}s/${sha}` },
  };
}

async function getRef(context: RequestContext): Promise<Reply> {
  const name = `refs/${context.params.ref}`;
  const found = (await readRefs(context, `${name} `))[0];
  if (found === undefined) throw new GitHubError(404, 'Not Found');
  return { status: 200, body: renderRef(context, found) };
}

async function listRefs(context: RequestContext): Promise<Reply> {
  const found = await readRefs(context, `refs/${context.params.ref}`);
  return renderPage(context, found, (ref) => renderRef(context, ref));
}

async function createRef(context: RequestContext): Promise<Reply> {
  const { ref, sha } = bodyOf(context);
  if (typeof ref !== 'string' || typeof sha !== 'string') throw missing(['ref', 'sha']);
  await requireGoodName(context, ref);
  if ((await readRef(context.world, context.repository, ref)) !== undefined) throw exists();
  requireSha(sha);
  await refuseWorkflowChange(context, undefined, sha);
  await moveRef(context.world, context.repository, { ref, to: sha, sender: senderOf(context) }).catch(
    (error: unknown) => {
      throw error instanceof GitHubError && error.status === 409 ? exists() : error;
    },
  );
  return { status: 201, body: renderRef(context, { ref, sha, type: 'commit' }) };
}

async function updateRef(context: RequestContext): Promise<Reply> {
  const { sha, force } = bodyOf(context);
  if (typeof sha !== 'string') throw missing(['sha']);
  const ref = `refs/${context.params.ref}`;
  const before = await requireRef(context, ref);
  requireSha(sha);
  await refuseWorkflowChange(context, before, sha);
  const sender = senderOf(context);
  await moveRef(context.world, context.repository, { ref, to: sha, force: force === true, sender });
  return { status: 200, body: renderRef(context, { ref, sha, type: 'commit' }) };
}

async function deleteRef(context: RequestContext): Promise<Reply> {
  const ref = `refs/${context.params.ref}`;
  await requireRef(context, ref);
  if (ref === `refs/heads/${context.repository.defaultBranch}`) {
    throw new GitHubError(422, 'Cannot delete the default branch');
  }
  await moveRef(context.world, context.repository, { ref, to: null, sender: senderOf(context) });
  return { status: 204 };
}

async function requireRef(context: RequestContext, ref: string): Promise<string> {
  const sha = await readRef(context.world, context.repository, ref);
  if (sha === undefined) throw new GitHubError(422, 'Reference does not exist');
  return sha;
}

function requireSha(sha: string): void {
  if (/^[0-9a-f]{40}$/.test(sha)) return;
  throw new GitHubError(422, 'The sha parameter must be exactly 40 characters and contain only [0-9a-f].');
}

async function requireGoodName(context: RequestContext, ref: string): Promise<void> {
  const message = `Reference name must start with 'refs/' and have at least 3 components, e.g. refs/heads/x`;
  if (!/^refs\/[^/]+\/./.test(ref)) throw new GitHubError(422, message);
  await context.world.git(context.repository, ['check-ref-format', ref]).catch(() => {
    throw new GitHubError(422, `${ref} is not a valid ref name.`);
  });
}

function exists(): GitHubError {
  return new GitHubError(422, 'Reference already exists');
}

function missing(names: readonly string[]): GitHubError {
  return new GitHubError(
    422,
    `Invalid request.\n\n${names.map((name) => `"${name}"`).join(', ')} wasn't supplied.`,
  );
}
