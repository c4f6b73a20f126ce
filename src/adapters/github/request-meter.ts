export interface RequestCounts {
  reads: number;
  writes: number;
  /** Writes that notify people; Octokit spaces them by 3 s. */
  notifying: number;
}

/** The routes of plugin-throttling's list of notifying writes that this app uses. */
const notifyingPath =
  /\/repos\/[^/]+\/[^/]+\/(?:issues(?:\/\d+\/comments)?|pulls(?:\/\d+\/(?:comments(?:\/\d+\/replies)?|requested_reviewers|reviews))?)$/;

/** A request that hangs is worse than one that fails: the step is tried again. */
const requestTimeoutMs = 30_000;

function count(counts: RequestCounts, method: string, url: string): void {
  // Minting a token is no content: GitHub and Octokit limit it apart.
  if (url.endsWith('/access_tokens')) return;
  if (method === 'GET' || method === 'HEAD') {
    counts.reads += 1;
    return;
  }
  counts.writes += 1;
  if (notifyingPath.test(new URL(url).pathname)) counts.notifying += 1;
}

interface Hookable {
  readonly hook: {
    before(
      name: 'request',
      hook: (options: { request?: { fetch?: typeof globalThis.fetch } | undefined }) => void,
    ): void;
  };
}

/** Counts every request that goes over the wire, repeated ones too, and ends those that hang. */
export function meterRequests(octokit: Hookable, counts: RequestCounts): void {
  octokit.hook.before('request', (options) => {
    const send = options.request?.fetch ?? globalThis.fetch;
    const metered = (url: string, init: RequestInit) => {
      count(counts, init.method ?? 'GET', url);
      return send(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) });
    };
    options.request = { ...options.request, fetch: metered as typeof globalThis.fetch };
  });
}
