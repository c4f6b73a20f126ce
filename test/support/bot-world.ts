import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { renderWorkflow, workflowPath } from '../../src/adapters/runner/workflow-text.ts';
import type { StoreTarget } from '../../src/adapters/store/open-store.ts';
import type { AppSettings } from '../../src/app.ts';
import { readDemoConstraints, writeIssueBody } from '../../src/local/demo/demo-request.ts';
import { findFreePort } from '../../src/local/demo/free-port.ts';
import { type DemoSeed, seedDemo } from '../../src/local/demo/seed-demo.ts';
import {
  type LocalGitHub,
  type LocalGitHubOptions,
  startLocalGitHub,
} from '../../src/local/github/local-github.ts';
import { runnerToken } from '../../src/local/github/runner-state.ts';
import { type StartedRunner, startLocalRunner } from '../../src/local/runner/start-local-runner.ts';
import { sharedCache } from '../fixtures/test-cache.ts';
import { type ApiCall, apiOf } from './github-api.ts';
import type { HarnessScript } from './scripted-harness.ts';
import { type GitHubWatch, watchGitHub } from './watch-github.ts';

/** Everything around the app: a local GitHub with a repository, people, the installed app, and settings to start it. */
export interface BotWorld {
  readonly github: LocalGitHub;
  readonly seed: DemoSeed;
  readonly watch: GitHubWatch;
  readonly settings: AppSettings;
  readonly folder: string;
  /** `/repos/example/inference`. */
  readonly repository: string;
  /** Acts as `ada`, who may write. */
  readonly ada: ApiCall;
  /** Acts as somebody with a permission; made on first use. */
  person(login: string, permission?: 'read' | 'triage' | 'write' | 'admin'): ApiCall;
  /** A runner for engines of the CPU, or with labels and a name of its own. */
  startRunner(script: HarnessScript, as?: { name: string; labels: readonly string[] }): StartedRunner;
  stop(): Promise<void>;
}

export const templateFolder = join(tmpdir(), 'metainfer-test-templates');
const cacheFolder = sharedCache;
export const log = pino({ level: process.env.METAINFER_TEST_LOG ?? 'silent' });

/** Permissions and events as app.yml asks for them. */
export const manifest = {
  name: 'metainfer-bot',
  permissions: {
    metadata: 'read',
    contents: 'write',
    issues: 'write',
    pull_requests: 'write',
    checks: 'write',
    actions: 'write',
  },
  events: [
    'issues',
    'issue_comment',
    'pull_request',
    'pull_request_review_comment',
    'check_run',
    'workflow_run',
    'workflow_job',
    'repository',
  ],
} as const;

const scriptedRunner = {
  name: 'scripted-runner',
  labels: ['self-hosted', 'linux', 'x64', 'metainfer-cpu-avx2'],
} as const;

export async function startBotWorld(
  options: {
    readonly database?: StoreTarget;
    readonly github?: LocalGitHubOptions;
    readonly withWorkflow?: boolean;
  } = {},
): Promise<BotWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'metainfer-bot-'));
  mkdirSync(cacheFolder, { recursive: true });
  const github = await startLocalGitHub(options.github ?? {});
  const watch = watchGitHub(github);
  const port = await findFreePort();
  const home = { repository: 'metainfer/metainfer-bot', sha: 'a'.repeat(40) };
  const text = renderWorkflow({ homeRepository: home.repository, homeSha: home.sha });
  const seed = await seedDemo(github, {
    manifest,
    workflow:
      options.withWorkflow === false
        ? { path: 'notes.md', text: 'no workflow\n' }
        : { path: workflowPath, text },
    webhookUrl: `http://127.0.0.1:${port}/api/github/webhooks`,
  });
  seed.install();
  const settings: AppSettings = {
    ...seed.app,
    ...{ host: '127.0.0.1', port, publicUrl: null, home, cacheFolder },
    database: options.database ?? {
      kind: 'embedded',
      folder: join(folder, 'database'),
      cacheFolder: templateFolder,
    },
    ...{ githubUrl: github.url, apiUrl: github.apiUrl, operatorToken: undefined },
    ...{ writeSpacing: 'none', instance: 'test' },
  };
  const { repository } = seed;
  const runners: StartedRunner[] = [];
  return {
    ...{ github, seed, watch, settings, folder },
    repository: `/repos/${repository.owner.login}/${repository.name}`,
    ada: apiOf(github, seed.person.token),
    person(login, permission) {
      const known = [...github.world.users.values()].find((user) => user.login === login);
      const user = known ?? github.addUser(login);
      if (permission !== undefined) repository.collaborators.set(user.id, permission);
      return apiOf(github, github.userToken(login));
    },
    startRunner(script, as = scriptedRunner) {
      const runner = startLocalRunner({
        ...{ url: github.url, token: runnerToken(github.world), ...as },
        ...{ workFolder: join(folder, 'runner'), weightsFolder: null, cacheFolder },
        harness: [
          ...[process.execPath, '--import', import.meta.resolve('tsx')],
          ...[fileURLToPath(new URL('./scripted-harness.ts', import.meta.url)), script],
        ],
      });
      runners.push(runner);
      return runner;
    },
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()));
      await github.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The body of an engine request as the issue form writes it, with parts of the constraint file replaced. */
export async function engineRequest(replace: readonly (readonly [RegExp, string])[] = []): Promise<string> {
  let text = await readDemoConstraints();
  for (const [pattern, replacement] of replace) text = text.replace(pattern, replacement);
  return writeIssueBody(text);
}

/** Asks until something is there. @throws with the last answer when the deadline passes */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  seconds = 120,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} s in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
