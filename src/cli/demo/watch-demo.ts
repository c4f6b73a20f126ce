/** What the demo shows of a webhook: one line of what just happened on the local GitHub; undefined for what is no news. */
export function describeWebhook(
  event: string,
  payload: Readonly<Record<string, unknown>>,
): string | undefined {
  const fields = payload as WebhookFields;
  const who = fields.sender?.login ?? 'somebody';
  switch (`${event}.${fields.action ?? ''}`) {
    case 'issues.opened':
      return `${who} opened issue #${fields.issue?.number}: ${fields.issue?.title}`;
    case 'pull_request.opened':
      return `${who} opened pull request #${fields.pull_request?.number}: ${fields.pull_request?.title}${fields.pull_request?.draft ? ' (draft)' : ''}`;
    case 'issue_comment.created':
      return `${who} commented on #${fields.issue?.number}: ${firstWords(fields.comment?.body)}`;
    case 'issue_comment.edited':
      return `${who} updated its comment on #${fields.issue?.number}: ${firstWords(fields.comment?.body)}`;
    case 'workflow_run.requested':
      return `workflow run ${fields.workflow_run?.id} is queued`;
    case 'workflow_job.in_progress':
      return `${fields.workflow_job?.runner_name} took the job`;
    case 'workflow_run.completed':
      return `workflow run ${fields.workflow_run?.id} ended: ${fields.workflow_run?.conclusion}`;
    case 'check_run.created':
      // One that is made completed is told by the event that follows.
      if (fields.check_run?.status === 'completed') return undefined;
      return `check "${fields.check_run?.name}" on ${fields.check_run?.head_sha?.slice(0, 8)}: ${checkState(fields)}`;
    case 'check_run.completed':
      return `check "${fields.check_run?.name}" on ${fields.check_run?.head_sha?.slice(0, 8)}: ${checkState(fields)}`;
    case 'pull_request_review.submitted':
      return `${who} reviewed #${fields.pull_request?.number}: ${firstWords(fields.review?.body)}`;
    case 'pull_request.ready_for_review':
      return `#${fields.pull_request?.number} is ready for review`;
    case 'pull_request.review_requested':
      return `review of #${fields.pull_request?.number} asked of ${fields.requested_reviewer?.login}`;
    default:
      return event === 'push' && fields.ref?.startsWith('refs/heads/metainfer/')
        ? `${who} pushed to ${fields.ref.slice('refs/heads/'.length)}`
        : undefined;
  }
}

interface WebhookFields {
  readonly action?: string;
  readonly ref?: string;
  readonly sender?: { readonly login: string };
  readonly issue?: { readonly number: number; readonly title: string };
  readonly pull_request?: { readonly number: number; readonly title: string; readonly draft: boolean };
  readonly comment?: { readonly body: string };
  readonly review?: { readonly body: string };
  readonly requested_reviewer?: { readonly login: string };
  readonly workflow_run?: { readonly id: number; readonly conclusion: string | null };
  readonly workflow_job?: { readonly runner_name: string | null };
  readonly check_run?: {
    readonly name: string;
    readonly head_sha: string;
    readonly status: string;
    readonly conclusion: string | null;
    readonly output: { readonly title: string | null };
  };
}

function checkState({ check_run: check }: WebhookFields): string {
  return check?.output.title ?? check?.conclusion ?? check?.status ?? '';
}

/** The first line that says something, without markup. */
function firstWords(body: string | undefined): string {
  const line = (body ?? '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .split(/\r?\n/)
    .map((text) => text.replace(/^[#>\s]+|[*`]/g, '').trim())
    .find((text) => text !== '');
  if (line === undefined) return '(no text)';
  return line.length > 90 ? `${line.slice(0, 90)}…` : line;
}
