import { runGit } from '../../../src/local/github/git.ts';
import { type LocalGitHub, startLocalGitHub } from '../../../src/local/github/local-github.ts';
import type { App, Installation, Repository } from '../../../src/local/github/world.ts';
import { type ApiCall, apiOf } from '../../support/github-api.ts';
import { type GitHubWatch, watchGitHub } from '../../support/watch-github.ts';

export interface SeenEvent {
  readonly event: string;
  readonly action: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: payloads are checked against GitHub's schemas, not by types
  readonly payload: any;
}

/** A repository `mona/engines` with an installed app and people of several roles, each with an API call of their own. */
export interface ConversationWorld {
  readonly github: LocalGitHub;
  readonly repository: Repository;
  readonly app: App;
  readonly events: readonly SeenEvent[];
  /** Every answer and payload against GitHub's schemas. */
  readonly watch: GitHubWatch;
  /** The app's installation, the owner, a collaborator who may write, and a stranger. */
  readonly bot: ApiCall;
  readonly mona: ApiCall;
  readonly wilma: ApiCall;
  readonly rita: ApiCall;
  /** `event.action` of everything since the last call, in order. */
  takeEvents(): string[];
  lastEvent(name: string): SeenEvent['payload'];
  /** A commit with these files on top of a branch, which is made from `from` (main) where it is not there; its SHA. */
  push(branch: string, files: Readonly<Record<string, string>>, options?: PushOptions): Promise<string>;
  stop(): Promise<void>;
}

interface PushOptions {
  readonly from?: string;
  readonly message?: string;
}

export const base = '/repos/mona/engines';

const permissions = {
  contents: 'write',
  issues: 'write',
  pull_requests: 'write',
  checks: 'write',
  statuses: 'write',
};

const subscribed = [
  'issues',
  'issue_comment',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'check_run',
  'label',
  'status',
];

/** A token of an installation, as `POST /app/installations/{id}/access_tokens` would give it. */
export function installationToken(
  github: LocalGitHub,
  installation: Installation,
  granted: Readonly<Record<string, string>> = installation.permissions,
): string {
  const token = `ghs_test_${github.world.nextId()}`;
  github.world.tokens.set(token, {
    kind: 'installation',
    installation,
    permissions: granted,
    repositoryIds: installation.repositoryIds,
    expiresAt: new Date(github.world.now().getTime() + 3_600_000),
  });
  return token;
}

export function installTestApp(github: LocalGitHub, name: string, repository: Repository) {
  const { app } = github.addApp({
    name,
    permissions,
    events: subscribed,
    webhookUrl: 'http://127.0.0.1:9/never',
    webhookSecret: 'a secret of sufficient length',
  });
  return { app, installation: github.install(app, [repository]) };
}

export async function openConversationWorld(
  files: Readonly<Record<string, string>> = { 'README.md': 'engines\n' },
): Promise<ConversationWorld> {
  const events: SeenEvent[] = [];
  const github = await startLocalGitHub();
  const watch = watchGitHub(github);
  github.observe({ onDelivery: (event) => events.push(event) });
  const repository = await github.addRepository('mona', 'engines', { files });
  const { app, installation } = installTestApp(github, 'MetaInfer Test', repository);
  const wilma = github.addUser('wilma');
  repository.collaborators.set(wilma.id, 'write');
  const wilmaCalls = apiOf(github, github.userToken('wilma'));
  let taken = events.length;
  return {
    github,
    repository,
    app,
    events,
    watch,
    bot: apiOf(github, installationToken(github, installation)),
    mona: apiOf(github, github.userToken('mona')),
    wilma: wilmaCalls,
    rita: apiOf(github, github.userToken('rita')),
    takeEvents() {
      const names = events.slice(taken).map(({ event, action }) => `${event}.${action}`);
      taken = events.length;
      return names;
    },
    lastEvent: (name) => events.findLast(({ event, action }) => `${event}.${action}` === name)?.payload,
    push: (branch, changed, pushOptions = {}) =>
      pushFiles({ repository, call: wilmaCalls }, branch, changed, pushOptions),
    stop: () => github.stop(),
  };
}

/** Writes the commit with one git process, then makes or moves the branch through the API as wilma. */
async function pushFiles(
  world: { readonly repository: Repository; readonly call: ApiCall },
  branch: string,
  files: Readonly<Record<string, string>>,
  { from = 'main', message = 'change' }: PushOptions,
): Promise<string> {
  const { repository, call } = world;
  const isThere = (await call('GET', `${base}/git/ref/heads/${branch}`)).status === 200;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const stream = [
    `commit refs/scratch/${branch}\nmark :1\ncommitter Wilma <wilma@example.org> 1790000000 +0000\n`,
    data(message),
    `from refs/heads/${isThere ? branch : from}^0\n`,
    ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
    'get-mark :1\ndone\n',
  ];
  const args = ['fast-import', '--quiet', '--force', '--done', '--cat-blob-fd=1'];
  const sha = (await runGit(repository.folder, args, stream.join(''))).toString('utf8').trim();
  const answer = isThere
    ? await call('PATCH', `${base}/git/refs/heads/${branch}`, { sha })
    : await call('POST', `${base}/git/refs`, { ref: `refs/heads/${branch}`, sha });
  if (answer.status >= 300) throw new Error(`${branch}: ${JSON.stringify(answer.body)}`);
  return sha;
}
