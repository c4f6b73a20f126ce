import type { ChangedFile } from '../../model/delivery.ts';
import { githubMessageOf, statusOf } from './github-errors.ts';
import { editOnce, type Made, makeOnce, withoutRetries } from './make-once.ts';
import { cutText, sha256Of, withMarker } from './marker.ts';
import type { Once, Pull } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

interface GitHubPull {
  readonly number: number;
  readonly node_id: string;
  readonly html_url: string;
  readonly state: string;
  readonly draft?: boolean;
  readonly merged_at: string | null;
  readonly head: {
    readonly ref: string;
    readonly sha: string;
    readonly repo: { readonly id: number } | null;
  };
  readonly base: { readonly ref: string; readonly repo: { readonly id: number } };
}

function toPull(pull: GitHubPull): Pull {
  return {
    number: pull.number,
    nodeId: pull.node_id,
    url: pull.html_url,
    state: pull.state === 'open' ? 'open' : 'closed',
    isDraft: pull.draft === true,
    isMerged: pull.merged_at !== null,
    headRef: pull.head.ref,
    headSha: pull.head.sha,
    baseRef: pull.base.ref,
    // The head repository is null where the fork was deleted.
    isFork: pull.head.repo?.id !== pull.base.repo.id,
  };
}

export async function readPull(session: RepositorySession, number: number): Promise<Pull> {
  const { data } = await session.call((octokit) =>
    octokit.rest.pulls.get({ ...session.place, pull_number: number }),
  );
  return toPull(data);
}

/** All files; GitHub lists at most 3,000. */
export async function listPullFiles(
  session: RepositorySession,
  number: number,
): Promise<readonly ChangedFile[]> {
  const files = await session.call((octokit) =>
    octokit.paginate(octokit.rest.pulls.listFiles, { ...session.place, pull_number: number, per_page: 100 }),
  );
  return files.map(({ filename, status, patch }) => ({
    path: filename,
    status,
    ...(patch === undefined ? {} : { patch }),
  }));
}

async function findOpenPull(
  session: RepositorySession,
  head: string,
  base: string,
): Promise<GitHubPull | undefined> {
  const { data } = await session.call((octokit) =>
    octokit.rest.pulls.list({
      ...session.place,
      head: `${session.place.owner}:${head}`,
      base,
      state: 'open',
      per_page: 100,
    }),
  );
  // GitHub ignores a `head` that it does not understand and lists everything.
  return data.find((pull) => pull.head.ref === head && pull.base.ref === base);
}

function toMade(pull: GitHubPull): Made {
  return { githubId: String(pull.number), url: pull.html_url };
}

/** A draft pull request. The branch is ours, so an open pull request from it to the same base is taken over. */
export async function openPull(
  session: RepositorySession,
  once: Once,
  pull: { readonly head: string; readonly base: string; readonly title: string; readonly body: string },
): Promise<Pull> {
  let opened: GitHubPull | undefined;
  const look = async () => {
    opened = await findOpenPull(session, pull.head, pull.base);
    return opened && toMade(opened);
  };
  const made = await makeOnce(session, once, {
    look,
    write: async () => {
      try {
        opened = await sendPull(session, once, pull);
        return toMade(opened);
      } catch (error) {
        const isThere = statusOf(error) === 422 && /already exists/i.test(githubMessageOf(error));
        const found = isThere ? await look() : undefined;
        if (found === undefined) throw error;
        return found;
      }
    },
  });
  return opened === undefined ? await readPull(session, Number(made.githubId)) : toPull(opened);
}

async function sendPull(
  session: RepositorySession,
  once: Once,
  pull: { readonly head: string; readonly base: string; readonly title: string; readonly body: string },
): Promise<GitHubPull> {
  const { data } = await session.call((octokit) =>
    octokit.rest.pulls.create({
      ...session.place,
      head: pull.head,
      base: pull.base,
      title: cutText(pull.title, 256),
      body: withMarker(once, pull.body),
      draft: true,
      request: withoutRetries,
    }),
  );
  return data;
}

export async function updatePullBody(
  session: RepositorySession,
  once: Once,
  number: number,
  body: string,
): Promise<void> {
  const text = withMarker(once, body);
  await editOnce(session, once, sha256Of(text), async () => {
    const { data } = await session.call((octokit) =>
      octokit.rest.pulls.update({ ...session.place, pull_number: number, body: text }),
    );
    return toMade(data);
  });
}
