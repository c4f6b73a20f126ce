import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { AppError } from '../model/errors.ts';
import { packageRoot } from '../preparation/package-root.ts';
import { type Command, type CommandInput, optionText } from './command.ts';
import { createManifestPages, type ManifestRequest } from './setup/manifest-pages.ts';
import { saveCredentials } from './setup/save-credentials.ts';

export const setupCommand: Command = {
  name: 'setup',
  summary: 'Make the GitHub App from app.yml and save its credentials',
  positionals: [],
  options: {
    'public-url': {
      type: 'string',
      value: 'URL',
      help: 'https address where GitHub reaches the app (required)',
    },
    org: { type: 'string', value: 'NAME', help: 'make it for an organisation; default: your account' },
    github: { type: 'string', value: 'URL', help: 'another GitHub, as https://HOST (https://github.com)' },
    output: { type: 'string', short: 'o', value: 'DIR', help: 'where .env and the key go (here)' },
  },
  examples: ['npx metainfer setup --public-url https://bot.example.org'],
  async run(input, context) {
    const folder = resolve(optionText(input, 'output') ?? '.');
    const request = await readRequest(input);
    const pages = createManifestPages(request);
    const server = await listen(pages.handle);
    try {
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      pages.setRedirect(`${address}created`);
      context.print(`Open ${address} in a browser on this machine and press the button; Ctrl-C gives up.`);
      const code = await pages.code(context.signal);
      // Loaded here: every other command starts without Octokit.
      const { createFromManifest } = await import('../adapters/github/create-from-manifest.ts');
      const app = await createFromManifest(request.apiUrl, code);
      const saved = await saveCredentials(folder, app, request.publicUrl);
      const text = `The app "${app.slug}" is made. Its settings are in ${saved.environmentFile}, its key in ${saved.keyFile}.\nInstall it: ${app.url}/installations/new\nThen set METAINFER_HOME_REPOSITORY and METAINFER_HOME_SHA there, and start it: npx metainfer serve`;
      return { exitCode: 0, data: { appId: app.appId, slug: app.slug, url: app.url, ...saved }, text };
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
};

async function readRequest(input: CommandInput): Promise<ManifestRequest> {
  const publicUrl = httpsUrl(optionText(input, 'public-url'), '--public-url', 'https://bot.example.org');
  const github = httpsUrl(
    optionText(input, 'github') ?? 'https://github.com',
    '--github',
    'https://github.com',
  );
  const org = optionText(input, 'org');
  if (org !== undefined && !/^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/.test(org))
    throw new AppError('USAGE', `--org is "${org}"; expected the name of an organisation.`);
  const manifest = parse(await readFile(join(packageRoot(), 'app.yml'), 'utf8')) as Record<string, unknown>;
  return {
    publicUrl,
    formUrl: `${github}/${org === undefined ? '' : `organizations/${org}/`}settings/apps/new`,
    apiUrl: github === 'https://github.com' ? 'https://api.github.com' : `${github}/api/v3`,
    manifest: {
      ...manifest,
      hook_attributes: { url: `${publicUrl}/api/github/webhooks`, active: true },
    },
  };
}

/** GitHub's credentials travel over it: in the clear only on this machine. */
function httpsUrl(written: string | undefined, option: string, example: string): string {
  const url = written !== undefined && URL.canParse(written) ? new URL(written) : undefined;
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isHere))
    return url.href.replace(/\/+$/, '');
  const found = written === undefined ? 'missing' : `"${written}"`;
  throw new AppError('USAGE', `${option} is ${found}; expected an https address such as ${example}.`);
}

function listen(handle: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(handle!);
  return new Promise((resolveListening, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolveListening(server));
  });
}
