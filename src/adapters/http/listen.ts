import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { AppError } from '../../model/errors.ts';
import { showSetting } from '../../model/show-setting.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** GitHub waits 10 s for an answer; who sends more slowly holds memory for nothing. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 5_000 };

/** @throws AppError SETTINGS_INVALID naming HOST or PORT and what to do */
export async function listen(
  address: Address,
  handle: RequestHandler,
  log: Pick<Logger, 'error'>,
): Promise<Server> {
  const server = createServer(timeouts, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'a request could not be answered');
      if (!response.headersSent) response.writeHead(500, { connection: 'close' });
      response.end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(address, error)));
    server.listen(address.port, address.host, resolve);
  });
  server.on('error', (error) => log.error({ err: error }, 'the server met an error'));
  return server;
}

function refusal({ host, port }: Address, error: NodeJS.ErrnoException): AppError {
  const { code = error.message } = error;
  return new AppError('SETTINGS_INVALID', describe(code, host, port), { cause: error });
}

function describe(code: string, host: string, port: number): string {
  const shown = showSetting(host);
  switch (code) {
    case 'EADDRINUSE':
      return `Another program listens on ${addressText(host, port)} already: stop it, or set PORT to a free port (0 takes any).`;
    case 'EACCES':
      return `This user may not listen on ${addressText(host, port)}: set PORT to 1024 or more, and put a proxy before it where people need 80 or 443.`;
    case 'EADDRNOTAVAIL':
      return `HOST is ${shown}, which is no address of this machine: set it to 127.0.0.1 (this machine alone), 0.0.0.0 (all networks) or one of its own addresses.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_FAIL':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
      return `HOST is ${shown}, a name that cannot be resolved (${code}): set it to 127.0.0.1 (this machine alone), 0.0.0.0 (all networks) or a name of this machine.`;
    default:
      return `The app cannot listen on port ${port} of ${shown} (${code}): look at HOST and PORT.`;
  }
}

/** `host:port`, an IPv6 address in brackets. */
export function addressText(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Takes no more connections and waits for requests in flight; after `graceSeconds` the rest is cut off: somebody who
 * sends half a request must not hold up the end.
 */
export function closeServer(server: Server, graceSeconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
