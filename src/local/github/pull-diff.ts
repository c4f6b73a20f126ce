import type { Pull } from './conversation-data.ts';
import { readRef } from './move-ref.ts';
import { repositoryApiUrl, repositoryHtmlUrl } from './render.ts';
import type { Repository, World } from './world.ts';

/** A file that a pull request changes. */
export interface PullFile {
  readonly path: string;
  readonly previousPath: string | null;
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed';
  /** Blob at the head; at the base for removed files. */
  readonly sha: string;
  readonly additions: number;
  readonly deletions: number;
  /** From the first `@@` on; undefined for binary files, pure renames and diffs that are too large. */
  readonly patch: string | undefined;
}

/** GitHub leaves out the patch of a file with more; its documented limits for one file. */
const maxPatchBytes = 500_000;
const maxPatchLines = 20_000;
const diffOptions = ['--find-renames', '--no-color', '--no-ext-diff', '--no-abbrev'];

/** What a commit of a pull request changes against its merge base with the base branch, as `git diff base...head`. */
export async function readPullFiles(
  world: World,
  repository: Repository,
  pull: Pull,
  head: string = pull.headSha,
): Promise<readonly PullFile[]> {
  return readDiff(world, repository, `${await diffBase(world, repository, pull)}...${head}`);
}

/** The base side of the diff: the base branch as it is now; as it was once the pull request is merged. */
export async function diffBase(world: World, repository: Repository, pull: Pull): Promise<string> {
  if (pull.mergedAt !== null) return pull.baseSha;
  return (await readRef(world, repository, `refs/heads/${pull.baseRef}`)) ?? pull.baseSha;
}

/** How many commits a pull request has. */
export async function countPullCommits(world: World, repository: Repository, pull: Pull): Promise<number> {
  const range = `${await diffBase(world, repository, pull)}..${pull.headSha}`;
  return remember(knownCounts, repository, range, async () =>
    Number(await world.git(repository, ['rev-list', '--count', range])),
  );
}

type Known<Value> = WeakMap<Repository, Map<string, Promise<Value>>>;

/** Commits never change, and every answer about a pull request counts its files and commits. */
const knownDiffs: Known<readonly PullFile[]> = new WeakMap();
const knownCounts: Known<number> = new WeakMap();
const maxKnown = 100;

function remember<Value>(
  known: Known<Value>,
  repository: Repository,
  range: string,
  find: () => Promise<Value>,
): Promise<Value> {
  const ranges = known.get(repository) ?? new Map<string, Promise<Value>>();
  known.set(repository, ranges);
  const found = ranges.get(range);
  if (found !== undefined) return found;
  if (ranges.size >= maxKnown) ranges.clear();
  const value = find();
  ranges.set(range, value);
  value.catch(() => ranges.delete(range));
  return value;
}

/** The files between two commits, given by SHA: `a..b`, or `a...b` for what b changed since they parted. */
export function readDiff(world: World, repository: Repository, range: string): Promise<readonly PullFile[]> {
  return remember(knownDiffs, repository, range, () => runDiff(world, repository, range));
}

async function runDiff(world: World, repository: Repository, range: string): Promise<readonly PullFile[]> {
  const args = ['diff', ...diffOptions, '--raw', '--numstat', '--patch', '-z', range];
  const output = await world.git(repository, args);
  // An empty part stands between the lists and the patches.
  const end = output.indexOf('\0\0');
  const { changes, counts } = parseListing(end < 0 ? output : output.slice(0, end));
  const patches = end < 0 ? [] : splitPatches(output.slice(end + 2));
  return changes.map((change, index) => {
    const [additions = 0, deletions = 0] = counts[index] ?? [];
    return { ...change, additions, deletions, patch: patches[index] };
  });
}

/** Header lines begin with `diff --git`, lines of content never: they begin with a blank, `+`, `-` or `\`. */
function splitPatches(text: string): (string | undefined)[] {
  return `\n${text}`
    .split('\ndiff --git ')
    .slice(1)
    .map((section) => {
      const start = section.indexOf('\n@@ ');
      if (start < 0) return undefined;
      const patch = section.slice(start + 1).replace(/\n$/, '');
      const isLarge = patch.length > maxPatchBytes || patch.split('\n').length > maxPatchLines;
      return isLarge ? undefined : patch;
    });
}

const statuses: Readonly<Record<string, PullFile['status']>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
};

type Change = Pick<PullFile, 'path' | 'previousPath' | 'status' | 'sha'>;

/** `git diff --raw --numstat -z`: first all raw entries, then all counts, in one order. */
function parseListing(listing: string): {
  readonly changes: readonly Change[];
  readonly counts: readonly (readonly number[])[];
} {
  const parts = listing.split('\0');
  const changes: Change[] = [];
  const counts: number[][] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index]!;
    if (part.startsWith(':')) {
      const [, , before = '', after = '', letter = ''] = part.split(' ');
      const status = statuses[letter[0] ?? ''] ?? 'changed';
      const isMoved = status === 'renamed' || status === 'copied';
      const previousPath = isMoved ? parts[++index]! : null;
      changes.push({
        path: parts[++index]!,
        previousPath,
        status,
        sha: status === 'removed' ? before : after,
      });
    } else if (part !== '') {
      const [added = '', deleted = '', path = ''] = part.split('\t');
      // A moved file's two paths follow as parts of their own.
      if (path === '') index += 2;
      counts.push([Number(added) || 0, Number(deleted) || 0]);
    }
  }
  return { changes, counts };
}

/** GitHub's "diff entry". */
export function renderPullFile(
  world: World,
  repository: Repository,
  head: string,
  file: PullFile,
): Record<string, unknown> {
  const path = encodeURIComponent(file.path);
  const html = repositoryHtmlUrl(world, repository);
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${html}/blob/${head}/${path}`,
    raw_url: `${html}/raw/${head}/${path}`,
    contents_url: `${repositoryApiUrl(world, repository)}/contents/${path}?ref=${head}`,
    ...(file.previousPath === null ? {} : { previous_filename: file.previousPath }),
    ...(file.patch === undefined ? {} : { patch: file.patch }),
  };
}
