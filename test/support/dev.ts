/**
 * `npm run dev`: the app from its sources on this machine, with deliveries of a real GitHub App forwarded to it.
 * Settings come from .env and the environment, as for `metainfer serve`; WEBHOOK_PROXY_URL is the smee.io channel that
 * the GitHub App's webhook address is set to. Without one a new channel is made and named.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SmeeClient from 'smee-client';
import { packageRoot } from '../../src/preparation/package-root.ts';
import { forwardDeliveries } from './forward-deliveries.ts';

const settings = join(packageRoot(), '.env');
if (existsSync(settings)) process.loadEnvFile(settings);
const log = (line: string) => console.error(`smee: ${line}`);
const port = process.env.PORT ?? '3000';
const channel = process.env.WEBHOOK_PROXY_URL ?? (await SmeeClient.createChannel());
if (process.env.WEBHOOK_PROXY_URL === undefined) {
  log(`set the webhook address of your GitHub App to ${channel}, and WEBHOOK_PROXY_URL in .env to the same`);
}

const serve = ['--import', 'tsx', join(packageRoot(), 'src/cli.ts'), 'serve'];
const app = spawn(process.execPath, serve, { stdio: 'inherit', env: { ...process.env, PORT: port } });
// Ctrl-C reaches the app by itself (one terminal, one process group); a SIGTERM to this process has to be handed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => app.kill('SIGTERM'));

try {
  const stop = await forwardDeliveries(channel, `http://127.0.0.1:${port}/api/github/webhooks`, log);
  app.once('exit', () => void stop());
} catch (error) {
  log((error as Error).message);
  app.kill('SIGTERM');
  process.exitCode = 3;
}
app.once('exit', (code) => {
  process.exitCode ??= code ?? 1;
});
