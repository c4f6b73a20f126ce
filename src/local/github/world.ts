import type { KeyObject } from 'node:crypto';
import type { Permission } from '../../model/github.ts';
import type { ActionsData } from './actions-data.ts';
import type { ConversationData } from './conversation-data.ts';

export interface User {
  readonly id: number;
  readonly login: string;
  readonly type: 'User' | 'Bot' | 'Organization';
  readonly nodeId: string;
}

/** A repository: its git data lies in `folder` (bare), everything else here. */
export interface Repository extends ConversationData, ActionsData {
  readonly id: number;
  readonly nodeId: string;
  readonly owner: User;
  readonly name: string;
  readonly isPrivate: boolean;
  defaultBranch: string;
  /** The bare repository. */
  readonly folder: string;
  readonly collaborators: Map<number /* user id */, Permission>;
  /** Issues and pull requests count together; take it with `nextNumber++`. */
  nextNumber: number;
  readonly createdAt: Date;
  pushedAt: Date;
}

/** One attempt to deliver a webhook, as `GET /app/hook/deliveries` lists it. */
export interface Delivery {
  readonly id: number;
  /** The same for every redelivery of one event. */
  readonly guid: string;
  readonly deliveredAt: Date;
  readonly redelivery: boolean;
  readonly durationSeconds: number;
  readonly statusCode: number;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The JSON text that was signed. */
  readonly payload: string;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
}

export interface App {
  readonly id: number;
  readonly nodeId: string;
  readonly clientId: string;
  readonly slug: string;
  readonly name: string;
  readonly owner: User;
  /** `slug[bot]`: the sender of what the app does. */
  readonly bot: User;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  /** May change: an app comes back on another port. */
  webhookUrl: string;
  readonly webhookSecret: string;
  readonly publicKey: KeyObject;
  readonly createdAt: Date;
  /** Oldest first. */
  readonly deliveries: Delivery[];
}

export interface Installation {
  readonly id: number;
  readonly app: App;
  readonly account: User;
  readonly repositoryIds: Set<number>;
  permissions: Readonly<Record<string, string>>;
  events: readonly string[];
  readonly createdAt: Date;
}

/** What a token stands for. */
export type Token =
  | { readonly kind: 'user'; readonly user: User }
  | {
      readonly kind: 'installation';
      readonly installation: Installation;
      readonly permissions: Readonly<Record<string, string>>;
      readonly repositoryIds: ReadonlySet<number>;
      readonly expiresAt: Date;
    };

/** A branch or tag that changed, after the fact. Null where it did not exist or exists no more. */
export interface RefChange {
  /** Full name: refs/heads/main. */
  readonly ref: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly sender: User;
}

/** Called after every change of a ref, through the API, a git push or a merge; after `push` was emitted. */
export type RefListener = (world: World, repository: Repository, change: RefChange) => Promise<void>;

/** The state of the stand-in: plain data that the route files share and change. */
export interface World {
  /** http://127.0.0.1:port; the REST API lies under /api/v3. */
  readonly url: string;
  readonly users: Map<number, User>;
  readonly repositories: Map<number, Repository>;
  readonly apps: Map<number, App>;
  readonly installations: Map<number, Installation>;
  readonly tokens: Map<string, Token>;
  readonly refListeners: readonly RefListener[];
  now(): Date;
  /** One counter for the ids of everything. */
  nextId(): number;
  /**
   * Signed delivery to the webhook of every app that subscribed to the event and is installed there, in order;
   * `sender`, `repository` and `installation` are added where the payload lacks them. The payload is frozen as text
   * at the call.
   * With `onlyApp` nobody else gets it (check buttons).
   */
  emit(
    source: Repository | Installation,
    event: string,
    payload: Readonly<Record<string, unknown>>,
    sender: User,
    options?: { readonly onlyApp?: number },
  ): void;
  /** Sends a logged delivery again: same GUID, same payload. */
  redeliver(app: App, delivery: Delivery): void;
  /** Runs git in the bare repository; gives stdout as UTF-8 text. @throws GitFailure with stderr */
  git(repository: Repository, args: readonly string[], input?: Buffer | string): Promise<string>;
  /** As `git`, but gives stdout as bytes: for blobs. */
  gitBytes(repository: Repository, args: readonly string[], input?: Buffer | string): Promise<Buffer>;
}
