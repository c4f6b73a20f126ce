import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook on its way between GitHub and the app. */
export interface Webhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Stands between the stand-in and the app; `pass` hands each webhook on and gives the status to answer with. */
export async function startWebhookRelay(
  pass: (webhook: Webhook) => Promise<number>,
): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const status = await pass({ headers: webhookHeaders(request.headers), body: Buffer.concat(chunks) });
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

/** Gives the status: 502 where nobody listens, or where the app dies over it. */
export async function postWebhook(url: string, { headers, body }: Webhook): Promise<number> {
  try {
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 502;
  }
}

function webhookHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(([name]) => name.startsWith('x-') || name === 'content-type');
  return Object.fromEntries(kept) as Record<string, string>;
}
