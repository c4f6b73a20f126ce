import { ProbotOctokit } from 'probot';

/** GitHub's dated REST version: what we read and write is what this version says, whatever becomes the default. */
const apiVersion = '2022-11-28';

/** Longer waits are not slept through in a job: the step is postponed instead (RateLimitedError). */
const longestWaitSeconds = 60;

interface LimitedRequest {
  readonly method: string;
  readonly url: string;
}

/** Whether to send a rate-limited request again after the wait GitHub asked for. */
function obeyLimit(
  waitSeconds: number,
  request: LimitedRequest,
  octokit: { readonly log: { warn(message: string): void } },
  retryCount: number,
): boolean {
  const isWorthIt = waitSeconds <= longestWaitSeconds && retryCount < 2;
  const then = isWorthIt ? 'sent again after that' : 'given back to the queue';
  octokit.log.warn(`GitHub limits ${request.method} ${request.url} for ${waitSeconds} s: ${then}`);
  return isWorthIt;
}

type Plugin = Parameters<typeof ProbotOctokit.plugin>[0];

const pinApiVersion: Plugin = (octokit) => {
  octokit.hook.before('request', (options) => {
    options.headers['x-github-api-version'] = apiVersion;
  });
};

/** An answer whose JSON broke off on the way is handed on as text; a write that got one may well have landed. */
const refuseBrokenJson: Plugin = (octokit) => {
  octokit.hook.after('request', (response, options) => {
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    if (!isJson || typeof response.data !== 'string') return;
    const request = octokit.request.endpoint.parse(options);
    throw Object.assign(new Error("GitHub's answer broke off on its way"), { status: 500, request });
  });
};

/**
 * A token keeps the permissions of its minting for up to 59 minutes in Octokit's cache. Forgetting it makes the next
 * request mint a new one. (`octokit.auth({refresh: true})` would ask api.github.com whatever the base URL is.)
 */
const forgettableToken: Plugin = (_octokit, options) => ({
  forgetToken(installationId: number) {
    (options.auth as { cache?: Map<string, unknown> } | undefined)?.cache?.delete(String(installationId));
  },
});

/**
 * Probot's Octokit for this app: `new Probot({ Octokit: AppOctokit, … })`. Spaces writes as Probot does, but obeys
 * `retry-after` of secondary limits (Probot only logs them) and never repeats a 429 on its own schedule.
 */
export const AppOctokit = ProbotOctokit.plugin(pinApiVersion, refuseBrokenJson, forgettableToken).defaults(
  (options: Record<string, unknown>) => ({
    ...options,
    throttle: {
      ...(options.throttle as object | undefined),
      onRateLimit: obeyLimit,
      onSecondaryRateLimit: obeyLimit,
    },
    retry: {
      doNotRetry: [400, 401, 403, 404, 409, 410, 422, 429, 451],
      ...(options.retry as object | undefined),
    },
  }),
) as typeof ProbotOctokit;

/** A client made of AppOctokit. */
export type AppOctokit = ProbotOctokit & { forgetToken(installationId: number): void };
