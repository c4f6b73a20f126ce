import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig, readServeConfig } from '../src/config.ts';
import { AppError } from '../src/model/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'metainfer-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const keyFile = join(folder, 'app.private-key.pem');
writeFileSync(keyFile, privateKey);

const good = {
  APP_ID: '12345',
  PRIVATE_KEY_PATH: keyFile,
  WEBHOOK_SECRET: 'c0ffee'.repeat(6),
  METAINFER_HOME_REPOSITORY: 'acme/metainfer-bot',
  METAINFER_HOME_SHA: 'A'.repeat(40),
  METAINFER_CACHE: '/var/cache/metainfer',
  XDG_DATA_HOME: '/srv/data',
};

/** The lines of the refusal, without the list's heading. */
function problemsOf(over: Readonly<Record<string, string | undefined>>): string[] {
  try {
    readServeConfig({ ...good, ...over });
    return [];
  } catch (error) {
    expect((error as AppError).code).toBe('SETTINGS_INVALID');
    return (error as AppError).message.split('\n').slice(1);
  }
}

describe('settings of an app', () => {
  it('have defaults where a local app needs nothing else', () => {
    const config = readServeConfig(good);
    expect(config).toMatchObject({
      appId: 12345,
      webhookSecret: good.WEBHOOK_SECRET,
      host: '127.0.0.1',
      port: 3000,
      database: {
        kind: 'embedded',
        folder: '/srv/data/metainfer',
        cacheFolder: '/var/cache/metainfer',
      },
      cacheFolder: '/var/cache/metainfer',
      publicUrl: null,
      home: { repository: 'acme/metainfer-bot', sha: 'a'.repeat(40) },
      githubUrl: 'https://github.com',
      apiUrl: 'https://api.github.com',
      operatorToken: undefined,
      logLevel: 'info',
    });
    expect(config.privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('may all be set', () => {
    expect(
      readServeConfig({
        ...good,
        HOST: '0.0.0.0',
        PORT: '8080',
        DATABASE_URL: 'postgres://bot:p%40ss@db:5432/metainfer',
        METAINFER_PUBLIC_URL: 'https://bot.example.org/',
        METAINFER_DASHBOARD_TOKEN: 't'.repeat(32),
        LOG_LEVEL: 'debug',
      }),
    ).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      database: { kind: 'postgres', url: 'postgres://bot:p%40ss@db:5432/metainfer' },
      publicUrl: 'https://bot.example.org',
      operatorToken: 't'.repeat(32),
      logLevel: 'debug',
    });
  });

  it('name a GitHub Enterprise Server, or a stand-in with its port', () => {
    expect(readServeConfig({ ...good, GHE_HOST: 'localhost:4010', GHE_PROTOCOL: 'http' })).toMatchObject({
      githubUrl: 'http://localhost:4010',
      apiUrl: 'http://localhost:4010/api/v3',
    });
  });

  it('take the key from PRIVATE_KEY before the file', () => {
    expect(problemsOf({ PRIVATE_KEY: privateKey, PRIVATE_KEY_PATH: '/no/such/file' })).toEqual([]);
  });

  it('count as missing where they are empty, as a .env file leaves them', () => {
    expect(readServeConfig({ ...good, DATABASE_URL: '', PORT: ' ', GHE_HOST: '' })).toMatchObject({
      port: 3000,
      database: { kind: 'embedded' },
      githubUrl: 'https://github.com',
    });
  });
});

describe('a refusal', () => {
  it('lists everything that is missing at once, each with where to get it', () => {
    expect(() => readServeConfig({})).toThrow(AppError);
    try {
      readServeConfig({});
    } catch (error) {
      expect((error as AppError).message).toMatchInlineSnapshot(`
        "5 settings need attention before the app can start; set them in the environment or in .env:
        - APP_ID is missing: it is the number "App ID" on the page of the GitHub App.
        - PRIVATE_KEY_PATH is missing: set it to the .pem file that GitHub gave you for the app (or PRIVATE_KEY to what is in it).
        - WEBHOOK_SECRET is missing: without it anybody could send webhooks. Make one with \`openssl rand -hex 32\` and set the same on the page of the GitHub App under "Webhook".
        - METAINFER_HOME_REPOSITORY is missing; expected owner/name of your copy of metainfer-bot: runners take the harness from there.
        - METAINFER_HOME_SHA is missing; expected the full commit (40 digits) of that repository which runners use: \`git rev-parse HEAD\` in it.
        No app yet? \`npx metainfer setup --public-url https://…\` makes one and writes its settings."
      `);
    }
  });

  it.each([
    [{ APP_ID: 'Iv1.8a61f9b3a7aba766' }, /^- APP_ID is a Client ID \("Iv1\.…"\): it is the number "App ID"/],
    [{ APP_ID: '0' }, /^- APP_ID is not a whole number/],
    [{ APP_ID: '12abc' }, /^- APP_ID is not a whole number/],
    [{ WEBHOOK_SECRET: 'development' }, /^- WEBHOOK_SECRET is Probot's default/],
    [{ WEBHOOK_SECRET: 'hunter2' }, /^- WEBHOOK_SECRET is shorter than 16 characters/],
    [
      { WEBHOOK_SECRET: `${good.WEBHOOK_SECRET}\n` },
      /^- WEBHOOK_SECRET begins or ends with a space or line break/,
    ],
    [{ WEBHOOK_SECRET: `"${good.WEBHOOK_SECRET}"` }, /^- WEBHOOK_SECRET stands in quotes/],
    [{ PORT: '70000' }, /^- PORT is "70000"; expected a number from 0 .* to 65535/],
    [{ PORT: '3000/tcp' }, /^- PORT is "3000\/tcp"/],
    [
      { DATABASE_URL: 'mysql://db/x' },
      /^- DATABASE_URL is not an address of PostgreSQL: write postgres:\/\//,
    ],
    [
      { METAINFER_PUBLIC_URL: 'bot.example.org' },
      /^- METAINFER_PUBLIC_URL is "bot\.example\.org"; expected the address/,
    ],
    [{ METAINFER_PUBLIC_URL: 'https://x.org/?a=b' }, /^- METAINFER_PUBLIC_URL is/],
    [
      { METAINFER_HOME_REPOSITORY: 'https://github.com/acme/bot' },
      /^- METAINFER_HOME_REPOSITORY is "https.*expected owner\/name/,
    ],
    [{ METAINFER_HOME_SHA: 'main' }, /^- METAINFER_HOME_SHA is "main"; expected the full commit/],
    [{ GHE_HOST: 'https://github.example.org' }, /^- GHE_HOST is "https:.*a host name alone/],
    [{ GHE_PROTOCOL: 'ftp' }, /^- GHE_PROTOCOL is "ftp"; expected https \(default\) or http/],
    [{ METAINFER_DASHBOARD_TOKEN: 'short' }, /^- METAINFER_DASHBOARD_TOKEN is shorter than 16 characters/],
    [{ LOG_LEVEL: 'verbose' }, /^- LOG_LEVEL is "verbose"; expected one of trace, debug/],
    [
      { PRIVATE_KEY_PATH: '/no/such/key.pem' },
      /^- PRIVATE_KEY_PATH is "\/no\/such\/key\.pem", and there is no file that can be read \(ENOENT\)/,
    ],
    [{ PRIVATE_KEY_PATH: folder }, /\(EISDIR\): give the path of the \.pem file/],
    [{ PRIVATE_KEY: './app.pem' }, /^- PRIVATE_KEY is a path and not a key; set PRIVATE_KEY_PATH to it/],
  ])('of %o names the variable and the fix', (over, expected) => {
    expect(problemsOf(over)).toEqual([expect.stringMatching(expected)]);
  });

  it.each([
    'PORT',
    'HOST',
    'METAINFER_DATA',
    'METAINFER_CACHE',
    'METAINFER_PUBLIC_URL',
    'METAINFER_HOME_REPOSITORY',
    'METAINFER_HOME_SHA',
    'GHE_HOST',
    'GHE_PROTOCOL',
    'LOG_LEVEL',
    'PRIVATE_KEY_PATH',
  ])('says how long a key in %s is and repeats none of it', (name) => {
    for (const written of [
      privateKey,
      privateKey.replaceAll('\n', '\\n'),
      `"${privateKey}"`,
      privateKey.replaceAll('\n', ' '),
    ]) {
      const [problem, ...others] = problemsOf({ [name]: written });
      expect(others).toEqual([]);
      expect(problem).toMatch(
        new RegExp(`^- ${name} is a text of \\d{4} characters in \\w+ lines? \\(not shown`),
      );
      expect(problem).not.toMatch(/BEGIN|PRIVATE KEY-|[A-Za-z0-9+]{25}/);
    }
  });

  it.each([
    'f'.repeat(61),
    'c0ffee'.repeat(5),
    'ghp_ab12',
    'github_pat_11AB',
    'postgres://bot:hunter2@db/x',
    'two\nlines',
  ])('does not repeat %j', (written) => {
    for (const name of ['PORT', 'LOG_LEVEL', 'GHE_PROTOCOL', 'METAINFER_HOME_SHA']) {
      const [problem] = problemsOf({ [name]: written });
      expect(problem).toContain(`${name} is a text of ${written.length} characters`);
      expect(problem).not.toContain(written);
    }
  });

  it('of an address with a password in it, which would stand in every comment, repeats none of it', () => {
    const [problem] = problemsOf({ METAINFER_PUBLIC_URL: 'https://bot:hunter2@bot.example.org' });
    expect(problem).toMatch(/^- METAINFER_PUBLIC_URL is a text of 35 characters in one line/);
  });

  it('of METAINFER_SANDBOX repeats no key', () => {
    expect(() => readConfig({ METAINFER_SANDBOX: privateKey })).toThrow(
      /^METAINFER_SANDBOX is a text of \d+ characters in \d+ lines \(not shown[^\n]*$/,
    );
  });

  it('repeats no secret', () => {
    const text = problemsOf({
      WEBHOOK_SECRET: 'hunter2',
      DATABASE_URL: 'mysql://bot:hunter2@db/x',
      METAINFER_DASHBOARD_TOKEN: 'hunter2',
      PRIVATE_KEY: 'hunter2',
    });
    expect(text).toHaveLength(4);
    expect(text.join('\n')).not.toContain('hunter2');
  });
});

describe('the language model of this machine', () => {
  it('is named by the environment; its key is looked up by the name that the settings give', () => {
    const { llm } = readConfig({ METAINFER_LLM: ' ./llm.yaml ', METAINFER_LLM_MODEL: '', MY_KEY: 'sk-1' });
    expect([llm.settings, llm.model]).toEqual(['./llm.yaml', undefined]);
    expect([llm.keyOf('MY_KEY'), llm.keyOf('OTHER_KEY')]).toEqual(['sk-1', undefined]);
    expect(JSON.stringify(llm)).not.toContain('sk-1');
    expect(readConfig({}).llm.settings).toBeUndefined();
  });
});
