import type { z } from 'zod';
import type { CommandPlace, Intent } from '../model/github.ts';
import { parseCommands } from './parse-commands.ts';
import {
  actorOf,
  type IssueCommentEvent,
  type IssueEvent,
  type PullEvent,
  type ReviewCommentEvent,
  repositoryOf,
  type SentEvent,
} from './payload-shapes.ts';

const issueReasons = ['opened', 'edited', 'reopened', 'labeled'] as const;
const pullReasons = ['opened', 'synchronize', 'ready_for_review', 'reopened'] as const;

/** Opened, edited, reopened or labeled by a person, while the issue is open. */
export function intentOfIssue(action: string, event: z.infer<typeof IssueEvent>): Intent {
  const { issue, label, changes } = event;
  const reason = issueReasons.find((name) => name === action);
  if (reason === undefined) return unusedAction('issues', action);
  const actor = actorOf(event.sender);
  if (actor.isBot) return ignored('a bot did it');
  if (issue.state === 'closed') return ignored('the issue is closed');
  if (reason === 'edited' && changes?.body === undefined) return ignored('the body was not edited');
  // Opening an issue with labels sends one event for each beside `opened`.
  if (reason === 'labeled' && !isOurLabel(label?.name)) return ignored('the label is not one of ours');
  return {
    kind: 'consider-issue',
    repository: repositoryOf(event),
    actor,
    issue: issue.number,
    title: issue.title,
    body: issue.body ?? '',
    author: actorOf(issue.user),
    labels: (issue.labels ?? []).map(({ name }) => name),
    reason,
    ...(reason === 'labeled' ? { label: label!.name } : {}),
  };
}

function isOurLabel(name: string | undefined): boolean {
  return name?.toLowerCase().startsWith('metainfer:') === true;
}

/** A pull request that may hold constraint files, whoever opened it; and the end of one. */
export function intentOfPull(action: string, event: z.infer<typeof PullEvent>): Intent {
  const { number, user, draft, merged, head, base } = event.pull_request;
  const actor = actorOf(event.sender);
  const repository = repositoryOf(event);
  if (action === 'closed') {
    return {
      kind: 'pull-closed',
      repository,
      actor,
      pull: number,
      headRef: head.ref,
      isMerged: merged === true,
    };
  }
  const reason = pullReasons.find((name) => name === action);
  if (reason === undefined) return unusedAction('pull_request', action);
  const isFork = head.repo?.id !== repository.id;
  if (actor.isBot && !isFork && head.ref.startsWith('metainfer/'))
    return ignored('it is an engine of our own');
  return {
    kind: 'consider-pull',
    repository,
    actor,
    pull: number,
    author: actorOf(user),
    headSha: head.sha,
    headRef: head.ref,
    baseRef: base.ref,
    isFork,
    isDraft: draft === true,
    reason,
  };
}

/** Commands in a new comment on an issue or on a pull request's conversation. */
export function intentOfIssueComment(action: string, event: z.infer<typeof IssueCommentEvent>): Intent {
  const { issue, comment } = event;
  const isPull = issue.pull_request !== undefined && issue.pull_request !== null;
  const place = { number: issue.number, isPull, comment: { kind: 'issue-comment', id: comment.id } } as const;
  return intentOfComment('issue_comment', action, event, place);
}

/** Commands in a new comment on a pull request's line or file. */
export function intentOfReviewComment(action: string, event: z.infer<typeof ReviewCommentEvent>): Intent {
  const { pull_request: pull, comment } = event;
  const place = {
    number: pull.number,
    isPull: true,
    comment: {
      kind: 'review-comment',
      id: comment.id,
      threadId: comment.in_reply_to_id ?? comment.id,
      ...(comment.path == null ? {} : { file: { path: comment.path, line: newLine(comment) } }),
    },
  } as const;
  return intentOfComment('pull_request_review_comment', action, event, place);
}

/** A line of the old side is none of the file as it is now. */
function newLine({ line, side }: z.infer<typeof ReviewCommentEvent>['comment']): number | null {
  return side === 'LEFT' ? null : (line ?? null);
}

function intentOfComment(
  name: string,
  action: string,
  event: z.infer<typeof SentEvent> & { readonly comment: { readonly body: string } },
  place: CommandPlace,
): Intent {
  if (action !== 'created') return unusedAction(name, action);
  const actor = actorOf(event.sender);
  if (actor.isBot) return ignored('a bot wrote it');
  const commands = parseCommands(event.comment.body);
  if (commands.length === 0) return ignored('the comment holds no command');
  return { kind: 'command', repository: repositoryOf(event), actor, place, commands };
}

export function ignored(because: string): Intent {
  return { kind: 'ignored', because };
}

export function unusedAction(event: string, action: string): Intent {
  return ignored(`${event}.${action} is not used`);
}
