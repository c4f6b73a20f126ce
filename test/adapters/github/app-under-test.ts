import { generateKeyPairSync } from 'node:crypto';
import { pino } from 'pino';
import { Probot } from 'probot';
import { AppOctokit } from '../../../src/adapters/github/app-octokit.ts';
import { createAppClient } from '../../../src/adapters/github/create-app-client.ts';
import type { AppClient } from '../../../src/adapters/github/repository-client.ts';
import type { EffectLog, EffectRecord } from '../../../src/adapters/store/store.ts';
import type { RepositoryRef } from '../../../src/model/github.ts';

export const repositoryRef: RepositoryRef = {
  id: 1,
  owner: 'octo',
  name: 'engines',
  isPrivate: false,
  defaultBranch: 'main',
  installationId: 5,
};

/** An effect log that keeps everything in memory; `records` lets a test see and set what a crash would leave. */
export interface MemoryEffects extends EffectLog {
  readonly records: Map<string, EffectRecord>;
}

export function createMemoryEffects(): MemoryEffects {
  const records = new Map<string, EffectRecord>();
  const nothing: EffectRecord = { state: 'intent', githubId: null, url: null, contentSha256: null };
  return {
    records,
    find: async (scope, key) => records.get(`${scope} ${key}`),
    begin: async (scope, key) => {
      const name = `${scope} ${key}`;
      records.set(name, { ...(records.get(name) ?? nothing), state: 'intent' });
    },
    finish: async (scope, key, made) => void records.set(`${scope} ${key}`, { state: 'done', ...made }),
  };
}

/** What Bottleneck's groups offer to plugin-throttling, without the waits between writes. */
const unspaced = {
  key: () => ({
    schedule: (_options: unknown, task: (...rest: unknown[]) => unknown, ...rest: unknown[]) => task(...rest),
  }),
};

/** AppOctokit as it is, but writes aren't spaced, and a second of waiting is a millisecond. */
const HastyOctokit = AppOctokit.defaults((options: Record<string, unknown>) => ({
  ...options,
  throttle: {
    ...(options.throttle as object | undefined),
    write: unspaced,
    notifications: unspaced,
    retryAfterBaseValue: 1,
  },
  retry: { ...(options.retry as object | undefined), retryAfterBaseValue: 1 },
})) as typeof AppOctokit;

const defaultKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
}).privateKey;

export interface AppUnderTest {
  readonly client: AppClient;
  readonly effects: MemoryEffects;
  /** Seconds that the adapter wanted to wait before it looked again. */
  readonly pauses: number[];
}

/** The adapter over an unmodified Probot that talks to `baseUrl`. */
export function openApp(
  baseUrl: string,
  { effects = createMemoryEffects(), appId = 1, privateKey = defaultKey } = {},
): AppUnderTest {
  const log = pino({ level: 'silent' });
  const probot = new Probot({
    appId,
    privateKey,
    secret: 'a secret for tests',
    baseUrl,
    Octokit: HastyOctokit,
    log,
  });
  const pauses: number[] = [];
  const pause = async (seconds: number) => void pauses.push(seconds);
  return { client: createAppClient({ probot, effects, log, pause }), effects, pauses };
}
