import type { IncomingMessage, ServerResponse } from 'node:http';
import { html } from '../model/html.ts';
import { framePage } from './page-frame.ts';

/** What a page answers; `send` adds the headers that every page has. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function plainText(status: number, body: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body };
}

export function htmlPage(body: string): Answer {
  return { status: 200, type: 'text/html; charset=utf-8', body };
}

export function redirect(location: string): Answer {
  return { ...plainText(303, ''), headers: { location } };
}

/** A run that may not be seen gets the same bytes as one that doesn't exist. */
export function notFound(): Answer {
  return showMessage(404, 'No such page', 'There is no such run, or you may not see it.');
}

export function showMessage(status: number, title: string, message: string): Answer {
  const content = html`<h1>${title}</h1>\n<p>${message}</p>\n<p><a href="/runs">All runs</a></p>`;
  return { ...htmlPage(framePage(`${title} · MetaInfer`, content, { isMoving: false })), status };
}

const strictPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, {
    'content-type': answer.type,
    'content-length': body.length,
    'content-security-policy': strictPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...answer.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
