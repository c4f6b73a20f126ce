import { orUndefined, type RepositorySession } from './repository-session.ts';

export interface BranchHead {
  readonly sha: string;
  readonly treeSha: string;
  readonly message: string;
  readonly parents: readonly string[];
}

export async function readHead(session: RepositorySession, branch: string): Promise<BranchHead | undefined> {
  const answer = await orUndefined(
    session.call((octokit) => octokit.rest.repos.getBranch({ ...session.place, branch })),
  );
  if (answer === undefined) return undefined;
  const { sha, parents, commit } = answer.data.commit;
  return {
    sha,
    treeSha: commit.tree.sha,
    message: commit.message,
    parents: parents.map((it) => it.sha ?? ''),
  };
}

export async function readBranch(
  session: RepositorySession,
  branch: string,
): Promise<{ readonly sha: string; readonly treeSha: string } | undefined> {
  const head = await readHead(session, branch);
  return head && { sha: head.sha, treeSha: head.treeSha };
}
