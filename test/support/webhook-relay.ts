import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook on its way between GitHub and the app. */
export interface RelayedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly status: number;
}

/** Stands between the stand-in and the app, so that a test sees the very moment of an acknowledgement. */
export async function startWebhookRelay(
  target: string,
  onAnswer: (webhook: RelayedWebhook) => void,
): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const status = await forward(target, request.headers, body);
    onAnswer({ headers: request.headers, body, status });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** 502 where nobody listens, or where the app dies over it. */
async function forward(target: string, headers: IncomingHttpHeaders, body: Buffer): Promise<number> {
  const kept = Object.entries(headers).filter(([name]) => name.startsWith('x-') || name === 'content-type');
  const sent = Object.fromEntries(kept) as Record<string, string>;
  try {
    const answer = await fetch(target, { method: 'POST', headers: sent, body });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 502;
  }
}
