import { formatSignature } from './commit-author.ts';
import type { Signature } from './read-commits.ts';
import type { Repository, World } from './world.ts';

/** Writes a commit object and gives its SHA; no ref moves. */
export async function writeCommit(
  world: World,
  repository: Repository,
  commit: {
    readonly treeSha: string;
    readonly parents: readonly string[];
    readonly message: string;
    readonly author: Signature;
    readonly committer: Signature;
  },
): Promise<string> {
  const lines = [
    `tree ${commit.treeSha}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(commit.author)}`,
    `committer ${formatSignature(commit.committer)}`,
    '',
    commit.message,
  ];
  const sha = await world.git(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], lines.join('\n'));
  return sha.trim();
}
