/** A repository where the app is installed, as far as a stage needs it. Ids are GitHub's numeric ids: names change. */
export interface RepositoryRef {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly isPrivate: boolean;
  readonly defaultBranch: string;
  readonly installationId: number;
}

/** Who caused an event: the sender of this event, never the author of the thing it is about. */
export interface Actor {
  readonly id: number;
  readonly login: string;
  readonly isBot: boolean;
}

/** As `GET …/collaborators/{user}/permission` gives it in `role_name`, custom roles folded to their base. */
export const permissions = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const;
export type Permission = (typeof permissions)[number];

/** What an action costs, and so who may ask for it. */
export const capabilities = ['read', 'plan', 'generate', 'runner'] as const;
export type Capability = (typeof capabilities)[number];

export const commandNames = [
  'plan',
  'generate',
  'fix',
  'bench',
  'retry',
  'cancel',
  'status',
  'help',
] as const;
export type CommandName = (typeof commandNames)[number];

/** One line of a comment that began with `/metainfer`. */
export type ParsedCommand =
  | {
      readonly kind: 'command';
      readonly name: CommandName;
      readonly arguments: Readonly<Record<string, string>>;
    }
  /** `message` is one sentence for the person who wrote it, with "did you mean" where something is near. */
  | { readonly kind: 'not-understood'; readonly line: string; readonly message: string };

/** A constraint file found in a text, cut out but not yet parsed. */
export type ConstraintBlock =
  | {
      readonly kind: 'found';
      readonly text: string /** 1-based line of the body where `text` begins. */;
      readonly firstLine: number;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly firstLines: readonly number[] };

/** Where a comment with a command stands. */
export interface CommandPlace {
  /** Issue or pull request number; `isPull` tells which. */
  readonly number: number;
  readonly isPull: boolean;
  readonly comment: {
    readonly kind: 'issue-comment' | 'review-comment';
    readonly id: number;
    /** First comment of the thread that a review comment replies to: GitHub takes no reply to a reply. */
    readonly threadId?: number;
    /** File and line (of its newest version) that a review comment stands on; no line on a file as a whole or an outdated one. */
    readonly file?: { readonly path: string; readonly line: number | null };
  };
}

/** What a webhook delivery asks of us. */
export type Intent =
  | {
      readonly kind: 'consider-issue';
      readonly repository: RepositoryRef;
      readonly actor: Actor;
      readonly issue: number;
      readonly title: string;
      readonly body: string;
      readonly author: Actor;
      readonly labels: readonly string[];
      readonly reason: 'opened' | 'edited' | 'reopened' | 'labeled';
      /** The label that was added; only where reason is labeled. */
      readonly label?: string;
    }
  | {
      readonly kind: 'consider-pull';
      readonly repository: RepositoryRef;
      readonly actor: Actor;
      readonly pull: number;
      readonly author: Actor;
      readonly headSha: string;
      readonly headRef: string;
      readonly baseRef: string;
      readonly isFork: boolean;
      readonly isDraft: boolean;
      readonly reason: 'opened' | 'synchronize' | 'ready_for_review' | 'reopened';
    }
  | {
      readonly kind: 'command';
      readonly repository: RepositoryRef;
      readonly actor: Actor;
      readonly place: CommandPlace;
      readonly commands: readonly ParsedCommand[];
    }
  | {
      readonly kind: 'check-button';
      readonly repository: RepositoryRef;
      readonly actor: Actor;
      /** The check's "Re-run" is `retry` too. */
      readonly action: 'retry' | 'cancel';
      readonly checkRunId: number;
      readonly externalId: string | null;
    }
  | {
      readonly kind: 'workflow-moved';
      readonly repository: RepositoryRef;
      readonly workflowRunId: number;
      /** `.github/workflows/metainfer-engine.yml` and nothing else is ours. */
      readonly path: string;
      readonly event: string;
      readonly displayTitle: string;
      readonly status: string;
      readonly conclusion: string | null;
    }
  | {
      readonly kind: 'job-moved';
      readonly repository: RepositoryRef;
      readonly workflowRunId: number;
      readonly status: string;
      readonly labels: readonly string[];
      readonly runnerName: string | null;
    }
  | {
      readonly kind: 'pull-closed';
      readonly repository: RepositoryRef;
      readonly actor: Actor;
      readonly pull: number;
      readonly headRef: string;
      readonly isMerged: boolean;
    }
  | {
      readonly kind: 'installation-changed';
      readonly installationId: number;
      readonly action: string;
      readonly account: string;
      /** Repositories added, where the event names them. */
      readonly added: readonly string[];
      readonly removedRepositoryIds: readonly number[];
    }
  | {
      readonly kind: 'repository-changed';
      readonly repositoryId: number;
      readonly action: string;
      /** As it is now; not where the event says little more than which one it was. */
      readonly repository?: RepositoryRef;
    }
  | { readonly kind: 'ignored'; readonly because: string };
