import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RepositoryRef } from '../../model/github.ts';
import type { EffectLog } from '../store/store.ts';
import type { AppOctokit } from './app-octokit.ts';
import { createRepositoryClient } from './create-repository-client.ts';
import { translateError } from './github-errors.ts';
import type { AppClient, AppDelivery, RepositoryClient } from './repository-client.ts';
import { createInstallationCaller } from './repository-session.ts';
import { meterRequests, type RequestCounts } from './request-meter.ts';

export interface AppClientOptions {
  /** Made with `Octokit: AppOctokit`; its `auth` mints tokens under its own base URL. */
  readonly probot: { auth(installationId?: number): Promise<unknown> };
  readonly effects: EffectLog;
  readonly log: Logger;
  /** Waits between tries of a write; tests pass one that does not wait. */
  readonly pause?: (seconds: number) => Promise<void>;
}

/** Deliveries are kept for three days; this many pages of 100 are more than a restart ever misses. */
const mostDeliveryPages = 20;

interface GitHubDelivery {
  readonly id: number | bigint | string;
  readonly guid: string;
  readonly event: string;
  readonly status_code: number;
  readonly delivered_at: string;
  readonly redelivery: boolean;
}

function toDelivery(delivery: GitHubDelivery): AppDelivery {
  return {
    id: String(delivery.id),
    guid: delivery.guid,
    event: delivery.event,
    status: delivery.status_code,
    deliveredAt: new Date(delivery.delivered_at),
    isRedelivery: delivery.redelivery,
  };
}

/** The clients that Probot hands out, metered: one for the app itself, a new one for each use of an installation. */
function createOctokits(options: AppClientOptions, counts: RequestCounts) {
  let ownClient: Promise<AppOctokit> | undefined;
  async function metered(installationId?: number): Promise<AppOctokit> {
    const octokit = (await options.probot.auth(installationId)) as AppOctokit;
    meterRequests(octokit, counts);
    return octokit;
  }
  return {
    ofInstallation: (id: number) => metered(id),
    ofApp() {
      ownClient ??= metered();
      return ownClient;
    },
  };
}

async function listDeliveries(octokit: AppOctokit, since: Date): Promise<readonly AppDelivery[]> {
  const deliveries: AppDelivery[] = [];
  let pages = 0;
  const route = octokit.rest.apps.listWebhookDeliveries;
  for await (const { data } of octokit.paginate.iterator(route, { per_page: 100 })) {
    const page = (data as unknown as readonly GitHubDelivery[]).map(toDelivery);
    deliveries.push(...page.filter(({ deliveredAt }) => deliveredAt >= since));
    pages += 1;
    const oldest = page.at(-1)?.deliveredAt;
    if (oldest === undefined || oldest < since || pages === mostDeliveryPages) break;
  }
  return deliveries;
}

/** The GitHub App's client: everything that the app reads and writes on GitHub goes through it. */
export function createAppClient(options: AppClientOptions): AppClient {
  const counts = { reads: 0, writes: 0, notifying: 0 };
  const octokits = createOctokits(options, counts);
  const callInstallation = createInstallationCaller(octokits.ofInstallation);
  let identity: Promise<{ slug: string; url: string }> | undefined;

  async function callAsApp<T>(
    request: (octokit: AppOctokit) => Promise<T>,
    repository?: RepositoryRef,
  ): Promise<T> {
    try {
      return await request(await octokits.ofApp());
    } catch (error) {
      throw translateError(error, repository);
    }
  }

  function whoami() {
    identity ??= callAsApp(async (octokit) => {
      const { data } = await octokit.rest.apps.getAuthenticated();
      return { slug: data?.slug ?? '', url: data?.html_url ?? '' };
    }).catch((error) => {
      identity = undefined;
      throw error;
    });
    return identity;
  }

  function repository(ref: RepositoryRef): RepositoryClient {
    return createRepositoryClient({
      repository: ref,
      place: { owner: ref.owner, repo: ref.name },
      effects: options.effects,
      log: options.log,
      call: (request) => callInstallation(ref, request),
      callAsApp: (request) => callAsApp(request, ref),
      botLogin: async () => `${(await whoami()).slug}[bot]`,
      pause: options.pause ?? ((seconds) => sleep(seconds * 1000)),
    });
  }

  return {
    whoami,
    repository,
    listDeliveries: (since) => callAsApp((octokit) => listDeliveries(octokit, since)),
    async redeliver(id) {
      await callAsApp((octokit) =>
        octokit.request('POST /app/hook/deliveries/{delivery_id}/attempts', { delivery_id: id as never }),
      );
    },
    requestCounts: counts,
  };
}
