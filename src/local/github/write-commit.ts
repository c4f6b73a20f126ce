import { formatSignature } from './commit-author.ts';
import type { Signature } from './read-commits.ts';
import type { Repository } from './world.ts';
import { writeObject } from './write-object.ts';

/** Writes a commit object and gives its SHA; no ref moves. */
export async function writeCommit(
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
  return writeObject(repository, 'commit', Buffer.from(lines.join('\n')));
}
