import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { AppError } from '../model/errors.ts';
import { readPrivateKey } from '../model/private-key.ts';
import { looksLikePath, showSetting } from '../model/show-setting.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** What the operator of an app instance decided. */
export interface ServeConfig {
  readonly appId: number;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly host: string;
  readonly port: number;
  readonly database:
    | { readonly kind: 'embedded'; readonly folder: string; readonly cacheFolder: string }
    | { readonly kind: 'postgres'; readonly url: string };
  readonly cacheFolder: string;
  /** Where people reach this app, without a slash at the end; null where they can't. */
  readonly publicUrl: string | null;
  /** Repository with knowledge, harness and composite action, and the commit of it that runners use. */
  readonly home: { readonly repository: string; readonly sha: string };
  /** Web address of GitHub and base of its REST API, without a slash at the end. */
  readonly githubUrl: string;
  readonly apiUrl: string;
  /** Opens pages about private repositories. */
  readonly operatorToken: string | undefined;
  readonly logLevel: (typeof logLevels)[number];
}

/**
 * Settings of `metainfer serve`; the names are Probot's where Probot has one.
 * @throws AppError SETTINGS_INVALID with every problem at once, each naming its variable and the fix
 */
export function readServeSettings(environment: Environment, cacheFolder: string): ServeConfig {
  const settings: Settings = { environment, problems: [] };
  assertPath(settings, 'METAINFER_CACHE', cacheFolder);
  const githubUrl = readGitHubUrl(settings);
  const config: ServeConfig = {
    appId: readAppId(settings),
    privateKey: readKey(settings),
    webhookSecret: readWebhookSecret(settings),
    host: readHost(settings),
    port: readPort(settings),
    database: readDatabase(settings, cacheFolder),
    cacheFolder,
    publicUrl: readPublicUrl(settings),
    home: readHome(settings),
    githubUrl,
    apiUrl: githubUrl === 'https://github.com' ? 'https://api.github.com' : `${githubUrl}/api/v3`,
    operatorToken: readOperatorToken(settings),
    logLevel: readLogLevel(settings),
  };
  const { problems } = settings;
  if (problems.length === 0) return Object.freeze(config);
  const count = problems.length === 1 ? 'One setting needs' : `${problems.length} settings need`;
  const list = problems.map((problem) => `- ${problem}`).join('\n');
  const hint = environment.APP_ID
    ? ''
    : '\nNo app yet? `npx metainfer setup --public-url https://…` makes one and writes its settings.';
  throw new AppError(
    'SETTINGS_INVALID',
    `${count} attention before the app can start; set them in the environment or in .env:\n${list}${hint}`,
  );
}

interface Settings {
  readonly environment: Environment;
  /** One sentence or two each: the variable, what is wrong with it, what to do. No secret is repeated in them. */
  readonly problems: string[];
}

/** Undefined for an empty one too: that is how a .env file leaves a line out. */
function textOf({ environment }: Settings, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

function readAppId(settings: Settings): number {
  const written = textOf(settings, 'APP_ID');
  const id = Number(written);
  if (written !== undefined && /^\d{1,15}$/.test(written) && id > 0) return id;
  const where = 'it is the number "App ID" on the page of the GitHub App';
  if (written === undefined) settings.problems.push(`APP_ID is missing: ${where}.`);
  else if (/^Iv\d/.test(written))
    settings.problems.push(`APP_ID is a Client ID ("${written.slice(0, 4)}…"): ${where}.`);
  else settings.problems.push(`APP_ID is not a whole number: ${where}.`);
  return 0;
}

function readKey(settings: Settings): string {
  const { problems, environment } = settings;
  const path = textOf(settings, 'PRIVATE_KEY_PATH');
  const name = environment.PRIVATE_KEY?.trim()
    ? 'PRIVATE_KEY'
    : `the file of PRIVATE_KEY_PATH (${showSetting(path ?? '')})`;
  let text = environment.PRIVATE_KEY?.trim() ?? '';
  if (text === '' && path === undefined) {
    problems.push(
      'PRIVATE_KEY_PATH is missing: set it to the .pem file that GitHub gave you for the app (or PRIVATE_KEY to what is in it).',
    );
    return '';
  }
  if (text === '') {
    try {
      text = readFileSync(resolve(path!), 'utf8');
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
      problems.push(
        `PRIVATE_KEY_PATH is ${showSetting(path!)}, and there is no file that can be read (${reason}): give the path of the .pem file.`,
      );
      return '';
    }
  }
  const reading = readPrivateKey(text);
  if (reading.isKey) return reading.pem;
  problems.push(`${name} ${reading.problem}`);
  return '';
}

const shortestSecret = 16;

function readWebhookSecret(settings: Settings): string {
  const secret = settings.environment.WEBHOOK_SECRET ?? '';
  const advice =
    'Make one with `openssl rand -hex 32` and set the same on the page of the GitHub App under "Webhook".';
  const refuse = (problem: string): void =>
    void settings.problems.push(`WEBHOOK_SECRET ${problem} ${advice}`);
  if (secret.trim() === '') refuse('is missing: without it anybody could send webhooks.');
  else if (secret.trim() === 'development') refuse("is Probot's default, which everybody knows.");
  else if (secret !== secret.trim()) refuse('begins or ends with a space or line break.');
  else if (/^(["']).*\1$/.test(secret))
    refuse('stands in quotes, which would be part of it; leave them out.');
  else if (secret.length < shortestSecret) refuse(`is shorter than ${shortestSecret} characters.`);
  return secret;
}

function readHost(settings: Settings): string {
  const host = textOf(settings, 'HOST') ?? '127.0.0.1';
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$|^[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9._-]{1,20})?$/.test(host))
    return host;
  settings.problems.push(
    `HOST is ${showSetting(host)}; expected an address or name of this machine alone, such as 127.0.0.1 (the default) or 0.0.0.0 (all networks).`,
  );
  return host;
}

function readPort(settings: Settings): number {
  const written = textOf(settings, 'PORT') ?? '3000';
  const port = Number(written);
  if (/^\d{1,5}$/.test(written) && port <= 65_535) return port;
  settings.problems.push(
    `PORT is ${showSetting(written)}; expected a number from 0 (any free port) to 65535.`,
  );
  return 0;
}

function assertPath({ problems }: Settings, name: string, text: string): void {
  if (!looksLikePath(text)) problems.push(`${name} is ${showSetting(text)}; expected the path of a folder.`);
}

function readDatabase(settings: Settings, cacheFolder: string): ServeConfig['database'] {
  const url = textOf(settings, 'DATABASE_URL');
  if (url === undefined) {
    const dataRoot = textOf(settings, 'XDG_DATA_HOME') ?? join(homedir(), '.local/share');
    const folder = textOf(settings, 'METAINFER_DATA') ?? join(dataRoot, 'metainfer');
    assertPath(settings, 'METAINFER_DATA', folder);
    return { kind: 'embedded', folder: resolve(folder), cacheFolder };
  }
  // The address may hold a password, so it isn't repeated.
  if (!/^postgres(?:ql)?:\/\/[^\s/]+/.test(url) || !URL.canParse(url)) {
    settings.problems.push(
      'DATABASE_URL is not an address of PostgreSQL: write postgres://user:password@host:5432/database, with special characters of the password percent-encoded; or leave it out for the embedded database.',
    );
  }
  return { kind: 'postgres', url };
}

function readPublicUrl(settings: Settings): string | null {
  const written = textOf(settings, 'METAINFER_PUBLIC_URL');
  if (written === undefined) return null;
  if (/^https?:\/\/[^\s]+$/.test(written) && URL.canParse(written) && !/[?#@]/.test(written)) {
    return written.replace(/\/+$/, '');
  }
  settings.problems.push(
    `METAINFER_PUBLIC_URL is ${showSetting(written)}; expected the address where people reach this app, such as https://metainfer.example.org. Leave it out where they can't.`,
  );
  return null;
}

function readHome(settings: Settings): ServeConfig['home'] {
  const repository = textOf(settings, 'METAINFER_HOME_REPOSITORY') ?? '';
  const sha = textOf(settings, 'METAINFER_HOME_SHA')?.toLowerCase() ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/.test(repository)) {
    settings.problems.push(
      `METAINFER_HOME_REPOSITORY is ${repository === '' ? 'missing' : showSetting(repository)}; expected owner/name of your copy of metainfer-bot: runners take the harness from there.`,
    );
  }
  if (!/^[0-9a-f]{40}$/.test(sha)) {
    settings.problems.push(
      `METAINFER_HOME_SHA is ${sha === '' ? 'missing' : showSetting(sha)}; expected the full commit (40 digits) of that repository which runners use: \`git rev-parse HEAD\` in it.`,
    );
  }
  return { repository, sha };
}

function readGitHubUrl(settings: Settings): string {
  const host = textOf(settings, 'GHE_HOST');
  const protocol = textOf(settings, 'GHE_PROTOCOL') ?? 'https';
  if (protocol !== 'https' && protocol !== 'http') {
    settings.problems.push(`GHE_PROTOCOL is ${showSetting(protocol)}; expected https (default) or http.`);
  }
  if (host === undefined || host.toLowerCase() === 'github.com') return 'https://github.com';
  if (!/^[A-Za-z0-9.-]+(?::\d{1,5})?$/.test(host)) {
    settings.problems.push(
      `GHE_HOST is ${showSetting(host)}; expected a host name alone, such as github.example.org. Leave it out for github.com.`,
    );
  }
  return `${protocol}://${host}`;
}

function readOperatorToken(settings: Settings): string | undefined {
  const token = textOf(settings, 'METAINFER_DASHBOARD_TOKEN');
  if (token !== undefined && token.length < shortestSecret) {
    settings.problems.push(
      `METAINFER_DASHBOARD_TOKEN is shorter than ${shortestSecret} characters; make one with \`openssl rand -hex 32\`, or leave it out: then pages show public repositories only.`,
    );
  }
  return token;
}

function readLogLevel(settings: Settings): ServeConfig['logLevel'] {
  const written = textOf(settings, 'LOG_LEVEL') ?? 'info';
  const level = logLevels.find((name) => name === written);
  if (level !== undefined) return level;
  settings.problems.push(`LOG_LEVEL is ${showSetting(written)}; expected one of ${logLevels.join(', ')}.`);
  return 'info';
}
