import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { createActionsData } from './actions-data.ts';
import { createBareRepository } from './bare-repository.ts';
import { createConversationData } from './conversation-data.ts';
import { nodeId } from './create-world.ts';
import { writeInitialCommit } from './initial-commit.ts';
import { renderInstallation, renderMinimalRepository } from './render.ts';
import type { App, Installation, Repository, User, World } from './world.ts';

export function findUser(world: World, login: string): User | undefined {
  const wanted = login.toLowerCase();
  return [...world.users.values()].find((user) => user.login.toLowerCase() === wanted);
}

export function findRepository(world: World, owner: string, name: string): Repository | undefined {
  const wanted = `${owner}/${name}`.toLowerCase();
  return [...world.repositories.values()].find(
    (repository) => `${repository.owner.login}/${repository.name}`.toLowerCase() === wanted,
  );
}

export function addUser(world: World, login: string, type: User['type'] = 'User'): User {
  if (findUser(world, login) !== undefined) throw new Error(`The login ${login} is taken.`);
  const id = world.nextId();
  const user: User = { id, login, type, nodeId: nodeId('U', id) };
  world.users.set(id, user);
  return user;
}

/** A repository with one commit of `files` by its owner; the owner is made where the login is new. */
export async function addRepository(
  world: World,
  folder: string,
  owner: string,
  name: string,
  options: {
    readonly isPrivate?: boolean;
    readonly files?: Readonly<Record<string, string | Buffer>>;
    readonly ownerType?: 'User' | 'Organization';
  } = {},
): Promise<Repository> {
  if (findRepository(world, owner, name) !== undefined) throw new Error(`${owner}/${name} exists already.`);
  const user = findUser(world, owner) ?? addUser(world, owner, options.ownerType ?? 'User');
  const id = world.nextId();
  const repository: Repository = {
    ...createConversationData(),
    ...createActionsData(),
    id,
    nodeId: nodeId('R', id),
    owner: user,
    name,
    isPrivate: options.isPrivate ?? false,
    defaultBranch: 'main',
    folder: join(folder, `${id}.git`),
    collaborators: new Map([[user.id, 'admin' as const]]),
    nextNumber: 1,
    createdAt: world.now(),
    pushedAt: world.now(),
  };
  await createBareRepository(repository.folder, repository.defaultBranch);
  await writeInitialCommit(world, repository, options.files ?? { 'README.md': `# ${name}\n` });
  world.repositories.set(id, repository);
  return repository;
}

export interface AppDraft {
  readonly name: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  /** Login of the account that owns the app; `apps` by default. */
  readonly owner?: string;
}

/** Registers an app. The private key is given once, as GitHub does: PEM, PKCS #1. */
export function addApp(world: World, draft: AppDraft): { readonly app: App; readonly privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const id = world.nextId();
  const slug = draft.name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const owner = draft.owner ?? 'app-owner';
  const app: App = {
    id,
    nodeId: nodeId('A', id),
    clientId: `Iv1.local${id}`,
    slug,
    name: draft.name,
    owner: findUser(world, owner) ?? addUser(world, owner),
    bot: addUser(world, `${slug}[bot]`, 'Bot'),
    permissions: { metadata: 'read', ...draft.permissions },
    events: draft.events,
    webhookUrl: draft.webhookUrl,
    webhookSecret: draft.webhookSecret,
    publicKey,
    createdAt: world.now(),
    deliveries: [],
  };
  world.apps.set(id, app);
  return { app, privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string };
}

/** Installs an app on repositories of one account and tells it so (`installation.created`). */
export function install(world: World, app: App, repositories: readonly Repository[]): Installation {
  const account = repositories[0]?.owner;
  if (account === undefined) throw new Error('Install an app on one repository at least.');
  const id = world.nextId();
  const installation: Installation = {
    id,
    app,
    account,
    repositoryIds: new Set(repositories.map((repository) => repository.id)),
    permissions: app.permissions,
    events: app.events,
    createdAt: world.now(),
  };
  world.installations.set(id, installation);
  const payload = {
    action: 'created',
    installation: renderInstallation(world, installation),
    repositories: repositories.map((repository) => shortRepository(world, repository)),
    requester: null,
  };
  world.emit(installation, 'installation', payload, account);
  return installation;
}

/** The five fields that installation events name a repository by. */
export function shortRepository(world: World, repository: Repository): Record<string, unknown> {
  const { id, node_id, name, full_name } = renderMinimalRepository(world, repository);
  return { id, node_id, name, full_name, private: repository.isPrivate };
}
