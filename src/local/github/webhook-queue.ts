import { createHmac, randomUUID } from 'node:crypto';
import type { App, Delivery, World } from './world.ts';

/** What one delivery carries; `payload` is the JSON text that gets signed. */
export interface DeliveryRequest {
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly payload: string;
  readonly redelivery: boolean;
}

export interface WebhookQueue {
  /** Puts a delivery at the end of the app's queue and resolves when it was tried. */
  send(app: App, request: DeliveryRequest): Promise<void>;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
  stop(): void;
}

const timeoutMilliseconds = 10_000;

/**
 * Deliveries of each app, one after the other and in order, as GitHub mostly does. One try each: what fails stays in
 * the delivery log until it is asked for again.
 */
export function createWebhookQueue(
  world: Pick<World, 'now' | 'nextId'>,
  options: {
    /** True: the delivery is lost on the way (the log says 502). */
    readonly isLost: (request: DeliveryRequest) => boolean;
  },
): WebhookQueue {
  const tails = new Map<number, Promise<void>>();
  const stopper = new AbortController();
  return {
    send(app, request) {
      const tail = (tails.get(app.id) ?? Promise.resolve()).then(async () => {
        if (stopper.signal.aborted) return;
        app.deliveries.push(await deliver(app, request));
      });
      tails.set(app.id, tail);
      return tail;
    },
    async settled() {
      for (;;) {
        const before = [...tails.values()];
        await Promise.all(before);
        if (before.every((tail, index) => tail === [...tails.values()][index])) return;
      }
    },
    stop: () => stopper.abort(),
  };

  async function deliver(app: App, request: DeliveryRequest): Promise<Delivery> {
    const deliveredAt = world.now();
    const began = performance.now();
    const headers = signedHeaders(app, request);
    const answer = options.isLost(request)
      ? { status: 502, headers: {}, body: '' }
      : await post(app.webhookUrl, headers, request.payload, stopper.signal);
    return {
      id: world.nextId(),
      guid: request.guid,
      deliveredAt,
      redelivery: request.redelivery,
      durationSeconds: Math.round(performance.now() - began) / 1000,
      statusCode: answer.status,
      event: request.event,
      action: request.action,
      installationId: request.installationId,
      repositoryId: request.repositoryId,
      requestHeaders: headers,
      payload: request.payload,
      responseHeaders: answer.headers,
      responseBody: answer.body,
    };
  }
}

/** A new GUID for a new event. */
export function newGuid(): string {
  return randomUUID();
}

function signedHeaders(app: App, request: DeliveryRequest): Record<string, string> {
  const sign = (algorithm: string) =>
    `${algorithm}=${createHmac(algorithm, app.webhookSecret).update(request.payload).digest('hex')}`;
  return {
    accept: '*/*',
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/local',
    'x-github-delivery': request.guid,
    'x-github-event': request.event,
    'x-github-hook-id': String(app.id),
    'x-github-hook-installation-target-id': String(app.id),
    'x-github-hook-installation-target-type': 'integration',
    'x-hub-signature': sign('sha1'),
    'x-hub-signature-256': sign('sha256'),
  };
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  stopped: AbortSignal,
): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMilliseconds)]);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: (await response.text()).slice(0, 10_000),
    };
  } catch (error) {
    // GitHub logs 504 for a timeout and 502 for a connection that failed.
    const status = error instanceof Error && error.name === 'TimeoutError' ? 504 : 502;
    return { status, headers: {}, body: '' };
  }
}
