/**
 * The app in a process of its own, to be killed: settings come as one line of JSON on stdin, its log goes to stdout.
 * SIGTERM drains it; it ends with its parent.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { type AppSettings, startApp } from '../../src/app.ts';

const input = createInterface({ input: process.stdin });
const [line] = await once(input, 'line');
input.once('close', () => process.exit(1));
const log = pino({ level: 'info' });
const app = await startApp(JSON.parse(line) as AppSettings, log);
process.once('SIGTERM', async () => {
  await app.stop(5);
  process.exit(0);
});
log.info({ url: app.url }, 'ready');
