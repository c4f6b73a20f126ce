import { Octokit } from '@octokit/rest';
import { AppError } from '../../model/errors.ts';

export interface IssueRequest {
  /** Base of the REST API: `https://api.github.com`, or `https://<host>/api/v3`. */
  readonly apiUrl: string;
  /** A person's token: the issue is that person's. */
  readonly token: string;
  readonly owner: string;
  readonly name: string;
  readonly title: string;
  readonly body: string;
}

/**
 * Opens an issue as the person whose token it is and gives its address. Asked for once: a repetition could make two.
 * @throws AppError NOT_PERMITTED or USAGE where the person can mend it, GITHUB_UNAVAILABLE for anything else
 */
export async function openIssue(request: IssueRequest): Promise<string> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const octokit = new Octokit({ auth: request.token, baseUrl: request.apiUrl, log: silent });
  const { owner, name: repo, title, body } = request;
  try {
    return (await octokit.rest.issues.create({ owner, repo, title, body })).data.html_url;
  } catch (error) {
    throw explain(error, request);
  }
}

function explain(error: unknown, { owner, name, apiUrl }: IssueRequest): AppError {
  const repository = `${owner}/${name}`;
  const { status } = error as { status?: unknown };
  const refuse = (code: 'NOT_PERMITTED' | 'USAGE' | 'GITHUB_UNAVAILABLE', message: string) =>
    new AppError(code, message, { cause: error });
  switch (status) {
    case 401:
      return refuse(
        'NOT_PERMITTED',
        `${apiUrl} does not accept the token: it is wrong, revoked or has expired.`,
      );
    case 403:
      return refuse(
        'NOT_PERMITTED',
        `The token may not open issues in ${repository}: a fine-grained token needs "Issues: read and write" for it, a classic one the scope "repo" ("public_repo" for a public repository).`,
      );
    case 404:
      return refuse(
        'USAGE',
        `There is no repository ${repository} at ${apiUrl}, or the token's owner cannot see it.`,
      );
    case 410:
      return refuse(
        'USAGE',
        `${repository} has issues switched off; its administrators can turn them on in its settings.`,
      );
    case 422:
      return refuse('USAGE', `GitHub refused the issue: ${messageOf(error)}`);
    default:
      return refuse(
        'GITHUB_UNAVAILABLE',
        `The issue may not have been opened (${messageOf(error)}). Look at the issues of ${repository} before you try again.`,
      );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
