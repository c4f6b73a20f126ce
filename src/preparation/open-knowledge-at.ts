import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { KnowledgeView } from '../knowledge/views/knowledge-view.ts';
import { AppError } from '../model/errors.ts';
import { openKnowledgeView } from './open-knowledge-view.ts';
import { packageRoot } from './package-root.ts';

const run = promisify(execFile);
/** A knowledge base has a few megabytes. */
const limits = { timeout: 60_000, maxBuffer: 1 << 20 } as const;

/**
 * Knowledge of a folder (with or without `knowledge/` in it), or of a git ref of this repository.
 * @throws AppError USAGE where it is neither, or where the knowledge there has faults for this program
 */
export async function openKnowledgeAt(
  place: string,
  cacheFolder: string,
  repository = packageRoot(),
): Promise<KnowledgeView> {
  const folder = await findFolder(place);
  if (folder !== undefined) return openOf(place, cacheFolder, folder);
  const commit = await findCommit(place, repository);
  return openCommit(commit, cacheFolder, repository, place);
}

/** @throws AppError USAGE where the commit has no knowledge, or one with faults for this program */
export async function openCommit(
  commit: string,
  cacheFolder: string,
  repository: string,
  name = commit,
): Promise<KnowledgeView> {
  const scratch = await mkdtemp(join(tmpdir(), 'metainfer-knowledge-'));
  try {
    const archive = join(scratch, 'knowledge.tar');
    await runGit(repository, [
      'archive',
      '--format=tar',
      `--output=${archive}`,
      commit,
      '--',
      'knowledge',
    ]).catch((cause) => {
      throw new AppError('USAGE', `${name} has no folder knowledge/.`, { cause });
    });
    await run('tar', ['-xf', archive, '-C', scratch], limits);
    return await openOf(name, cacheFolder, join(scratch, 'knowledge'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Output of git, for a repository and arguments of ours. */
export async function runGit(repository: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', ['-C', repository, ...args], limits);
  return stdout.trim();
}

async function findFolder(place: string): Promise<string | undefined> {
  const candidates = [join(place, 'knowledge'), place].map((path) => resolve(path));
  for (const candidate of candidates) {
    const isThere = await stat(join(candidate, 'contracts')).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (isThere) return candidate;
  }
  return undefined;
}

async function findCommit(ref: string, repository: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  return runGit(repository, args).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT')
      throw new AppError(
        'TOOL_MISSING',
        'git is not installed; it reads a git ref. Name two folders instead.',
        { cause },
      );
    const message = `"${ref}" is neither a folder with contracts/ nor a commit, branch or tag of ${repository}.`;
    throw new AppError(
      'USAGE',
      `${message} \`git -C ${repository} log --oneline -- knowledge\` lists commits.`,
      { cause },
    );
  });
}

async function openOf(name: string, cacheFolder: string, root: string): Promise<KnowledgeView> {
  try {
    return await openKnowledgeView(cacheFolder, root);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError('USAGE', `The knowledge of ${name} cannot be used by this program. ${error.message}`, {
      cause: error,
    });
  }
}
