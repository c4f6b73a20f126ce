import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/local/demo/free-port.ts';
import { type BotWorld, eventually, startBotWorld, templateFolder } from '../support/bot-world.ts';

const root = join(import.meta.dirname, '../..');

function serve(environment: Readonly<Record<string, string>>, folder: string): ChildProcess {
  const args = ['--import', import.meta.resolve('tsx'), join(root, 'src/cli.ts'), 'serve'];
  return spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH!, HOME: folder, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function outcomeOf(
  child: ChildProcess,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout!.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

describe('metainfer serve', () => {
  let world: BotWorld;
  let folder: string;

  beforeAll(async () => {
    world = await startBotWorld();
    folder = mkdtempSync(join(tmpdir(), 'metainfer-serve-'));
  });

  afterAll(async () => {
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('names every setting that is missing or wrong at once, and does not start', async () => {
    const environment = { APP_ID: 'abc', WEBHOOK_SECRET: 'development', PRIVATE_KEY: 'no key' };
    const { code, stderr } = await outcomeOf(serve(environment, folder));
    expect(code).toBe(2);
    for (const name of [
      'APP_ID',
      'WEBHOOK_SECRET',
      'PRIVATE_KEY',
      'METAINFER_HOME_REPOSITORY',
      'METAINFER_HOME_SHA',
    ])
      expect(stderr).toContain(name);
    expect(stderr).not.toMatch(/\bat .*\.[jt]s:\d+/);
  });

  it('takes signed deliveries, refuses others, and ends well on SIGTERM with nothing lost', async () => {
    const port = await findFreePort();
    const { appId, privateKey, webhookSecret } = world.seed.app;
    const child = serve(
      {
        APP_ID: String(appId),
        // As people paste it into one line.
        PRIVATE_KEY: privateKey.replaceAll('\n', '\\n'),
        WEBHOOK_SECRET: webhookSecret,
        PORT: String(port),
        GHE_HOST: new URL(world.github.url).host,
        GHE_PROTOCOL: 'http',
        METAINFER_HOME_REPOSITORY: 'metainfer/metainfer-bot',
        METAINFER_HOME_SHA: 'a'.repeat(40),
        METAINFER_DATA: join(folder, 'data'),
        METAINFER_CACHE: templateFolder,
        LOG_LEVEL: 'info',
      },
      folder,
    );
    const ended = outcomeOf(child);
    const url = `http://127.0.0.1:${port}`;
    await eventually('the app', async () =>
      (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200 ? true : undefined,
    );
    const deliver = (body: string, secret: string) =>
      fetch(`${url}/api/github/webhooks`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'repository',
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
        body,
      });
    const body = JSON.stringify({ action: 'edited', repository: { id: 1 }, sender: { id: 1, login: 'ada' } });
    expect((await deliver(body, 'another secret')).status).toBe(400);
    expect((await deliver(body, webhookSecret)).status).toBe(200);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('SIGTERM')]);
    const messages = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line).msg);
    expect(messages).toContain('the app is up');
    // Nothing that is secret is in the log.
    expect(stdout).not.toContain(webhookSecret);
    expect(stdout).not.toContain('PRIVATE KEY');
  });
});
