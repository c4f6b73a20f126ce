import { type Html, html } from '../../model/html.ts';
import { showFiles } from './page-diff.ts';
import { encodePath, replyPage, showDate, showRepository } from './page-frame.ts';
import { showMarkdown } from './page-markdown.ts';
import { readDiff } from './pull-diff.ts';
import { readCommits, resolveCommit } from './read-commits.ts';
import { type Entry, readEntry, readFolder } from './read-content.ts';
import { repositoryHtmlUrl } from './render.ts';
import { GitHubError, type Reply, type RequestContext } from './router.ts';

const maxShownBytes = 1_000_000;
/** git's name for the tree without entries: what a first commit is compared with. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A ref's name may hold slashes, as paths do: the shortest one that names a commit is meant. */
async function splitRef(
  context: RequestContext,
): Promise<{ readonly ref: string; readonly commit: string; readonly path: string }> {
  const segments = (context.params.path ?? '').split('/').filter((segment) => segment !== '');
  for (let count = 1; count <= segments.length; count += 1) {
    const ref = segments.slice(0, count).join('/');
    const commit = await resolveCommit(context.world, context.repository, ref);
    if (commit !== undefined) return { ref, commit, path: segments.slice(count).join('/') };
  }
  throw new GitHubError(404, 'Not Found');
}

/** A file with numbered lines that can be linked to, or a folder. */
export async function contentPage(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const { ref, commit, path } = await splitRef(context);
  const entry = path === '' ? undefined : await readEntry(world, repository, commit, path);
  if (path !== '' && entry === undefined) throw new GitHubError(404, 'Not Found');
  const isFolder = entry === undefined || entry.type === 'dir';
  const shown = isFolder
    ? showEntries(context, ref, await readFolder(world, repository, commit, path))
    : await showText(context, entry);
  const content = html`${showRepository(world, repository)}
<h1>${path === '' ? repository.name : path}</h1>
<p class="soft">at <code>${ref}</code></p>
${shown}`;
  return replyPage(`${path || repository.name} · ${repository.name}`, content);
}

/** The entries of a folder, folders first. */
export function showEntries(
  { world, repository }: RequestContext,
  ref: string,
  entries: readonly Entry[],
): Html {
  const base = repositoryHtmlUrl(world, repository);
  const order = entries.toSorted((left, right) => Number(right.type === 'dir') - Number(left.type === 'dir'));
  return html`<ul class="rows">${order.map(({ path, type }) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const url = `${base}/${type === 'dir' ? 'tree' : 'blob'}/${encodePath(ref)}/${encodePath(path)}`;
    return html`<li><a href="${url}">${name}${type === 'dir' && '/'}</a></li>`;
  })}</ul>`;
}

async function showText({ world, repository }: RequestContext, entry: Entry): Promise<Html> {
  const bytes = await world.gitBytes(repository, ['cat-file', 'blob', entry.sha]);
  if (bytes.includes(0) || bytes.length > maxShownBytes) {
    return html`<p class="soft">${bytes.length} bytes, not shown: binary or too large.</p>`;
  }
  const text = bytes.toString('utf8');
  const isMarkdown = entry.path.endsWith('.md');
  return isMarkdown
    ? html`<div class="box"><div class="body">${showMarkdown(text, repositoryHtmlUrl(world, repository))}</div></div>`
    : showLines(text);
}

function showLines(text: string): Html {
  const lines = text.replace(/\n$/, '').split('\n');
  const rows = lines.map(
    (line, index) => html`<tr id="L${index + 1}"><td class="line">${index + 1}</td><td>${line}</td></tr>
`,
  );
  return html`<div class="box"><table class="code"><tbody>${rows}</tbody></table></div>`;
}

/** A commit: its message and what it changed against its first parent. */
export async function commitPage(context: RequestContext): Promise<Reply> {
  const { world, repository } = context;
  const sha = await resolveCommit(world, repository, context.params.ref ?? '');
  const [commit] = sha === undefined ? [] : await readCommits(world, repository, ['-1', sha]);
  if (commit === undefined) throw new GitHubError(404, 'Not Found');
  const files = await readDiff(world, repository, `${commit.parents[0] ?? emptyTree}..${commit.sha}`);
  const base = repositoryHtmlUrl(world, repository);
  const [subject = ''] = commit.message.split('\n');
  const fileUrl = (path: string) => `${base}/blob/${commit.sha}/${encodePath(path)}`;
  const content = html`${showRepository(world, repository)}
<h1>${subject}</h1>
<p>${commit.author.name} ${showDate(commit.author.date)} <code>${commit.sha}</code></p>
<pre>${commit.message}</pre>
${showFiles(files, { fileUrl, comments: [], showComment: () => html`` })}`;
  return replyPage(`${subject} · ${repository.name}`, content);
}
