import { AppError } from '../../model/errors.ts';
import type { RepositoryRef } from '../../model/github.ts';

/** What Octokit throws, as far as we look at it. Status 500 without a response: GitHub could not be reached. */
interface RequestFailure {
  readonly status: number;
  readonly message: string;
  readonly request: { readonly method: string; readonly url: string };
  readonly response?: { readonly headers: Readonly<Record<string, string | undefined>> };
}

/** GitHub asks us to wait longer than a job should sleep. */
export class RateLimitedError extends AppError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, cause?: unknown) {
    super(
      'GITHUB_UNAVAILABLE',
      `GitHub limits this app's requests and asks to wait ${retryAfterSeconds} seconds. The step is tried again then; nothing needs to be done.`,
      { cause },
    );
    this.name = 'RateLimitedError';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

function asFailure(error: unknown): RequestFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const failure = error as Error & Partial<RequestFailure>;
  return typeof failure.status === 'number' && failure.request !== undefined
    ? (failure as unknown as RequestFailure)
    : undefined;
}

/** HTTP status behind an error of this adapter or of Octokit. */
export function statusOf(error: unknown): number | undefined {
  const failure = asFailure(error) ?? asFailure((error as { cause?: unknown } | undefined)?.cause);
  return failure?.status;
}

/** GitHub's own words behind an error, for telling one 422 from another. */
export function githubMessageOf(error: unknown): string {
  const failure = asFailure(error) ?? asFailure((error as { cause?: unknown } | undefined)?.cause);
  return failure?.message ?? '';
}

/** A fault that may pass: the write may or may not have landed. */
export function isPassing(error: unknown): boolean {
  return (statusOf(error) ?? 0) >= 500;
}

/** A 401 or a missing permission: a token minted now may do better. */
export function isTokenRefused(error: unknown): boolean {
  const failure = asFailure(error);
  if (failure?.status === 401) return true;
  return failure?.status === 403 && /not accessible by integration/i.test(failure.message);
}

/** Seconds that GitHub wants us to wait, where the error is a rate limit. */
function waitSecondsOf(failure: RequestFailure): number | undefined {
  if (failure.status !== 403 && failure.status !== 429) return undefined;
  const headers = failure.response?.headers ?? {};
  const after = Number(headers['retry-after']);
  if (after > 0) return Math.ceil(after);
  if (headers['x-ratelimit-remaining'] === '0') {
    return Math.max(1, Math.ceil(Number(headers['x-ratelimit-reset']) - Date.now() / 1000) + 1) || 60;
  }
  const isLimit = failure.status === 429 || /\b(?:secondary )?rate limit\b/i.test(failure.message);
  return isLimit ? 60 : undefined;
}

/** "checks=write" → "checks: write"; alternatives are separated by semicolons. */
function acceptedPermissions(failure: RequestFailure): string | undefined {
  const accepted = failure.response?.headers['x-accepted-github-permissions'];
  if (accepted === undefined || !/^[\w=,; -]{1,200}$/.test(accepted)) return undefined;
  return accepted
    .split(';')
    .map((set) => set.trim().replaceAll('=', ': ').replaceAll(',', ' and '))
    .join(' or ');
}

function refusal(failure: RequestFailure, what: string, owner: string): AppError {
  const options = { cause: failure };
  if (!/not accessible by integration/i.test(failure.message)) {
    return new AppError('NOT_PERMITTED', `GitHub refused ${what}: ${quote(failure)}`, options);
  }
  const missing = acceptedPermissions(failure);
  return new AppError(
    'NOT_PERMITTED',
    `GitHub refused ${what}: the app lacks ${missing === undefined ? 'a permission' : `the permission "${missing}"`}. An owner of ${owner} can accept the app's permission request in the settings under GitHub Apps (Configure); then comment "/metainfer retry".`,
    options,
  );
}

/** One line of GitHub's message without the link to its documentation. */
function quote(failure: RequestFailure): string {
  const [line = ''] = failure.message.split('\n');
  return `"${line.replace(/ - https:\/\/docs\.github\.com\S*$/, '').slice(0, 200)}"`;
}

/** An error of Octokit as AppError; anything else, and an AppError, comes back as it is. */
export function translateError(error: unknown, repository?: RepositoryRef): unknown {
  const failure = asFailure(error);
  if (failure === undefined || error instanceof AppError) return error;
  const wait = waitSecondsOf(failure);
  if (wait !== undefined) return new RateLimitedError(wait, error);
  const where = repository === undefined ? 'the app' : `${repository.owner}/${repository.name}`;
  const what = `${failure.request.method} ${new URL(failure.request.url).pathname}`;
  const options = { cause: error };
  if (failure.status === 403) return refusal(failure, what, repository?.owner ?? 'the app');
  if (failure.status === 401) {
    const text = `GitHub refused the app's token for ${where} (${what}). Is the app still installed there, and does APP_ID belong to PRIVATE_KEY?`;
    return new AppError('NOT_PERMITTED', text, options);
  }
  if (failure.status === 404 || failure.status === 410) {
    const text = `GitHub does not find ${what} (${failure.status}): it was deleted or moved, or the app may not see it. Check that the app is installed for ${where}.`;
    return new AppError('NOT_PERMITTED', text, options);
  }
  if (failure.status >= 500) {
    const text = `GitHub did not answer ${what} as it should: ${quote(failure)}. It is tried again later.`;
    return new AppError('GITHUB_UNAVAILABLE', text, options);
  }
  return new AppError(
    'INTERNAL',
    `GitHub did not accept ${what} (${failure.status}): ${quote(failure)}`,
    options,
  );
}
