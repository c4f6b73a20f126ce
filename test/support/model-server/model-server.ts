import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { answerCompletion } from './answer-completion.ts';
import { type Counts, type LoggedRequest, RequestLog } from './request-log.ts';
import { sendError, sendKeyRefused } from './send-error.ts';
import { type ModelServerOptions, modelsOf } from './server-options.ts';

/** A test double of a language model's endpoint. No model is in it. */
export interface ModelServer {
  /** Up to and including `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Every request for a completion. */
  readonly log: readonly LoggedRequest[];
  until(isWanted: (entry: LoggedRequest) => boolean): Promise<LoggedRequest>;
  /** What was spent, as the server sees it: everything that reached the model, reported or not. */
  count(isCounted?: (entry: LoggedRequest) => boolean): Counts;
  close(): Promise<void>;
}

/** An OpenAI-compatible server on 127.0.0.1 that answers by script. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const log = new RequestLog();
  const server = createServer((request, response) => {
    route(request, response, options, log).catch((error: unknown) => {
      // A mistake in a test's replies must not look like an endpoint that is merely busy.
      console.error('model server (test double):', error);
      const body = { message: `the test double failed: ${error}`, type: 'test_double' };
      if (response.headersSent) response.end(`data: ${JSON.stringify({ error: body })}\n\n`);
      else sendError(response, 501, body);
    });
  });
  // Streams that stall on purpose must not be ended by the server.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    model: modelsOf(options)[0]!,
    log: log.entries,
    until: (isWanted) => log.until(isWanted),
    count: (isCounted) => log.count(isCounted),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  options: ModelServerOptions,
  log: RequestLog,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
  const key = options.endpoint?.key;
  const shown = request.headers.authorization ?? '';
  if (key !== undefined && shown !== `Bearer ${key}`) return sendKeyRefused(response, mask(shown));
  if (request.method === 'GET' && path === '/v1/models') return sendModels(response, options);
  if (request.method === 'POST' && path === '/v1/chat/completions')
    return await answerCompletion(await readText(request), response, options, log);
  sendError(response, 404, {
    message: `Invalid URL (${request.method} ${path})`,
    type: 'invalid_request_error',
  });
}

/** A part of the key comes back in the message, as real endpoints do: nothing may log it. */
function mask(authorization: string): string {
  const key = authorization.replace(/^Bearer /, '');
  return key === '' ? "''" : `${key.slice(0, 8)}***${key.slice(-4)}`;
}

function sendModels(response: ServerResponse, options: ModelServerOptions): void {
  const data = modelsOf(options).map((id) => ({ id, object: 'model', created: 0, owned_by: 'test-double' }));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ object: 'list', data }));
}
