import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
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

  /** All that an app needs, on a port of its own. */
  async function goodSettings(): Promise<Readonly<Record<string, string>>> {
    const { appId, privateKey, webhookSecret } = world.seed.app;
    return {
      APP_ID: String(appId),
      // As people paste it into one line.
      PRIVATE_KEY: privateKey.replaceAll('\n', '\\n'),
      WEBHOOK_SECRET: webhookSecret,
      PORT: String(await findFreePort()),
      GHE_HOST: new URL(world.github.url).host,
      GHE_PROTOCOL: 'http',
      METAINFER_HOME_REPOSITORY: 'metainfer/metainfer-bot',
      METAINFER_HOME_SHA: 'a'.repeat(40),
      METAINFER_DATA: join(folder, 'data'),
      METAINFER_CACHE: templateFolder,
      LOG_LEVEL: 'info',
    };
  }

  it('ends with what to do where its port is taken', async () => {
    const settings = await goodSettings();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(Number(settings.PORT), '127.0.0.1', resolve));
    const { code, stderr } = await outcomeOf(serve(settings, folder));
    other.close();
    expect(stderr).toBe(
      `metainfer: Another program listens on 127.0.0.1:${settings.PORT} already: stop it, or set PORT to a free port (0 takes any).\n`,
    );
    expect(code).toBe(2);
  });

  it('says that the settings of the language model are not where METAINFER_LLM says', async () => {
    const settings = { ...(await goodSettings()), METAINFER_LLM: 'nowhere.yaml' };
    const { code, stderr } = await outcomeOf(serve(settings, folder));
    expect(stderr).toContain('nowhere.yaml');
    expect(stderr).not.toMatch(/\bat .*\.[jt]s:\d+/);
    expect(code).toBe(2);
  });

  it('says that .env is a folder', async () => {
    const home = join(folder, 'home');
    mkdirSync(join(home, '.env'), { recursive: true });
    const { code, stderr } = await outcomeOf(serve({}, home));
    expect(stderr).toMatch(/^metainfer: .*home\/\.env cannot be read \(it is a folder\): [^\n]*\n$/);
    expect(code).toBe(2);
  });

  it('ends on SIGTERM while it waits for a database that does not answer', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const asked = new Promise<void>((resolve) => silent.once('connection', () => resolve()));
    const { port } = silent.address() as AddressInfo;
    const child = serve(
      { ...(await goodSettings()), DATABASE_URL: `postgres://127.0.0.1:${port}/x` },
      folder,
    );
    const ended = outcomeOf(child);
    await asked;
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([0, '']);
    // By the signal, not because the database was given up.
    expect(stdout).toContain('stopped while it started');
    silent.close();
  });

  it('takes signed deliveries, refuses others, and ends well on SIGTERM with nothing lost', async () => {
    const settings = await goodSettings();
    const port = Number(settings.PORT);
    const { webhookSecret } = world.seed.app;
    const child = serve(settings, folder);
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
    // Odd ones too: what PostgreSQL takes as no text, and what JSON.stringify cannot write.
    expect((await deliver('{"action":"\\u0000"}', webhookSecret)).status).toBe(200);
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    expect((await deliver(deep, webhookSecret)).status).toBe(200);
    // Somebody who never ends a request does not hold up the end.
    const half = createConnection(port, '127.0.0.1');
    let answer = '';
    half.on('error', () => {}).on('data', (data) => (answer += data));
    const isCut = new Promise((resolve) => half.once('close', resolve));
    await new Promise((resolve) => half.write('POST /api/github/webhooks HTTP/1.1\r\nhost: x\r\n', resolve));
    child.kill('SIGTERM');
    await isCut;
    // Left alone, Node.js would have answered 408 in the end.
    expect(answer).toBe('');
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
