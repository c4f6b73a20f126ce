import { AppError } from '../../model/errors.ts';
import { githubMessageOf, statusOf } from './github-errors.ts';
import { lookAndWrite, makeOnce, withoutRetries } from './make-once.ts';
import { type BranchHead, readHead } from './read-branch.ts';
import type { Once, RepositoryClient } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

type Change = Parameters<RepositoryClient['commitFiles']>[1];

const plainFile = { mode: '100644', type: 'blob' } as const;

/** The trailer that makes a commit ours: the run may make several, each by its own key. */
function effectTrailer(once: Once): string {
  return `Metainfer-Effect: ${once.scope}/${once.key}`.replace(/\s+/g, ' ');
}

function messageOf(once: Once, change: Change): string {
  const trailers = Object.entries(change.trailers).map(([name, value]) => `${name}: ${value}`);
  return `${change.message.trimEnd()}\n\n${[...trailers, effectTrailer(once)].join('\n')}\n`;
}

function isOurs(head: BranchHead | undefined, once: Once, change: Change): head is BranchHead {
  if (head === undefined || !head.message.split(/\r?\n/).includes(effectTrailer(once))) return false;
  const { expectedHead } = change;
  return expectedHead === undefined || head.sha === expectedHead || head.parents.includes(expectedHead);
}

function moved(session: RepositorySession, branch: string, found: string): AppError {
  const { owner, name } = session.repository;
  return new AppError(
    'BRANCH_MOVED',
    `The branch ${branch} of ${owner}/${name} ${found}. Nothing was overwritten. Delete or rename the branch, then comment "/metainfer retry".`,
  );
}

/** The commit to build on: the branch's own head, or the base's where the branch is made. */
async function readParent(session: RepositorySession, change: Change): Promise<BranchHead> {
  const { branch, base, expectedHead } = change;
  const head = await readHead(session, expectedHead === undefined ? base : branch);
  if (expectedHead === undefined && head === undefined) {
    throw moved(session, base, 'is not there (renamed, deleted, or the repository is empty)');
  }
  if (head === undefined) throw moved(session, branch, 'was deleted while the run was on its way');
  if (expectedHead !== undefined && head.sha !== expectedHead) {
    throw moved(session, branch, `has commits that this run did not make (${head.sha.slice(0, 12)})`);
  }
  return head;
}

/** What was generated must never reach what steers the repository; GitHub itself refuses `..` and `.git`. */
function refuseReservedPaths(change: Change): void {
  const reserved = change.files.find(({ path }) =>
    /^(?:\/|\.git)|(?:^|\/)\.\.?(?:\/|$)|\/\.git(?:\/|$)/i.test(path),
  );
  if (reserved === undefined) return;
  throw new AppError(
    'INTERNAL',
    `Nothing may be written to ${JSON.stringify(reserved.path)} of a repository.`,
  );
}

/** The paths of `wanted` that the tree has: GitHub refuses to take away what is not there. */
async function presentPaths(
  session: RepositorySession,
  treeSha: string,
  wanted: readonly string[],
): Promise<readonly string[]> {
  if (wanted.length === 0) return [];
  const { data } = await session.call((octokit) =>
    octokit.rest.git.getTree({ ...session.place, tree_sha: treeSha, recursive: '1' }),
  );
  const present = new Set(data.tree.map(({ path }) => path));
  return wanted.filter((path) => present.has(path));
}

/** Tree and commit: without a ref they are nothing yet, so Octokit may repeat them. */
async function writeCommit(session: RepositorySession, once: Once, change: Change): Promise<string> {
  const parent = await readParent(session, change);
  const removed = await presentPaths(session, parent.treeSha, change.deletions ?? []);
  const tree = await session.call((octokit) =>
    octokit.rest.git.createTree({
      ...session.place,
      base_tree: parent.treeSha,
      tree: [
        ...change.files.map(({ path, text }) => ({ path, ...plainFile, content: text })),
        ...removed.map((path) => ({ path, ...plainFile, sha: null })),
      ],
    }),
  );
  const commit = await session.call((octokit) =>
    octokit.rest.git.createCommit({
      ...session.place,
      message: messageOf(once, change),
      tree: tree.data.sha,
      parents: [parent.sha],
    }),
  );
  return commit.data.sha;
}

async function sendRef(session: RepositorySession, change: Change, sha: string): Promise<void> {
  const { branch, expectedHead } = change;
  await session.call<unknown>((octokit) =>
    expectedHead === undefined
      ? octokit.rest.git.createRef({
          ...session.place,
          ref: `refs/heads/${branch}`,
          sha,
          request: withoutRetries,
        })
      : octokit.rest.git.updateRef({
          ...session.place,
          ref: `heads/${branch}`,
          sha,
          force: false,
          request: withoutRetries,
        }),
  );
}

/** Moves the branch to the commit, never by force. A branch of the same name is adopted only where it is ours. */
async function pointBranch(
  session: RepositorySession,
  once: Once,
  change: Change,
  sha: string,
): Promise<string> {
  try {
    const look = async () => {
      const head = await readHead(session, change.branch);
      return head?.sha === sha ? { githubId: sha, url: null } : undefined;
    };
    const write = async () => {
      await sendRef(session, change, sha);
      return { githubId: sha, url: null };
    };
    return (await lookAndWrite(session, { look, write }, false)).githubId;
  } catch (error) {
    const isRefRefused =
      statusOf(error) === 422 && /already exists|fast forward|does not exist/i.test(githubMessageOf(error));
    if (!isRefRefused) throw error;
    const head = await readHead(session, change.branch);
    if (isOurs(head, once, change)) return head.sha;
    throw moved(session, change.branch, 'exists already or was moved by somebody else');
  }
}

export async function commitFiles(
  session: RepositorySession,
  once: Once,
  change: Change,
): Promise<{ readonly sha: string }> {
  refuseReservedPaths(change);
  const made = await makeOnce(session, once, {
    look: async () => {
      const head = await readHead(session, change.branch);
      return isOurs(head, once, change) ? { githubId: head.sha, url: null } : undefined;
    },
    write: async () => {
      const sha = await writeCommit(session, once, change);
      return { githubId: await pointBranch(session, once, change, sha), url: null };
    },
  });
  return { sha: made.githubId };
}
