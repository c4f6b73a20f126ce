/** A Probot app that does nothing, in a process of its own: what `npm run bench:app` compares ours with. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { createNodeMiddleware, Probot } from 'probot';
import type { AppSettings } from '../../src/app.ts';

const input = createInterface({ input: process.stdin });
const [line] = await once(input, 'line');
input.once('close', () => process.exit(1));
process.once('SIGTERM', () => process.exit(0));
const { appId, privateKey, webhookSecret } = JSON.parse(line) as AppSettings;
// As the other app's log in this comparison: `info` and above.
const log = pino({ level: 'info' });
const probot = new Probot({ appId, privateKey, secret: webhookSecret, log });
const middleware = await createNodeMiddleware((app) => app.onAny(() => {}), {
  probot,
  webhooksPath: '/api/github/webhooks',
});
const server = createServer((request, response) => void middleware(request, response));
server.listen(0, '127.0.0.1', () => {
  log.info({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, 'ready');
});
