import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitFailure, runGit } from './git.ts';
import { GitHubError } from './router.ts';
import type { Repository } from './world.ts';
import { writeObject } from './write-object.ts';

/** One change of a tree: a file's text or bytes, an object that exists already, or null to take it away. */
export interface TreeChange {
  readonly path: string;
  readonly mode: '100644' | '100755' | '120000' | '040000' | '160000';
  readonly content: { readonly bytes: Buffer } | { readonly sha: string } | null;
}

/**
 * Writes the tree that `changes` make of `baseTree` (undefined: of nothing) and gives its SHA.
 * @throws GitHubError 422 for a path, an object or a removal that git refuses
 */
export async function writeTree(
  repository: Repository,
  baseTree: string | undefined,
  changes: readonly TreeChange[],
): Promise<string> {
  const file = join(repository.folder, `index-${randomUUID()}`);
  const git = (args: readonly string[], input?: string) =>
    runGit(repository.folder, args, input, { GIT_INDEX_FILE: file });
  try {
    if (baseTree !== undefined) await git(['read-tree', baseTree]);
    for (const change of changes) {
      if (change.mode !== '040000' || change.content === null || !('sha' in change.content)) continue;
      await git(['rm', '-r', '--cached', '--quiet', '--ignore-unmatch', '--', change.path]);
      await git(['read-tree', `--prefix=${change.path}/`, change.content.sha]);
    }
    const lines: string[] = [];
    for (const change of changes) lines.push(await indexLine(repository, change));
    await git(['update-index', '-z', '--replace', '--index-info'], lines.join(''));
    return (await git(['write-tree'])).toString('utf8').trim();
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new GitHubError(422, `The tree could not be written: ${error.message}`);
  } finally {
    await rm(file, { force: true });
  }
}

/** A line of `update-index --index-info`; empty for a whole tree, which is read in before. */
async function indexLine(repository: Repository, { path, mode, content }: TreeChange): Promise<string> {
  if (content === null) return `0 ${'0'.repeat(40)}\t${path}\0`;
  if (mode === '040000') return '';
  const sha = 'sha' in content ? content.sha : await writeObject(repository, 'blob', content.bytes);
  return `${mode} ${sha}\t${path}\0`;
}
