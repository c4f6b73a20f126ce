import { z } from 'zod';
import type { Actor, RepositoryRef } from '../model/github.ts';

/** The fields of webhook payloads that we use, and no others: GitHub adds fields, and leaves out what an event lacks. */
const Id = z.int().min(1);

const Account = z.object({ id: Id, login: z.string().min(1), type: z.string() });

/** GitHub shows what deleted accounts wrote as written by this user. */
const ghost: Actor = { id: 10137, login: 'ghost', isBot: false };

const Repository = z.object({
  id: Id,
  name: z.string().min(1),
  private: z.boolean(),
  default_branch: z.string().min(1),
  owner: z.object({ login: z.string().min(1) }),
});

/** What every event of a repository carries, where it came to a GitHub App. */
export const RepositoryEvent = z.object({ repository: Repository, installation: z.object({ id: Id }) });
export const SentEvent = RepositoryEvent.extend({ sender: Account });

export const IssueEvent = SentEvent.extend({
  issue: z.object({
    number: Id,
    title: z.string(),
    body: z.string().nullish(),
    state: z.string().nullish(),
    user: Account.nullable(),
    labels: z.array(z.object({ name: z.string() })).nullish(),
  }),
  label: z.object({ name: z.string() }).optional(),
  changes: z.object({ body: z.unknown().optional() }).optional(),
});

export const PullEvent = SentEvent.extend({
  pull_request: z.object({
    number: Id,
    user: Account.nullable(),
    draft: z.boolean().nullish(),
    merged: z.boolean().nullish(),
    head: z.object({
      ref: z.string(),
      sha: z.string().regex(/^[0-9a-f]{40}$/),
      repo: z.object({ id: Id }).nullish(),
    }),
    base: z.object({ ref: z.string() }),
  }),
});

const Comment = z.object({ id: Id, body: z.string() });

export const IssueCommentEvent = SentEvent.extend({
  issue: z.object({ number: Id, pull_request: z.unknown().optional() }),
  comment: Comment,
});

export const ReviewCommentEvent = SentEvent.extend({
  pull_request: z.object({ number: Id }),
  comment: Comment.extend({
    in_reply_to_id: Id.nullish(),
    path: z.string().nullish(),
    line: Id.nullish(),
    side: z.string().nullish(),
  }),
});

export const CheckRunEvent = SentEvent.extend({
  check_run: z.object({ id: Id, name: z.string(), external_id: z.string().nullish() }),
  requested_action: z.object({ identifier: z.string() }).nullish(),
});

export const WorkflowRunEvent = RepositoryEvent.extend({
  workflow_run: z.object({
    id: Id,
    path: z.string(),
    event: z.string(),
    display_title: z.string().nullish(),
    status: z.string(),
    conclusion: z.string().nullish(),
  }),
});

export const WorkflowJobEvent = RepositoryEvent.extend({
  workflow_job: z.object({
    run_id: Id,
    status: z.string(),
    labels: z.array(z.string()),
    runner_name: z.string().nullish(),
  }),
});

const Repositories = z.array(z.object({ id: Id, full_name: z.string() }));

export const InstallationEvent = z.object({
  installation: z.object({
    id: Id,
    /** A user or organization has a login, an enterprise a slug. */
    account: z.object({ login: z.string().optional(), slug: z.string().optional() }).nullish(),
  }),
  repositories: Repositories.nullish(),
  repositories_added: Repositories.nullish(),
  repositories_removed: z.array(z.object({ id: Id })).nullish(),
});

/** Its id alone where there is little else: a repository that was deleted. */
export const RepositoryChange = z.union([RepositoryEvent, z.object({ repository: z.object({ id: Id }) })]);

export function repositoryOf({ repository, installation }: z.infer<typeof RepositoryEvent>): RepositoryRef {
  return {
    id: repository.id,
    owner: repository.owner.login,
    name: repository.name,
    isPrivate: repository.private,
    defaultBranch: repository.default_branch,
    installationId: installation.id,
  };
}

export function actorOf(account: z.infer<typeof Account> | null): Actor {
  return account === null ? ghost : { id: account.id, login: account.login, isBot: account.type === 'Bot' };
}
