import { runGit } from './git.ts';
import { renderRepository, renderUser } from './render.ts';
import { type DeliveryRequest, newGuid, type WebhookQueue } from './webhook-queue.ts';
import type { Installation, RefListener, Repository, World } from './world.ts';

/** An event on its way to one app, before it is signed: for observers. */
export interface EmittedEvent {
  readonly event: string;
  readonly action: string | null;
  readonly payload: unknown;
  readonly guid: string;
}

/** An empty world. `queue` is made by the caller around the world's own clock and counter. */
export function createWorld(options: {
  readonly url: string;
  readonly now: () => Date;
  readonly refListeners: readonly RefListener[];
  readonly makeQueue: (world: Pick<World, 'now' | 'nextId'>) => WebhookQueue;
  readonly onEmit: (event: EmittedEvent) => void;
}): { readonly world: World; readonly queue: WebhookQueue } {
  let lastId = 1000;
  const clock = { now: options.now, nextId: () => ++lastId };
  const queue = options.makeQueue(clock);
  const world: World = {
    ...clock,
    url: options.url,
    users: new Map(),
    repositories: new Map(),
    apps: new Map(),
    installations: new Map(),
    tokens: new Map(),
    refListeners: options.refListeners,
    emit(source, event, payload, sender, emitOptions = {}) {
      for (const installation of receivers(world, source, event, emitOptions.onlyApp)) {
        const repository = isInstallation(source) ? undefined : source;
        const whole = {
          ...(repository === undefined ? {} : { repository: renderRepository(world, repository) }),
          ...payload,
          ...organizationOf(world, repository),
          installation: payload.installation ?? {
            id: installation.id,
            node_id: nodeId('MDIzOkludGVncmF0aW9uSW5z', installation.id),
          },
          sender: renderUser(world, sender),
        };
        const request: DeliveryRequest = {
          guid: newGuid(),
          event,
          action: typeof payload.action === 'string' ? payload.action : null,
          installationId: installation.id,
          repositoryId: repository?.id ?? null,
          payload: JSON.stringify(whole),
          redelivery: false,
        };
        options.onEmit({ ...request, payload: JSON.parse(request.payload) });
        void queue.send(installation.app, request);
      }
    },
    redeliver(app, { guid, event, action, installationId, repositoryId, payload }) {
      const request = { guid, event, action, installationId, repositoryId, payload, redelivery: true };
      void queue.send(app, request);
    },
    async git(repository, args, input) {
      return (await runGit(repository.folder, args, input)).toString('utf8');
    },
    gitBytes: (repository, args, input) => runGit(repository.folder, args, input),
  };
  return { world, queue };
}

/** An opaque id of the kind GitHub gives beside the number. */
export function nodeId(prefix: string, id: number): string {
  return `${prefix}_${id}`;
}

function isInstallation(source: Repository | Installation): source is Installation {
  return 'app' in source;
}

/** GitHub sends installation events whether or not the app asked for them. */
function receivers(
  world: World,
  source: Repository | Installation,
  event: string,
  onlyApp: number | undefined,
): readonly Installation[] {
  if (isInstallation(source)) return [source];
  return [...world.installations.values()].filter(
    (installation) =>
      installation.repositoryIds.has(source.id) &&
      installation.events.includes(event) &&
      (onlyApp === undefined || installation.app.id === onlyApp),
  );
}

function organizationOf(world: World, repository: Repository | undefined): Record<string, unknown> {
  if (repository?.owner.type !== 'Organization') return {};
  const { login, id, nodeId: node } = repository.owner;
  const url = `${world.url}/api/v3/orgs/${login}`;
  return {
    organization: {
      login,
      id,
      node_id: node,
      url,
      repos_url: `${url}/repos`,
      events_url: `${url}/events`,
      hooks_url: `${url}/hooks`,
      issues_url: `${url}/issues`,
      members_url: `${url}/members{/member}`,
      public_members_url: `${url}/public_members{/member}`,
      avatar_url: `${world.url}/avatars/${id}`,
      description: null,
    },
  };
}
