import type { Made } from './make-once.ts';
import { hasMarker } from './marker.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

export interface GitHubComment {
  readonly id: number;
  readonly html_url: string;
  readonly body?: string | undefined;
  readonly user?: { readonly login: string } | null;
}

export function toMade(comment: GitHubComment): Made {
  return { githubId: String(comment.id), url: comment.html_url };
}

/** Our comment with this marker. Anybody may write the marker, so the author counts too. */
export async function findComment(
  session: RepositorySession,
  once: Once,
  pages: AsyncIterable<readonly GitHubComment[]>,
): Promise<GitHubComment | undefined> {
  const login = await session.botLogin();
  for await (const page of pages) {
    const found = page.find((comment) => comment.user?.login === login && hasMarker(comment.body, once));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All comments of an issue; GitHub stops at 2,500, so at most 25 requests, and only after a crash. */
export async function* listIssueComments(session: RepositorySession, number: number) {
  for (let page = 1; page <= 26; page += 1) {
    const { data } = await session.call((octokit) =>
      octokit.rest.issues.listComments({ ...session.place, issue_number: number, per_page: 100, page }),
    );
    yield data;
    if (data.length < 100) return;
  }
}

/** Newest first. */
export async function* listReviewComments(session: RepositorySession, pull: number) {
  for (let page = 1; page <= 30; page += 1) {
    const { data } = await session.call((octokit) =>
      octokit.rest.pulls.listReviewComments({
        ...session.place,
        pull_number: pull,
        per_page: 100,
        page,
        sort: 'created',
        direction: 'desc',
      }),
    );
    yield data;
    if (data.length < 100) return;
  }
}
