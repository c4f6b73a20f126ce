import { type IncomingMessage, ServerResponse } from 'node:http';
import { createBodyReader } from './read-body.ts';

/** Probot's: verifies the signature, runs the app's handler, answers. */
type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;

/** GitHub sends nothing larger. */
const largestPayload = 25 * 2 ** 20;

type Refusal = { readonly status: number; readonly text: string };

const missingHeaders =
  'A webhook of GitHub has the headers X-GitHub-Event, X-GitHub-Delivery and X-Hub-Signature-256; the last one is sent once the webhook has a secret.';
const unreadable: Readonly<Record<'too-large' | 'too-many' | 'cut-off', Refusal>> = {
  'too-large': { status: 413, text: 'The body is larger than the 25 MB of the largest webhook.' },
  'too-many': { status: 503, text: 'Too many large webhooks at once; deliver this one again later.' },
  'cut-off': { status: 400, text: 'The body broke off.' },
};
const refusals: Readonly<Record<number, string>> = {
  400: 'The signature is not that of this body with the webhook secret of the app, or the body is not JSON.',
  415: 'Set the content type of the webhook to application/json.',
};
const notStored = 'The delivery was not stored; the reason is in the log of the app. Deliver it again later.';

/**
 * Lets Probot judge a webhook, with its body read under a limit, and answers in our own words: what Probot would say of
 * an error inside is not for whoever sent the request.
 */
export function createWebhookReceiver(
  middleware: Middleware,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const readBody = createBodyReader({ limit: largestPayload, total: 4 * largestPayload });
  return async (request, response) => {
    if (request.method !== 'POST') return refuse(response, { status: 405, text: 'Webhooks come by POST.' });
    if (!hasHeaders(request)) return refuse(response, { status: 400, text: missingHeaders });
    const reading = await readBody(request);
    if (reading.kind !== 'whole') return refuse(response, unreadable[reading.kind]);
    const status = await judge(middleware, request, reading.body);
    if (status === 200) response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    else if (status >= 400 && status < 500)
      refuse(response, { status, text: refusals[status] ?? 'This is no webhook of GitHub.' });
    // 202, "still processing", would be a promise: GitHub never sends again what it had a 2xx for.
    else refuse(response, { status: 503, text: notStored });
  };
}

/** The status that Probot answers with; its text stays here. */
async function judge(middleware: Middleware, request: IncomingMessage, body: Buffer): Promise<number> {
  const unsent = new ServerResponse(request);
  await middleware(Object.assign(request, { body: body.toString('utf8') }), unsent, () =>
    unsent.writeHead(404).end(),
  );
  return unsent.statusCode;
}

/** Names are looked up in plain objects and stored as keys further on: nothing odd may come through. */
function hasHeaders({ headers }: IncomingMessage): boolean {
  const event = headers['x-github-event'];
  const id = headers['x-github-delivery'];
  return (
    typeof event === 'string' &&
    /^[a-z][a-z_]{0,99}$/.test(event) &&
    event !== 'error' &&
    !(event in {}) &&
    typeof id === 'string' &&
    /^[A-Za-z0-9-]{1,100}$/.test(id) &&
    typeof headers['x-hub-signature-256'] === 'string'
  );
}

/** The rest of a body that nobody reads must not come: the connection ends with the answer. */
function refuse(response: ServerResponse, { status, text }: Refusal): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    .end(`${text}\n`);
}
