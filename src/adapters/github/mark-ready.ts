import { AppError } from '../../model/errors.ts';
import { editOnce } from './make-once.ts';
import { sha256Of, withMarker } from './marker.ts';
import type { Once } from './repository-client.ts';
import type { RepositorySession } from './repository-session.ts';

const readyMutation = `mutation ($id: ID!, $body: String!) {
  updatePullRequest(input: {pullRequestId: $id, body: $body}) { clientMutationId }
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId }
}`;

interface GraphqlFailure {
  readonly errors?: readonly {
    readonly type?: string;
    readonly message: string;
    readonly path?: readonly unknown[];
  }[];
}

/** REST can't mark a draft as ready; both changes go in one request. Both may be repeated. */
export async function markReady(
  session: RepositorySession,
  once: Once,
  pull: { readonly nodeId: string; readonly body: string },
): Promise<void> {
  const body = withMarker(once, pull.body);
  await editOnce(session, once, sha256Of(body), async () => {
    try {
      await session.call((octokit) => octokit.graphql(readyMutation, { id: pull.nodeId, body }));
    } catch (error) {
      refuseUnlessReadyAlready(session, error);
    }
    return { githubId: pull.nodeId, url: null };
  });
}

/** GraphQL answers 200 with errors. A pull request that a person marked as ready meanwhile is no fault. */
function refuseUnlessReadyAlready(session: RepositorySession, error: unknown): void {
  const { errors } = error as GraphqlFailure;
  if (errors === undefined) throw error;
  const serious = errors.find(
    ({ message, path }) =>
      path?.[0] !== 'markPullRequestReadyForReview' || !/draft|ready|closed|merged/i.test(message),
  );
  if (serious === undefined) return;
  const { owner, name } = session.repository;
  const isForbidden = serious.type === 'FORBIDDEN' || /not accessible by integration/i.test(serious.message);
  throw new AppError(
    isForbidden ? 'NOT_PERMITTED' : 'GITHUB_UNAVAILABLE',
    isForbidden
      ? `GitHub refused to mark the pull request as ready: the app lacks the permission "pull_requests: write" in ${owner}/${name}. An owner of ${owner} can accept the app's permission request in the settings under GitHub Apps (Configure); then comment "/metainfer retry".`
      : `GitHub did not mark the pull request in ${owner}/${name} as ready: "${serious.message.slice(0, 200)}". It is tried again later.`,
    { cause: error },
  );
}
