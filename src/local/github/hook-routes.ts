import { appOf } from './app-routes.ts';
import { GitHubError, numberParam, type Reply, type RequestContext, type Route } from './router.ts';
import type { Delivery } from './world.ts';

/** The log of an app's webhook deliveries, and redelivery. */
export const hookRoutes: readonly Route[] = [
  { method: 'GET', path: '/app/hook/deliveries', access: 'app', handle: listDeliveries },
  {
    method: 'GET',
    path: '/app/hook/deliveries/{delivery_id}',
    access: 'app',
    handle: async (context) => ({
      status: 200,
      body: renderWhole(findDelivery(context), appOf(context).webhookUrl),
    }),
  },
  {
    method: 'POST',
    path: '/app/hook/deliveries/{delivery_id}/attempts',
    access: 'app',
    handle: async (context) => {
      const delivery = findDelivery(context);
      context.world.redeliver(appOf(context), delivery);
      return { status: 202, body: {} };
    },
  },
];

/** Newest first; a cursor names the delivery to go on after, as it is paged on GitHub (no page numbers). */
async function listDeliveries(context: RequestContext): Promise<Reply> {
  const newestFirst = [...appOf(context).deliveries].reverse();
  const perPage = Math.min(Number(context.query.get('per_page') ?? 30) || 30, 100);
  const cursor = context.query.get('cursor');
  const start = cursor === null ? 0 : newestFirst.findIndex(({ id }) => `v1_${id}` === cursor) + 1;
  const shown = newestFirst.slice(start, start + perPage);
  const last = shown.at(-1);
  const hasMore = start + perPage < newestFirst.length && last !== undefined;
  const next = new URL(context.url);
  next.searchParams.set('cursor', `v1_${last?.id}`);
  return {
    status: 200,
    body: shown.map(renderShort),
    ...(hasMore ? { headers: { link: `<${next.href}>; rel="next"` } } : {}),
  };
}

function findDelivery(context: RequestContext): Delivery {
  const id = numberParam(context, 'delivery_id');
  const delivery = appOf(context).deliveries.find((candidate) => candidate.id === id);
  if (delivery === undefined) throw new GitHubError(404, 'Not Found');
  return delivery;
}

function renderShort(delivery: Delivery): Record<string, unknown> {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt.toISOString(),
    redelivery: delivery.redelivery,
    duration: delivery.durationSeconds,
    status: statusText(delivery.statusCode),
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  };
}

function renderWhole(delivery: Delivery, url: string): Record<string, unknown> {
  return {
    ...renderShort(delivery),
    url,
    request: { headers: delivery.requestHeaders, payload: JSON.parse(delivery.payload) },
    response: { headers: delivery.responseHeaders, payload: delivery.responseBody },
  };
}

function statusText(code: number): string {
  if (code >= 200 && code < 300) return 'OK';
  if (code === 502) return 'failed to connect to host';
  return code === 504 ? 'timed out' : `Invalid HTTP Response: ${code}`;
}
