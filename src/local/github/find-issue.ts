import type { Issue, IssueComment, Pull } from './conversation-data.ts';
import { GitHubError, numberParam, type RequestContext } from './router.ts';

/** The issue or pull request of `{issue_number}`. @throws GitHubError 404 */
export function findIssue(context: RequestContext): Issue {
  const issue = context.repository.issues.get(numberParam(context, 'issue_number'));
  if (issue === undefined) throw new GitHubError(404, 'Not Found');
  return issue;
}

/** The pull request of `{pull_number}`. @throws GitHubError 404 */
export function findPull(context: RequestContext): Pull {
  const pull = context.repository.pulls.get(numberParam(context, 'pull_number'));
  if (pull === undefined) throw new GitHubError(404, 'Not Found');
  return pull;
}

/** The comment of `{comment_id}` and its issue. @throws GitHubError 404 */
export function findIssueComment(context: RequestContext): {
  readonly issue: Issue;
  readonly comment: IssueComment;
} {
  const id = numberParam(context, 'comment_id');
  for (const issue of context.repository.issues.values()) {
    const comment = issue.comments.find((other) => other.id === id);
    if (comment !== undefined) return { issue, comment };
  }
  throw new GitHubError(404, 'Not Found');
}
