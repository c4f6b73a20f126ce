import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { forwardDeliveries } from './forward-deliveries.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(handle: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('hands a delivery of the channel on to the app with its headers and its body', async () => {
  const delivery = {
    'x-github-event': 'issues',
    'x-github-delivery': 'guid',
    body: { action: 'opened' },
    query: {},
  };
  const channel = await listen((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: ready\ndata: {}\n\ndata: ${JSON.stringify(delivery)}\n\n`);
  });
  let receive: (delivery: { headers: IncomingMessage['headers']; body: string }) => void = () => {};
  const received = new Promise<Parameters<typeof receive>[0]>((resolve) => {
    receive = resolve;
  });
  const app = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.end();
    receive({ headers: request.headers, body });
  });
  const lines: string[] = [];
  const stop = await forwardDeliveries(channel, `${app}/api/github/webhooks`, (line) => lines.push(line));
  const { headers, body } = await received;
  expect(headers).toMatchObject({ 'x-github-event': 'issues', 'x-github-delivery': 'guid' });
  expect(JSON.parse(body)).toEqual({ action: 'opened' });
  await stop();
  expect(lines.join('\n')).toContain(`Forwarding ${channel} to ${app}/api/github/webhooks`);
});

it('names a channel that does not answer', async () => {
  const channel = await listen((_request, response) => response.writeHead(503).end());
  await expect(forwardDeliveries(channel, 'http://127.0.0.1:9/', () => {})).rejects.toThrow(
    `The channel ${channel} does not answer: Non-200 status code (503)`,
  );
});
