import type { BotWorld } from './bot-world.ts';

/** What the app did on GitHub for one run, as a person counts it there. */
export async function countEffects({ ada, repository }: BotWorld, issue: number, pull: number) {
  const read = async (path: string) => (await ada('GET', `${repository}${path}`)).body;
  const commits: { sha: string }[] = await read(`/pulls/${pull}/commits`);
  const checks = await Promise.all(commits.map(({ sha }) => read(`/commits/${sha}/check-runs?filter=all`)));
  const reactions: { content: string }[] = await read(`/issues/${issue}/reactions`);
  const pulls: { draft: boolean }[] = await read('/pulls?state=all');
  return {
    /** What each comment is, by its hidden marker. */
    issueComments: kindsOf(await read(`/issues/${issue}/comments`)),
    pullComments: kindsOf(await read(`/issues/${pull}/comments`)),
    reactions: reactions.map(({ content }) => content),
    pulls: pulls.map(({ draft }) => (draft ? 'draft' : 'ready')),
    reviews: (await read(`/pulls/${pull}/reviews`)).length,
    /** Conclusions by commit. */
    checks: checks.map(({ check_runs }) =>
      check_runs.map(({ conclusion }: { conclusion: string | null }) => conclusion),
    ),
    dispatches: (await read('/actions/runs')).total_count,
  };
}

/** Everything once. */
export const onlyOnce = {
  issueComments: ['status', 'end'],
  pullComments: ['status'],
  reactions: ['eyes'],
  pulls: ['ready'],
  reviews: 1,
  checks: [['success'], ['success']],
  dispatches: 1,
};

function kindsOf(comments: readonly { readonly body: string }[]): readonly (string | undefined)[] {
  return comments.map(({ body }) => /^<!-- metainfer:([a-z]+)/.exec(body)?.[1]);
}
