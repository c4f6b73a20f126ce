import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../src/cli/command.ts';
import { setupCommand } from '../../src/cli/setup-command.ts';

/** Answers the exchange of a code as GitHub does: once. */
async function startConversions(): Promise<{ url: string; server: Server; codes: string[] }> {
  const codes: string[] = [];
  const server = createServer((request, response) => {
    const code = /^\/api\/v3\/app-manifests\/([^/]+)\/conversions$/.exec(request.url ?? '')?.[1];
    if (request.method !== 'POST' || code === undefined || codes.includes(code)) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"Not Found"}');
      return;
    }
    codes.push(code);
    const app = {
      ...{ id: 4711, slug: 'my-bot', html_url: 'https://github.com/apps/my-bot' },
      ...{
        pem: '-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----\n',
        webhook_secret: 's3cret',
      },
    };
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(app));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, codes };
}

describe('metainfer setup', () => {
  let folder: string;
  let github: Awaited<ReturnType<typeof startConversions>>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'metainfer-setup-'));
    github = await startConversions();
  });

  afterEach(() => {
    github.server.closeAllConnections();
    github.server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the command and plays the browser: the form, then GitHub's way back with a code. */
  async function setUp(act: (page: string) => Promise<void>, signal = new AbortController().signal) {
    const options = {
      'public-url': 'https://bot.example.org/',
      github: github.url,
      output: folder,
      org: 'acme',
    };
    let opened: Promise<void> = Promise.resolve();
    const context = {
      signal,
      print(text: string) {
        opened = act(/http:\/\/127\.0\.0\.1:\d+\//.exec(text)![0]);
      },
    } as unknown as CommandContext;
    const result = await setupCommand.run({ positionals: [], options }, context);
    await opened;
    return result;
  }

  async function pressButton(page: string): Promise<string> {
    const form = await (await fetch(page)).text();
    const action = /action="([^"]+)"/.exec(form)![1]!.replaceAll('&amp;', '&');
    expect(action).toContain(`${github.url}/organizations/acme/settings/apps/new?state=`);
    const manifest = JSON.parse(
      /value="([^"]+)"/.exec(form)![1]!.replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    );
    expect(manifest.hook_attributes.url).toBe('https://bot.example.org/api/github/webhooks');
    expect(manifest.default_permissions).not.toHaveProperty('workflows');
    expect(manifest.redirect_url).toBe(`${page}created`);
    return new URL(action).searchParams.get('state')!;
  }

  it('hands app.yml to GitHub and saves what comes back, for its owner only', async () => {
    const result = await setUp(async (page) => {
      const state = await pressButton(page);
      // Somebody who guesses the address but not the state gets nothing in.
      expect((await fetch(`${page}created?code=theirs&state=${'0'.repeat(32)}`)).status).toBe(404);
      expect((await fetch(`${page}created?code=abc123&state=${state}`)).status).toBe(200);
    });
    expect(github.codes).toEqual(['abc123']);
    expect(result.text).toContain('https://github.com/apps/my-bot/installations/new');
    const environment = readFileSync(join(folder, '.env'), 'utf8');
    expect(environment).toContain('APP_ID=4711\n');
    expect(environment).toContain('WEBHOOK_SECRET=s3cret\n');
    for (const file of ['.env', 'my-bot.private-key.pem'])
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it('leaves the settings of another app as they are', async () => {
    writeFileSync(join(folder, '.env'), 'APP_ID=1\n');
    await setUp(async (page) => {
      await fetch(`${page}created?code=abc123&state=${await pressButton(page)}`);
    });
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('APP_ID=1\n');
    expect(readFileSync(join(folder, '.env.my-bot'), 'utf8')).toContain('APP_ID=4711\n');
  });

  it('says so when it is stopped, and when an address is not one', async () => {
    const stop = new AbortController();
    await expect(setUp(async () => stop.abort(), stop.signal)).rejects.toThrow(
      'Stopped before the app was made',
    );
    const input = { positionals: [], options: { 'public-url': 'http://bot.example.org' } };
    await expect(setupCommand.run(input, {} as CommandContext)).rejects.toThrow(
      '--public-url is "http://bot.example.org"',
    );
  });
});
