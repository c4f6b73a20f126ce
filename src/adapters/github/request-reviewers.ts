import { statusOf } from './github-errors.ts';
import { editOnce } from './make-once.ts';
import { sha256Of } from './marker.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

/** People and teams that GitHub refuses (no access, or the author) are left out with an entry in the log. */
export async function requestReviewers(
  session: RepositorySession,
  once: Once,
  number: number,
  reviewers: { readonly users: readonly string[]; readonly teams: readonly string[] },
): Promise<void> {
  if (reviewers.users.length + reviewers.teams.length === 0) return;
  await editOnce(session, once, sha256Of(reviewers), async () => {
    try {
      await session.call((octokit) =>
        octokit.rest.pulls.requestReviewers({
          ...session.place,
          pull_number: number,
          reviewers: [...reviewers.users],
          team_reviewers: [...reviewers.teams],
        }),
      );
    } catch (error) {
      if (statusOf(error) !== 422) throw error;
      session.log.warn({ err: error, number }, 'GitHub refused the reviewers named in CODEOWNERS');
    }
    return { githubId: String(number), url: null };
  });
}
