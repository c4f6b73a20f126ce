import { repositoryApiUrl, repositoryHtmlUrl } from './render.ts';
import type { Repository, World } from './world.ts';

/** A file or folder at a commit. */
export interface Entry {
  readonly path: string;
  readonly sha: string;
  readonly type: 'file' | 'dir' | 'symlink' | 'submodule';
  readonly size: number;
}

/** What lies at a path of a commit; undefined where nothing does. */
export async function readEntry(
  world: World,
  repository: Repository,
  commit: string,
  path: string,
): Promise<Entry | undefined> {
  const entries = await list(world, repository, [commit, '--', path]);
  return entries.find((entry) => entry.path === path);
}

/** The entries of a folder, by name; '' is the root. */
export async function readFolder(
  world: World,
  repository: Repository,
  commit: string,
  folder: string,
): Promise<readonly Entry[]> {
  return list(world, repository, [commit, ...(folder === '' ? [] : ['--', `${folder}/`])]);
}

async function list(
  world: World,
  repository: Repository,
  args: readonly string[],
): Promise<readonly Entry[]> {
  const text = await world.git(repository, ['ls-tree', '-z', '-l', ...args]);
  return text
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t');
      const [mode = '', type = '', sha = '', size = '0'] = line.slice(0, tab).split(/ +/);
      return { path: line.slice(tab + 1), sha, type: kindOf(mode, type), size: Number(size) || 0 };
    });
}

function kindOf(mode: string, type: string): Entry['type'] {
  if (type === 'tree') return 'dir';
  if (type === 'commit') return 'submodule';
  return mode === '120000' ? 'symlink' : 'file';
}

/** As `…/contents` gives it, without the content. */
export function renderEntry(
  world: World,
  repository: Repository,
  entry: Entry,
  ref: string,
): Record<string, unknown> {
  const api = repositoryApiUrl(world, repository);
  const html = repositoryHtmlUrl(world, repository);
  const path = entry.path.split('/').map(encodeURIComponent).join('/');
  const self = `${api}/contents/${path}?ref=${encodeURIComponent(ref)}`;
  const isFolder = entry.type === 'dir';
  const git = `${api}/git/${isFolder ? 'trees' : 'blobs'}/${entry.sha}`;
  const page = `${html}/${isFolder ? 'tree' : 'blob'}/${ref}/${path}`;
  return {
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.sha,
    size: entry.size,
    url: self,
    html_url: page,
    git_url: git,
    download_url: isFolder ? null : `${html}/raw/${ref}/${path}`,
    type: entry.type,
    _links: { self, git, html: page },
  };
}
