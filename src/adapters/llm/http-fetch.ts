import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { Readable } from 'node:stream';
import { BrokenCompletion } from './endpoint-faults.ts';

/** More than the longest answer with its events; what is longer is no answer. */
const largestBody = 256 * 2 ** 20;

/** Statuses with which a Response may not have a body. */
const bodiless = [204, 205, 304];

/**
 * `fetch` for the openai client, over node:http. The one built into Node.js gives up after five minutes without a byte,
 * whatever the caller wants, and a model on a CPU reads a long prompt for longer. Redirects are not followed: a key
 * goes to no other host.
 */
export async function fetchOverHttp(
  target: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const url = new URL(target instanceof Request ? target.url : target);
  const incoming = await send(url, init);
  const { statusCode = 502, statusMessage = '', headers } = incoming;
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
  );
  const hasBody = !bodiless.includes(statusCode);
  if (!hasBody) incoming.resume();
  const body = hasBody ? (Readable.toWeb(limitSize(incoming)) as ReadableStream<Uint8Array>) : null;
  return new Response(body, {
    // A Response allows no other.
    status: statusCode >= 200 && statusCode <= 599 ? statusCode : 502,
    statusText: statusMessage.replace(/[^\x20-\x7e]/g, ' '),
    headers: pairs,
  });
}

function send(url: URL, init: RequestInit): Promise<IncomingMessage> {
  const start = url.protocol === 'https:' ? requestSecure : requestPlain;
  const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined;
  const headers = {
    ...Object.fromEntries(new Headers(init.headers).entries()),
    'accept-encoding': 'identity',
    ...(body === undefined ? {} : { 'content-length': String(body.length) }),
  };
  return new Promise((resolve, reject) => {
    // A connection of its own for each request: an endpoint that closed an idle one would look like a failure.
    const options = { method: init.method ?? 'GET', headers, agent: false, signal: init.signal ?? undefined };
    const outgoing = start(url, options as Parameters<typeof requestPlain>[1] & object, resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function limitSize(incoming: IncomingMessage): Readable {
  let size = 0;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= largestBody) return;
    const message = `the answer was longer than ${largestBody / 2 ** 20} MiB`;
    incoming.destroy(new BrokenCompletion({ kind: 'too-long', message }));
  });
  // Adding a listener lets the data flow; whoever reads the stream decides when.
  incoming.pause();
  return incoming;
}
