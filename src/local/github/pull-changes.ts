import type { Issue, Pull } from './conversation-data.ts';
import { closeIssue, emitIssueEvent } from './issue-changes.ts';
import { readRef } from './move-ref.ts';
import { readPullFiles } from './pull-diff.ts';
import type { RefChange, Repository, User, World } from './world.ts';

/** Where git keeps the head of a pull request, from forks too. */
export function pullRef(number: number): string {
  return `refs/pull/${number}/head`;
}

/** Brings the head of a pull request into the base repository. */
export async function keepHead(
  world: World,
  repository: Repository,
  head: { readonly repository: Repository; readonly ref: string; readonly sha: string },
  number: number,
): Promise<void> {
  if (head.repository !== repository) {
    await world.git(repository, ['fetch', '--quiet', '--no-tags', head.repository.folder, head.ref]);
  }
  await world.git(repository, ['update-ref', pullRef(number), head.sha]);
}

/** Whether git can merge the head into the base branch without help. */
export async function isMergeable(world: World, repository: Repository, pull: Pull): Promise<boolean> {
  return (await mergeTree(world, repository, pull)) !== undefined;
}

/** The tree of the three-way merge; undefined where it conflicts. */
export async function mergeTree(
  world: World,
  repository: Repository,
  pull: Pull,
): Promise<string | undefined> {
  const args = ['merge-tree', '--write-tree', '--name-only', `refs/heads/${pull.baseRef}`, pull.headSha];
  const output = await world.git(repository, args).catch(() => undefined);
  return output?.split('\n')[0];
}

/** Points a pull request at another base branch, which exists. */
export async function changeBase(
  world: World,
  repository: Repository,
  pull: Pull,
  to: { readonly ref: string; readonly sha: string },
  sender: User,
): Promise<void> {
  const changes = { base: { ref: { from: pull.baseRef }, sha: { from: pull.baseSha } } };
  pull.baseRef = to.ref;
  pull.baseSha = to.sha;
  pull.issue.updatedAt = world.now();
  await emitIssueEvent(world, repository, pull.issue, 'edited', sender, { changes });
}

/** Pull requests follow their branches: new heads, closed with a deleted branch, a new base with a merged one. */
export async function followBranches(world: World, changed: Repository, change: RefChange): Promise<void> {
  if (!change.ref.startsWith('refs/heads/')) return;
  const branch = change.ref.slice('refs/heads/'.length);
  for (const repository of world.repositories.values()) {
    for (const pull of openPulls(repository)) {
      if (pull.headRepository === changed && pull.headRef === branch) {
        await followHead(world, repository, pull, change);
      } else if (repository === changed && pull.baseRef === branch && change.after === null) {
        await followDeletedBase(world, repository, pull, change.sender);
      }
    }
  }
}

function openPulls(repository: Repository): Pull[] {
  return [...repository.pulls.values()].filter((pull) => pull.issue.state === 'open');
}

async function followHead(
  world: World,
  repository: Repository,
  pull: Pull,
  change: RefChange,
): Promise<void> {
  const { before, after, sender } = change;
  if (after === null) {
    await closeIssue(world, repository, pull.issue, sender, null);
    return;
  }
  await moveHead(world, repository, pull, after);
  await emitIssueEvent(world, repository, pull.issue, 'synchronize', sender, { before, after });
}

/** Gives a pull request its new head; review comments on files that changed become outdated. */
export async function moveHead(world: World, repository: Repository, pull: Pull, sha: string): Promise<void> {
  const head = { repository: pull.headRepository, ref: `refs/heads/${pull.headRef}`, sha };
  await keepHead(world, repository, head, pull.number);
  const hasComments = pull.reviewComments.length > 0;
  const before = hasComments ? await blobsByPath(world, repository, pull) : new Map<string, string>();
  pull.headSha = sha;
  pull.baseSha = (await readRef(world, repository, pull.baseRef)) ?? pull.baseSha;
  pull.issue.updatedAt = world.now();
  if (!hasComments) return;
  const after = await blobsByPath(world, repository, pull);
  for (const comment of pull.reviewComments) {
    if (comment.isOutdated) continue;
    if (before.get(comment.path) === after.get(comment.path)) comment.commitId = sha;
    else comment.isOutdated = true;
  }
}

async function blobsByPath(world: World, repository: Repository, pull: Pull): Promise<Map<string, string>> {
  const files = await readPullFiles(world, repository, pull);
  return new Map(files.map((file) => [file.path, file.sha]));
}

/** As GitHub does: on to the base of the merged pull request whose branch it was; closed where there is none. */
async function followDeletedBase(
  world: World,
  repository: Repository,
  pull: Pull,
  sender: User,
): Promise<void> {
  const merged = [...repository.pulls.values()].find(
    (other) =>
      other.mergedAt !== null && other.headRef === pull.baseRef && other.headRepository === repository,
  );
  const sha = merged && (await readRef(world, repository, merged.baseRef));
  if (merged === undefined || sha === undefined) {
    await closeIssue(world, repository, pull.issue, sender, null);
  } else {
    await changeBase(world, repository, pull, { ref: merged.baseRef, sha }, sender);
  }
}

/** Numbers of issues that a text closes: `Closes #3`, `fixes: #4`; not in code. */
export function closingNumbers(text: string): number[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
  const keyword = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d{1,9})\b/gi;
  return [...prose.matchAll(keyword)].map((match) => Number(match[1]));
}

/** Issues (not pull requests) that a pull request closes when it is merged. */
export function issuesClosedBy(repository: Repository, pull: Pull): Issue[] {
  return [...new Set(closingNumbers(pull.issue.body ?? ''))]
    .filter((number) => !repository.pulls.has(number))
    .map((number) => repository.issues.get(number))
    .filter((issue) => issue !== undefined && issue.state === 'open') as Issue[];
}
